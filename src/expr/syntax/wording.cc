#include "expr/syntax/wording.h"

#include <array>

namespace postino::expr {

std::string_view expression_name(Kind kind) {
  static constexpr std::array<std::string_view, 3> names = {"ConditionExpression", "FilterExpression",
                                                            "KeyConditionExpression"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Comparator comparator) {
  static constexpr std::array<std::string_view, 6> names = {"=", "<>", "<", "<=", ">", ">="};
  return names[static_cast<std::size_t>(comparator)];
}

std::string_view name_of(Section section) {
  static constexpr std::array<std::string_view, 4> names = {"SET", "REMOVE", "ADD", "DELETE"};
  return names[static_cast<std::size_t>(section)];
}

tl::unexpected<base::Error> refuse(std::string_view expression, std::string_view message) {
  std::string text = "Invalid ";
  text.append(expression).append(": ").append(message);
  return base::invalid(std::move(text), base::Rule::expression);
}

}  // namespace postino::expr
