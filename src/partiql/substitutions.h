// Collects the names and values that a translated statement refers to, and hands out their placeholders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expr/placeholders.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

using Parameters = std::vector<item::AttributeValue>;

class Substitutions {
 public:
  std::string name(std::string_view attribute);          // "#0"
  std::string value(const item::AttributeValue& value);  // ":0"
  std::string path(const Path& path);                    // "#0.#1[2]"

  // Can attributes have all the names?
  base::Result<void> check_names() const;

  const expr::Placeholders& placeholders() const { return placeholders_; }
  expr::Placeholders take() && { return std::move(placeholders_); }

 private:
  std::vector<std::string> names_;  // by number
  expr::Placeholders placeholders_;
};

// What a literal or a parameter stands for; nullptr for any other expression. All parameters must be there.
const item::AttributeValue* constant_of(const Expression& expression, const Parameters& parameters);

}  // namespace postino::partiql
