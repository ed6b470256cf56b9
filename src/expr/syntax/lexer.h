// Splits an expression into tokens. Nothing is an error here: a character that belongs to no token becomes a token of
// its own, which the parser then refuses at the right place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postino::expr {

enum class TokenKind : std::uint8_t {
  end,
  unknown,  // one character that starts no token
  identifier,
  name,     // #placeholder
  value,    // :placeholder
  integer,  // without leading zeros
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  open_paren,
  close_paren,
  open_bracket,
  close_bracket,
  comma,
  dot,
  plus,
  minus,
  // Keywords, in any case. Each grammar has its own; elsewhere they are identifiers.
  keyword_and,
  keyword_or,
  keyword_not,
  keyword_between,
  keyword_in,
  keyword_set,
  keyword_remove,
  keyword_add,
  keyword_delete,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint32_t begin = 0;  // bytes of the source
  std::uint32_t end = 0;
};

// The last token is always the one of kind `end`.
std::vector<Token> tokenize(std::string_view source);

// Is all of the text one placeholder? `sign` is '#' for names, ':' for values.
bool is_placeholder(std::string_view text, char sign);

// `Syntax error; token: "X", near: "Y"` for the token at this position of what tokenize returned. "Y" is the source
// from the start of the previous token through the end of the next.
std::string describe_syntax_error(std::string_view source, const std::vector<Token>& tokens, std::size_t position);

}  // namespace postino::expr
