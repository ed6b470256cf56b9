// Splits a PartiQL statement into tokens, and knows where in the text each of them stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::partiql {

// A token's place as messages print it, line:column:length; counted in characters, from one.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  std::uint32_t length = 0;
};
std::string to_string(Position position);

enum class TokenKind : std::uint8_t {
  end,
  identifier,
  quoted_identifier,
  string,
  number,
  parameter,
  comma,
  dot,
  colon,
  semicolon,
  open_paren,
  close_paren,
  open_bracket,
  close_bracket,
  open_brace,
  close_brace,
  open_bag,
  close_bag,
  // From here to keyword_not: operators.
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  plus,
  minus,
  star,
  slash,
  percent,
  concatenate,
  keyword_and,
  keyword_or,
  keyword_in,
  keyword_between,
  keyword_is,
  keyword_like,
  keyword_not,
  // From here on: the other keywords. Other words with a meaning (VALUE, ALL, OLD, EXISTS ...) have it in their place
  // only, and are names elsewhere.
  keyword_select,
  keyword_from,
  keyword_where,
  keyword_insert,
  keyword_into,
  keyword_update,
  keyword_set,
  keyword_remove,
  keyword_delete,
  keyword_returning,
  keyword_order,
  keyword_by,
  keyword_asc,
  keyword_desc,
  keyword_as,
  keyword_limit,
  keyword_null,
  keyword_missing,
  keyword_true,
  keyword_false,
  keyword_reserved,  // means nothing to DynamoDB, and is no name either: INNER, GROUP, ...
};

bool is_operator(TokenKind kind);
// Without those that are operators.
bool is_keyword(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  // as written, with quotes
  Position position;
};

// The last token is always the one of kind `end`. Fails where no token can be made, without saying why: DynamoDB does
// not either. The tokens refer to the statement.
base::Result<std::vector<Token>> tokenize(std::string_view statement);

// What stands between the quotes of a string or a quoted identifier; a doubled quote is one.
std::string unquoted(std::string_view text);

}  // namespace postino::partiql
