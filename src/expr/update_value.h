// The right-hand sides of an update: what a SET, an ADD or a DELETE makes of the item as it was.
#pragma once

#include "base/result.h"
#include "expr/scope.h"
#include "item/value.h"

namespace postino::expr {

// The value of a SET.
base::Result<item::AttributeValue> compute(const Scope& scope, const Node& node, const item::Map& before);

// `current` is nullptr for a missing attribute. The types of `operand` were checked by binding.
base::Result<item::AttributeValue> add(const item::AttributeValue* current, const item::AttributeValue& operand);
// A set that may be empty: then the attribute goes.
base::Result<item::AttributeValue> subtract(const item::AttributeValue& current, const item::AttributeValue& operand);
bool is_empty_set(const item::AttributeValue& value);

}  // namespace postino::expr
