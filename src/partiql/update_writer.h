// Translates SET and REMOVE into the language of update expressions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "partiql/substitutions.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

// set_add and set_delete become ADD and DELETE. Arithmetic may be written at any length, as long as what remains after
// adding up its constants is one sum or difference: the expression language has no more.
base::Result<std::string> write_update(const std::vector<UpdateAction>& actions, const Parameters& parameters,
                                       Substitutions& substitutions);

}  // namespace postino::partiql
