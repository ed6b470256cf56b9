// Parsing statements. Errors are ErrorCode::invalid with DynamoDB's message; they do not depend on tables or
// parameters.
#pragma once

#include <string_view>

#include "base/result.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

inline constexpr std::size_t max_statement_length = 8'192;  // characters

base::Result<ParsedStatement> parse_statement(std::string_view text);

// The same, answered from a bounded, thread-safe cache when the text was parsed before.
base::Result<ParsedStatement> cached_statement(std::string_view text);

}  // namespace postino::partiql
