// Comparing attribute values as conditions do.
#pragma once

#include "expr/syntax/syntax_tree.h"
#include "item/value.h"

namespace postino::expr {

// Both values are there. Only strings, numbers and binaries have an order, among their own type; any other pair is
// neither less nor greater.
bool compares(const item::AttributeValue& left, Comparator comparator, const item::AttributeValue& right);

bool contains(const item::AttributeValue& container, const item::AttributeValue& wanted);
bool begins_with(const item::AttributeValue& value, const item::AttributeValue& prefix);

}  // namespace postino::expr
