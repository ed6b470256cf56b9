// The words that DynamoDB does not accept as bare attribute names.
#pragma once

#include <string_view>

namespace postino::expr {

// In any case. The identifier is one that the lexer accepts.
bool is_reserved_word(std::string_view identifier);

}  // namespace postino::expr
