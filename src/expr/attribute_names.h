// Which attributes an expression is about, for those who decide whether its author may see or change them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "expr/expression.h"

namespace postino::expr {

using AttributeNames = std::set<std::string, std::less<>>;

// Adds the top-level names of all paths: what is read as well as what is written. Names that mean nothing, which make
// every use of the expression fail, are left out. The errors are those of parsing.
base::Result<void> add_attribute_names(std::string_view condition, Kind kind, const Placeholders& placeholders,
                                       AttributeNames& names);
base::Result<void> add_attribute_names_of_update(std::string_view update, const Placeholders& placeholders,
                                                 AttributeNames& names);
base::Result<void> add_attribute_names_of_projection(std::string_view projection, const Placeholders& placeholders,
                                                     AttributeNames& names);

}  // namespace postino::expr
