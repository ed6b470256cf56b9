// Document paths: finding what they lead to, and how they relate to each other.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expr/scope.h"
#include "item/value.h"

namespace postino::expr {

// nullptr when a step is missing or leads into something of another kind.
const item::AttributeValue* find(const Scope& scope, Path path, const item::Map& item);

// As messages show it: [a, b, [0]].
std::string describe(const Scope& scope, Path path);

// By element: names by their bytes, before indexes by number; a path comes before what lies below it.
std::strong_ordering compare(const Scope& scope, Path a, Path b);

// The paths in the order of compare.
std::vector<Path> sorted(const Scope& scope, std::vector<Path> paths);

// Refuses paths of which one contains another, or which take one value for a map and for a list.
base::Result<void> check_disjoint(const Scope& scope, const std::vector<Path>& paths, std::string_view expression);

// Distinct names of the attributes that the paths start with, in their order.
std::vector<std::string_view> top_level_names(const Scope& scope, std::span<const Path> paths);

}  // namespace postino::expr
