#include "partiql/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "partiql/syntax/wording.h"

namespace postino::partiql {

namespace {

using Kind = TokenKind;

constexpr std::array<std::pair<std::string_view, Kind>, 27> keywords = {{
    {"and", Kind::keyword_and},
    {"or", Kind::keyword_or},
    {"in", Kind::keyword_in},
    {"between", Kind::keyword_between},
    {"is", Kind::keyword_is},
    {"like", Kind::keyword_like},
    {"not", Kind::keyword_not},
    {"select", Kind::keyword_select},
    {"from", Kind::keyword_from},
    {"where", Kind::keyword_where},
    {"insert", Kind::keyword_insert},
    {"into", Kind::keyword_into},
    {"update", Kind::keyword_update},
    {"set", Kind::keyword_set},
    {"remove", Kind::keyword_remove},
    {"delete", Kind::keyword_delete},
    {"returning", Kind::keyword_returning},
    {"order", Kind::keyword_order},
    {"by", Kind::keyword_by},
    {"asc", Kind::keyword_asc},
    {"desc", Kind::keyword_desc},
    {"as", Kind::keyword_as},
    {"limit", Kind::keyword_limit},
    {"null", Kind::keyword_null},
    {"missing", Kind::keyword_missing},
    {"true", Kind::keyword_true},
    {"false", Kind::keyword_false},
}};

constexpr std::array<std::string_view, 17> reserved = {"inner",  "outer", "left",  "right",  "full",  "cross",
                                                       "join",   "on",    "group", "having", "union", "intersect",
                                                       "except", "case",  "cast",  "create", "drop"};

constexpr std::array<std::pair<std::string_view, Kind>, 9> long_symbols = {{
    {"<<", Kind::open_bag},
    {">>", Kind::close_bag},
    {"<>", Kind::not_equal},
    {"!=", Kind::not_equal},
    {"<=", Kind::less_equal},
    {">=", Kind::greater_equal},
    {"||", Kind::concatenate},
    {"<", Kind::less},
    {">", Kind::greater},
}};

constexpr std::array<std::pair<char, Kind>, 17> symbols = {{
    {'=', Kind::equal},
    {'+', Kind::plus},
    {'-', Kind::minus},
    {'*', Kind::star},
    {'/', Kind::slash},
    {'%', Kind::percent},
    {',', Kind::comma},
    {'.', Kind::dot},
    {':', Kind::colon},
    {';', Kind::semicolon},
    {'(', Kind::open_paren},
    {')', Kind::close_paren},
    {'[', Kind::open_bracket},
    {']', Kind::close_bracket},
    {'{', Kind::open_brace},
    {'}', Kind::close_brace},
    {'?', Kind::parameter},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c) { return (base::lower(c) >= 'a' && base::lower(c) <= 'z') || c == '_' || c == '$'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

Kind kind_of_word(std::string_view word) {
  for (const auto& [text, kind] : keywords)
    if (base::equal_ignoring_case(word, text)) return kind;
  const bool is_reserved =
      std::ranges::any_of(reserved, [&](std::string_view text) { return base::equal_ignoring_case(word, text); });
  return is_reserved ? Kind::keyword_reserved : Kind::identifier;
}

// DynamoDB keeps a literal as digits and a 32-bit scale; a number that has no such form is no token.
bool has_scale(std::int64_t fraction_digits, std::int64_t exponent) {
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t scale = fraction_digits - exponent;
  return exponent >= least && exponent <= most && scale >= least && scale <= most;
}

class Lexer {
 public:
  explicit Lexer(std::string_view statement) : rest_(statement) {}

  base::Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    while (true) {
      if (!skip_white_space()) return not_well_formed();
      if (rest_.empty()) break;
      const std::optional<Token> token = next();
      if (!token) return not_well_formed();
      tokens.push_back(*token);
    }
    tokens.push_back({Kind::end, rest_, position_});
    return tokens;
  }

 private:
  // False when a comment does not end.
  bool skip_white_space() {
    while (!rest_.empty()) {
      if (is_space(rest_.front())) {
        take(1);
      } else if (rest_.starts_with("--")) {
        take(std::min(rest_.find('\n'), rest_.size()));
      } else if (rest_.starts_with("/*")) {
        const std::size_t end = rest_.find("*/", 2);
        if (end == std::string_view::npos) return false;
        take(end + 2);
      } else {
        break;
      }
    }
    return true;
  }

  std::optional<Token> next() {
    const char first = rest_.front();
    if (starts_word(first)) return take_word();
    if (is_digit(first) || (first == '.' && rest_.size() > 1 && is_digit(rest_[1]))) return take_number();
    if (first == '\'') return take_quoted(Kind::string);
    if (first == '"') return take_quoted(Kind::quoted_identifier);
    for (const auto& [text, kind] : long_symbols)
      if (rest_.starts_with(text)) return token(kind, text.size());
    for (const auto& [symbol, kind] : symbols)
      if (first == symbol) return token(kind, 1);
    return std::nullopt;
  }

  std::optional<Token> take_word() {
    std::size_t size = 1;
    while (size < rest_.size() && (starts_word(rest_[size]) || is_digit(rest_[size]))) ++size;
    return token(kind_of_word(rest_.substr(0, size)), size);
  }

  std::optional<Token> take_quoted(Kind kind) {
    const char quote = rest_.front();
    for (std::size_t end = rest_.find(quote, 1); end != std::string_view::npos; end = rest_.find(quote, end + 2))
      if (end + 1 == rest_.size() || rest_[end + 1] != quote) return token(kind, end + 1);
    return std::nullopt;
  }

  std::size_t count_digits(std::size_t from) const {
    std::size_t end = from;
    while (end < rest_.size() && is_digit(rest_[end])) ++end;
    return end - from;
  }

  std::optional<Token> take_number() {
    std::size_t size = count_digits(0);
    std::size_t fraction = 0;
    if (size < rest_.size() && rest_[size] == '.') {
      fraction = count_digits(size + 1);
      size += 1 + fraction;
    }
    std::int64_t exponent = 0;
    if (size < rest_.size() && base::lower(rest_[size]) == 'e') {
      const bool has_sign = size + 1 < rest_.size() && (rest_[size + 1] == '+' || rest_[size + 1] == '-');
      const std::size_t first = size + (has_sign ? 2 : 1);
      const std::size_t digits = count_digits(first);
      if (digits == 0) return std::nullopt;
      exponent = read_exponent(rest_.substr(first, digits), has_sign && rest_[size + 1] == '-');
      size = first + digits;
    }
    if (!has_scale(static_cast<std::int64_t>(fraction), exponent)) return std::nullopt;
    return token(Kind::number, size);
  }

  static std::int64_t read_exponent(std::string_view digits, bool negative) {
    constexpr std::int64_t too_large = std::int64_t{1} << 40;
    std::int64_t value = 0;
    for (const char digit : digits) value = std::min(value * 10 + (digit - '0'), too_large);
    return negative ? -value : value;
  }

  Token token(Kind kind, std::size_t size) {
    Token result{kind, rest_.substr(0, size), position_};
    result.position.length = static_cast<std::uint32_t>(base::character_count(result.text));
    take(size);
    return result;
  }

  void take(std::size_t size) {
    for (const char c : rest_.substr(0, size)) {
      if (c == '\n') {
        ++position_.line;
        position_.column = 1;
      } else if (base::starts_character(c)) {
        ++position_.column;
      }
    }
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
  Position position_;
};

}  // namespace

std::string to_string(Position position) {
  return std::to_string(position.line) + ":" + std::to_string(position.column) + ":" + std::to_string(position.length);
}

bool is_operator(TokenKind kind) { return kind >= Kind::equal && kind <= Kind::keyword_not; }
bool is_keyword(TokenKind kind) { return kind > Kind::keyword_not; }

base::Result<std::vector<Token>> tokenize(std::string_view statement) { return Lexer(statement).run(); }

std::string unquoted(std::string_view text) {
  const char quote = text.front();
  text = text.substr(1, text.size() - 2);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    result.push_back(text[i]);
    if (text[i] == quote) ++i;
  }
  return result;
}

}  // namespace postino::partiql
