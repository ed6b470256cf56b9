#include "exchange/ion_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/base64.h"

namespace postino::exchange {

namespace {

using item::AttributeValue;

constexpr std::string_view string_set_mark = "$dynamodb_SS";
constexpr std::string_view number_set_mark = "$dynamodb_NS";
constexpr std::string_view binary_set_mark = "$dynamodb_BS";
constexpr int deepest_nesting = 34;  // what an item may have, and the structure around it

bool is_symbol_begin(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' || letter == '$';
}
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_symbol_letter(char letter) { return is_symbol_begin(letter) || is_digit(letter); }

// Words that are values, and so need quotes where they are names.
bool is_keyword(std::string_view word) { return word == "null" || word == "true" || word == "false" || word == "nan"; }

void append_quoted(std::string& out, std::string_view text, char quote) {
  out += quote;
  for (const char letter : text) {
    switch (letter) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        if (letter == quote) {
          out += '\\';
          out += letter;
        } else if (static_cast<unsigned char>(letter) < 0x20) {
          constexpr std::string_view digits = "0123456789abcdef";
          out += "\\x";
          out += digits[static_cast<unsigned char>(letter) >> 4];
          out += digits[static_cast<unsigned char>(letter) & 15];
        } else {
          out += letter;
        }
    }
  }
  out += quote;
}

void append_name(std::string& out, std::string_view name) {
  const bool is_plain = !name.empty() && is_symbol_begin(name.front()) && name.front() != '$' &&
                        std::ranges::all_of(name, is_symbol_letter) && !is_keyword(name);
  if (is_plain)
    out += name;
  else
    append_quoted(out, name, '\'');
}

void append_value(std::string& out, const AttributeValue& value);

void append_element(std::string& out, const std::string& text) { append_quoted(out, text, '"'); }
void append_element(std::string& out, const item::Number& number) { append_ion_decimal(out, number.to_string()); }
void append_element(std::string& out, const item::Binary& binary) {
  out += "{{";
  base::append_base64(out, binary.bytes);
  out += "}}";
}
void append_element(std::string& out, const AttributeValue& value) { append_value(out, value); }

template <class Range>
void append_list(std::string& out, std::string_view mark, const Range& elements) {
  if (!mark.empty()) out.append(mark).append("::");
  out += '[';
  bool is_first = true;
  for (const auto& element : elements) {
    if (!is_first) out += ',';
    is_first = false;
    append_element(out, element);
  }
  out += ']';
}

struct ValueWriter {
  std::string& out;
  void operator()(const std::string& text) const { append_element(out, text); }
  void operator()(const item::Number& number) const { append_element(out, number); }
  void operator()(const item::Binary& binary) const { append_element(out, binary); }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(item::Null) const { out += "null"; }
  void operator()(const item::StringSet& set) const { append_list(out, string_set_mark, set.members()); }
  void operator()(const item::NumberSet& set) const { append_list(out, number_set_mark, set.members()); }
  void operator()(const item::BinarySet& set) const { append_list(out, binary_set_mark, set.members()); }
  void operator()(const item::List& list) const { append_list(out, "", list); }
  void operator()(const item::Map& map) const { append_ion(out, map); }
};

void append_value(std::string& out, const AttributeValue& value) { std::visit(ValueWriter{out}, value.storage()); }

tl::unexpected<base::Error> broken(const std::string& what) {
  return base::fail(base::ErrorCode::malformed, "Ion text: " + what);
}

class IonReader {
 public:
  explicit IonReader(std::string_view text) : text_(text) {}

  base::Result<item::Map> read() {
    TRY_VOID(skip_blanks());
    while (text_.substr(place_).starts_with(ion_version)) {
      place_ += ion_version.size();
      TRY_VOID(skip_blanks());
    }
    TRY(AttributeValue value, read_value(0));
    TRY_VOID(skip_blanks());
    if (place_ != text_.size()) return broken("there is something behind the structure");
    item::Map* const map = value.get_if<item::Map>();
    if (map == nullptr) return broken("a structure is expected");
    return std::move(*map);
  }

 private:
  char at(std::size_t offset = 0) const { return place_ + offset < text_.size() ? text_[place_ + offset] : '\0'; }
  bool is_next(std::string_view word) const { return text_.substr(place_).starts_with(word); }
  bool take(std::string_view word) {
    if (!is_next(word)) return false;
    place_ += word.size();
    return true;
  }

  // And comments.
  base::Result<void> skip_blanks() {
    while (place_ < text_.size()) {
      if (std::string_view(" \t\r\n\f\v").find(at()) != std::string_view::npos) {
        ++place_;
      } else if (is_next("//")) {
        place_ = std::min(text_.find('\n', place_), text_.size());
      } else if (is_next("/*")) {
        const std::size_t end = text_.find("*/", place_ + 2);
        if (end == std::string_view::npos) return broken("a comment has no end");
        place_ = end + 2;
      } else {
        break;
      }
    }
    return {};
  }

