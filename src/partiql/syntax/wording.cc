#include "partiql/syntax/wording.h"

namespace postino::partiql {

tl::unexpected<base::Error> not_well_formed(std::string_view detail) {
  return base::invalid("Statement wasn't well formed, can't be processed: " + std::string(detail));
}

std::string located(std::string message, Position position) {
  return std::move(message.append(" at ").append(to_string(position)));
}

std::string incorrect_operand(std::string_view operation, std::string_view type) {
  return "Incorrect operand type for operator or function; operator or function: " + std::string(operation) +
         ", operand type: " + std::string(type);
}

std::string too_many_operands(std::size_t count) {
  return "The IN operator is provided with too many operands; number of operands: " + std::to_string(count);
}

}  // namespace postino::partiql
