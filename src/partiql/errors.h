// Errors of the store and of expressions, as PartiQL words them.
#pragma once

#include <string>

#include "partiql/syntax/syntax_tree.h"
#include "store/error.h"

namespace postino::partiql {

// Words the message for the author of a statement: without the name of the expression parameter that the statement
// became, and shorter where values are nested too deep. The rule is named no longer, so doing it again changes nothing.
void reword(std::string& message, base::Rule& rule);
store::Error reworded(store::Error error);

// The error of a write that a statement became: a failed condition of INSERT is a duplicate.
store::Error write_error(store::Error error, bool inserts);

inline constexpr std::string_view duplicate_item_message = "Duplicate primary key exists in table";

}  // namespace postino::partiql
