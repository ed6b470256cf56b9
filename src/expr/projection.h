// Cutting paths out of an item.
#pragma once

#include <span>

#include "expr/scope.h"
#include "item/value.h"

namespace postino::expr {

// What the paths lead to, in the shape that the item has: maps keep only the names on a path, lists only the elements,
// closed up. Missing paths leave no trace. The paths must be disjoint and in the order of compare (expr/path.h).
item::Map cut(const Scope& scope, std::span<const Path> paths, const item::Map& item);

}  // namespace postino::expr
