#include "partiql/errors.h"

#include "base/check.h"

namespace postino::partiql {

void reword(std::string& message, base::Rule& rule) {
  constexpr std::string_view separator = ": ";
  const std::size_t end = message.find(separator);
  CHECK(end != std::string::npos || (rule != base::Rule::expression && rule != base::Rule::nesting));
  if (rule == base::Rule::expression) message.erase(0, end + separator.size());
  if (rule == base::Rule::nesting) message.resize(end);
  rule = base::Rule::other;
}

store::Error reworded(store::Error error) {
  reword(error.message, error.rule);
  return error;
}

store::Error write_error(store::Error error, bool inserts) {
  if (inserts && error.type == store::ErrorType::conditional_check_failed)
    return {store::ErrorType::duplicate_item, std::string(duplicate_item_message)};
  return reworded(std::move(error));
}

}  // namespace postino::partiql
