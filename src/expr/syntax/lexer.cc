#include "expr/syntax/lexer.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace postino::expr {
namespace {

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

constexpr std::pair<std::string_view, TokenKind> keywords[] = {
    {"AND", TokenKind::keyword_and},         {"OR", TokenKind::keyword_or},   {"NOT", TokenKind::keyword_not},
    {"BETWEEN", TokenKind::keyword_between}, {"IN", TokenKind::keyword_in},   {"SET", TokenKind::keyword_set},
    {"REMOVE", TokenKind::keyword_remove},   {"ADD", TokenKind::keyword_add}, {"DELETE", TokenKind::keyword_delete},
};

TokenKind word_kind(std::string_view word) {
  for (const auto& [text, kind] : keywords)
    if (base::equal_ignoring_case(word, text)) return kind;
  return TokenKind::identifier;
}

// The length of the character that starts here, so that a message never quotes half of one.
std::size_t character_length(std::string_view rest) {
  const auto lead = static_cast<unsigned char>(rest.front());
  const std::size_t expected = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  std::size_t length = 1;
  while (length < expected && length < rest.size() && !base::starts_character(rest[length])) ++length;
  return length;
}

std::size_t count_word(std::string_view rest) {
  return static_cast<std::size_t>(std::ranges::find_if_not(rest, is_word) - rest.begin());
}

std::pair<TokenKind, std::size_t> symbol(std::string_view rest) {
  switch (rest.front()) {
    case '=':
      return {TokenKind::equal, 1};
    case '<':
      if (rest.starts_with("<>")) return {TokenKind::not_equal, 2};
      if (rest.starts_with("<=")) return {TokenKind::less_equal, 2};
      return {TokenKind::less, 1};
    case '>':
      if (rest.starts_with(">=")) return {TokenKind::greater_equal, 2};
      return {TokenKind::greater, 1};
    case '(':
      return {TokenKind::open_paren, 1};
    case ')':
      return {TokenKind::close_paren, 1};
    case '[':
      return {TokenKind::open_bracket, 1};
    case ']':
      return {TokenKind::close_bracket, 1};
    case ',':
      return {TokenKind::comma, 1};
    case '.':
      return {TokenKind::dot, 1};
    case '+':
      return {TokenKind::plus, 1};
    case '-':
      return {TokenKind::minus, 1};
    default:
      return {TokenKind::unknown, character_length(rest)};
  }
}

std::pair<TokenKind, std::size_t> next_token(std::string_view rest) {
  const char first = rest.front();
  if (is_letter(first)) {
    const std::size_t length = count_word(rest);
    return {word_kind(rest.substr(0, length)), length};
  }
  if (first == '#' || first == ':') {
    const std::size_t length = 1 + count_word(rest.substr(1));
    if (length == 1) return {TokenKind::unknown, 1};
    return {first == '#' ? TokenKind::name : TokenKind::value, length};
  }
  if (first == '0') return {TokenKind::integer, 1};
  if (is_digit(first))
    return {TokenKind::integer, static_cast<std::size_t>(std::ranges::find_if_not(rest, is_digit) - rest.begin())};
  return symbol(rest);
}

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  std::vector<Token> tokens;
  tokens.reserve(source.size() / 3 + 2);
  std::size_t position = 0;
  while (true) {
    while (position < source.size() && is_space(source[position])) ++position;
    if (position == source.size()) break;
    const auto [kind, length] = next_token(source.substr(position));
    tokens.push_back({kind, static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position + length)});
    position += length;
  }
  const auto size = static_cast<std::uint32_t>(source.size());
  tokens.push_back({TokenKind::end, size, size});
  return tokens;
}

bool is_placeholder(std::string_view text, char sign) {
  return text.size() > 1 && text.front() == sign && count_word(text.substr(1)) == text.size() - 1;
}

std::string describe_syntax_error(std::string_view source, const std::vector<Token>& tokens, std::size_t position) {
  const Token& token = tokens[position];
  const bool at_end = token.kind == TokenKind::end;
  std::size_t last = position;
  if (at_end && position > 0) --last;  // white space before the end is not quoted
  if (!at_end && tokens[position + 1].kind != TokenKind::end) ++last;
  const std::uint32_t begin = tokens[position > 0 ? position - 1 : 0].begin;
  const std::uint32_t end = tokens[last].end;

  std::string message = "Syntax error; token: \"";
  message += at_end ? "<EOF>" : source.substr(token.begin, token.end - token.begin);
  message += "\", near: \"";
  message += source.substr(begin, end - begin);
  message += '"';
  return message;
}

}  // namespace postino::expr
