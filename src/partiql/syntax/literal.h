// Literals of a statement become attribute values.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

// Turns every number, list, structure and bag in the expression into a literal. Fails where one is no value that can
// be stored; messages say where in the value, as "root.a[0]".
base::Result<void> fold_literals(Expression& expression);

// The same for the value of an attribute to insert, which must be a literal or a parameter.
base::Result<void> fold_item_member(Expression& expression);

// A name that the structure has twice.
std::optional<std::string> repeated_name(const Expression& structure);

}  // namespace postino::partiql
