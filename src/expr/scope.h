// A tree together with what its slots stand for in one request.
#pragma once

#include <span>
#include <string_view>

#include "expr/syntax/syntax_tree.h"
#include "item/value.h"

namespace postino::expr {

// While binding, an undefined name has no data and an undefined value is nullptr; afterwards there are none.
struct Scope {
  const SyntaxTree& tree;
  std::span<const std::string_view> names;
  std::span<const item::AttributeValue* const> values;

  std::string_view name_of(PathElement element) const { return names[element.number]; }
  std::string_view top_level_name(Path path) const { return name_of(tree.elements[path.first]); }
  const item::AttributeValue* value_of(const Node& node) const { return values[node.first]; }
};

}  // namespace postino::expr