  base::Result<AttributeValue> read_value(int depth) {
    if (depth > deepest_nesting) return base::invalid("Nesting Levels have exceeded supported limits");
    std::string mark;
    while (true) {
      TRY_VOID(skip_blanks());
      const std::size_t begin = place_;
      const auto symbol = read_annotation();
      if (!symbol) {
        place_ = begin;
        break;
      }
      if (symbol->starts_with("$dynamodb_")) mark = *symbol;
    }
    TRY(AttributeValue value, read_plain_value(depth));
    return marked(mark, std::move(value));
  }

  // A symbol and "::". nullopt: something else is next.
  std::optional<std::string> read_annotation() {
    std::string symbol;
    if (at() == '\'' && !is_next("\'\'\'")) {
      auto quoted = read_quoted('\'');
      if (!quoted) return std::nullopt;
      symbol = *std::move(quoted);
    } else if (is_symbol_begin(at())) {
      symbol = read_word();
    } else {
      return std::nullopt;
    }
    if (!skip_blanks() || !take("::")) return std::nullopt;
    return symbol;
  }

  std::string read_word() {
    const std::size_t begin = place_;
    while (place_ < text_.size() && is_symbol_letter(at())) ++place_;
    return std::string(text_.substr(begin, place_ - begin));
  }

  base::Result<AttributeValue> read_plain_value(int depth) {
    if (take("{{")) return read_blob();
    if (take("{")) return read_structure(depth);
    if (take("[")) return read_list(depth);
    if (at() == '(') return broken("expressions are not supported");
    if (at() == '"') {
      TRY(std::string text, read_quoted('"'));
      return AttributeValue(std::move(text));
    }
    if (is_next("\'\'\'")) return read_long_string();
    if (at() == '\'') {
      TRY(std::string text, read_quoted('\''));
      return AttributeValue(std::move(text));
    }
    if (is_digit(at()) || (at() == '-' && is_digit(at(1)))) return read_number();
    if (is_symbol_begin(at())) return read_named_value();
    return broken("a value is expected");
  }

  base::Result<AttributeValue> read_named_value() {
    const std::string word = read_word();
    if (word == "true" || word == "false") return AttributeValue(word == "true");
    if (word == "null") {
      if (take(".")) read_word();  // the type that it is no value of
      return AttributeValue(item::Null());
    }
    if (word == "nan") return base::invalid("Ion text: nan is no number of an item");
    return AttributeValue(word);
  }

  base::Result<AttributeValue> read_number() {
    std::string digits;
    bool is_decimal = false;
    for (; place_ < text_.size(); ++place_) {
      const char letter = at();
      if (letter == 'd' || letter == 'D' || letter == 'e' || letter == 'E') {
        if (digits.ends_with('.')) digits.pop_back();
        digits += 'E';
        is_decimal = true;
      } else if (is_digit(letter) || letter == '.' ||
                 ((letter == '-' || letter == '+') && (digits.empty() || digits.ends_with('E')))) {
        digits += letter;
      } else if (letter == ':' || letter == 'T' || letter == '-') {
        return base::invalid("Ion text: timestamps are not supported");
      } else if (letter != '_') {
        break;
      }
    }
    if (!is_decimal && digits.ends_with('.')) digits.pop_back();
    if (is_symbol_letter(at())) return broken("a number has another letter in it");
    TRY(item::Number number, item::Number::parse(digits));
    return AttributeValue(number);
  }

  base::Result<AttributeValue> read_blob() {
    std::string base64;
    while (place_ < text_.size() && !is_next("}}")) {
      if (at() == '"' || at() == '\'') return base::invalid("Ion text: clobs are not supported");
      if (std::string_view(" \t\r\n").find(at()) == std::string_view::npos) base64 += at();
      ++place_;
    }
    if (!take("}}")) return broken("a blob has no end");
    TRY(std::string bytes, base::from_base64(base64));
    return AttributeValue(item::Binary{std::move(bytes)});
  }

  base::Result<AttributeValue> read_structure(int depth) {
    item::Map map;
    while (true) {
      TRY_VOID(skip_blanks());
      if (take("}")) return AttributeValue(std::move(map));
      TRY(std::string name, read_name());
      TRY_VOID(skip_blanks());
      if (!take(":")) return broken("a colon is expected behind the name " + name);
      TRY(AttributeValue value, read_value(depth + 1));
      map.set(std::move(name), std::move(value));
      TRY_VOID(skip_blanks());
      if (take(",")) continue;
      if (at() != '}') return broken("a structure has no end");
    }
  }

  base::Result<std::string> read_name() {
    if (at() == '"') return read_quoted('"');
    if (is_next("\'\'\'")) {
      TRY(const AttributeValue text, read_long_string());
      return text.as<std::string>();
    }
    if (at() == '\'') return read_quoted('\'');
    if (is_symbol_begin(at())) return read_word();
    return broken("a name is expected");
  }

  base::Result<AttributeValue> read_list(int depth) {
    item::List list;
    while (true) {
      TRY_VOID(skip_blanks());
      if (take("]")) return AttributeValue(std::move(list));
      TRY(AttributeValue value, read_value(depth + 1));
      list.push_back(std::move(value));
      TRY_VOID(skip_blanks());
      if (take(",")) continue;
      if (at() != ']') return broken("a list has no end");
    }
  }

  base::Result<std::string> read_quoted(char quote) {
    ++place_;
    std::string text;
    while (place_ < text_.size() && at() != quote) TRY_VOID(read_letter(text));
    if (at() != quote) return broken("a text has no end");
    ++place_;
    return text;
  }

  // Parts one behind the other are one text.
  base::Result<AttributeValue> read_long_string() {
    std::string text;
    while (take("\'\'\'")) {
      while (place_ < text_.size() && !is_next("\'\'\'")) TRY_VOID(read_letter(text));
      if (!take("\'\'\'")) return broken("a text has no end");
      TRY_VOID(skip_blanks());
    }
    return AttributeValue(std::move(text));
  }

  base::Result<void> read_letter(std::string& text) {
    if (at() != '\\') {
      text += at();
      ++place_;
      return {};
    }
    const char escaped = at(1);
    place_ += 2;
    constexpr std::string_view names = "0abtnfrv\"'?\\/";
    constexpr std::array<char, 13> meanings = {'\0', '\a', '\b', '\t', '\n', '\f', '\r',
                                               '\v', '"',  '\'', '?',  '\\', '/'};
    if (const std::size_t found = names.find(escaped); escaped != '\0' && found != std::string_view::npos) {
      text += meanings.at(found);
      return {};
    }
    if (escaped == '\n') return {};
    if (escaped == '\r') {
      if (at() == '\n') ++place_;
      return {};
    }
    if (escaped == 'x') return read_code(text, 2);
    if (escaped == 'u') return read_code(text, 4);
    if (escaped == 'U') return read_code(text, 8);
    return broken("a text has an escape that is none");
  }

  base::Result<void> read_code(std::string& text, std::size_t digits) {
    TRY(char32_t code, hexadecimal(digits));
    if (code >= 0xD800 && code < 0xDC00) {
      if (!take("\\u")) return broken("a text has half a surrogate pair");
      TRY(const char32_t low, hexadecimal(4));
      if (low < 0xDC00 || low > 0xDFFF) return broken("a text has half a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return broken("a text has a code that is no letter");
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0 | (code >> 6));
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      text += static_cast<char>(0xE0 | (code >> 12));
      text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      text += static_cast<char>(0xF0 | (code >> 18));
      text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
      text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
    return {};
  }

  base::Result<char32_t> hexadecimal(std::size_t digits) {
    char32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i, ++place_) {
      constexpr std::string_view lower = "0123456789abcdef";
      const char letter = at() >= 'A' && at() <= 'F' ? static_cast<char>(at() - 'A' + 'a') : at();
      const std::size_t digit = lower.find(letter);
      if (place_ >= text_.size() || digit == std::string_view::npos) return broken("a text has an escape that is none");
      code = code * 16 + static_cast<char32_t>(digit);
    }
    return code;
  }

  template <class Member>
  static base::Result<AttributeValue> set_of(item::List list) {
    std::vector<Member> members;
    for (AttributeValue& value : list) {
      Member* const member = value.get_if<Member>();
      if (member == nullptr) return base::invalid("Ion text: a set has a member of another type");
      members.push_back(std::move(*member));
    }
    if (members.empty()) return base::invalid("An string set  may not be empty");
    const std::size_t count = members.size();
    item::Set<Member> set(std::move(members));
    if (set.size() != count) return base::invalid("Ion text: a set has a member twice", base::Rule::duplicates);
    return AttributeValue(std::move(set));
  }

  static base::Result<AttributeValue> marked(const std::string& mark, AttributeValue value) {
    if (mark.empty()) return value;
    item::List* const list = value.get_if<item::List>();
    if (list == nullptr) return broken(mark + " is not in front of a list");
    if (mark == string_set_mark) return set_of<std::string>(std::move(*list));
    if (mark == number_set_mark) return set_of<item::Number>(std::move(*list));
    if (mark == binary_set_mark) return set_of<item::Binary>(std::move(*list));
    return broken("the annotation " + mark + " is unknown");
  }

  const std::string_view text_;
  std::size_t place_ = 0;
};

}  // namespace

void append_ion_decimal(std::string& out, std::string_view digits) {
  bool has_mark = false;
  for (const char letter : digits) {
    const bool is_exponent = letter == 'e' || letter == 'E';
    has_mark = has_mark || is_exponent || letter == '.';
    out += is_exponent ? 'd' : letter;
  }
  if (!has_mark) out += '.';
}

void append_ion(std::string& out, const item::Map& map) {
  out += '{';
  bool is_first = true;
  for (const item::Attribute& attribute : map) {
    if (!is_first) out += ',';
    is_first = false;
    append_name(out, attribute.name);
    out += ':';
    append_value(out, attribute.value);
  }
  out += '}';
}

base::Result<item::Map> parse_ion(std::string_view text) { return IonReader(text).read(); }

}  // namespace postino::exchange
