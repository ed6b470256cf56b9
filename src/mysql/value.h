// What goes into a statement: NULL, whole numbers, text and bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace postino::mysql {

// Owns what it holds: for those who keep values for later.
using Value = std::variant<std::monostate, std::int64_t, std::string>;

// Octets for BINARY and BLOB columns. Text goes through the character set's rules, these do not.
struct Bytes {
  std::string_view octets;
};

// A value for a placeholder. Does not own text and bytes: they must live until the statement was executed, as
// temporaries in the braces of the call do.
class Parameter {
 public:
  using Content = std::variant<std::monostate, std::int64_t, std::string_view, Bytes>;

  Parameter() = default;  // NULL
  // NOLINTBEGIN(google-explicit-constructor): values are listed in the braces of a call
  Parameter(std::nullptr_t) {}
  Parameter(std::nullopt_t) {}
  template <std::integral Integer>
  Parameter(Integer number) : content_(static_cast<std::int64_t>(number)) {}
  Parameter(std::string_view text) : content_(text) {}
  Parameter(const std::string& text) : content_(std::string_view(text)) {}
  Parameter(const char* text) : content_(std::string_view(text)) {}
  Parameter(Bytes bytes) : content_(bytes) {}
  Parameter(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) content_ = *number;
    if (const auto* text = std::get_if<std::string>(&value)) content_ = std::string_view(*text);
  }
  template <class Type>
  Parameter(const std::optional<Type>& value) {
    if (value) content_ = Parameter(*value).content();
  }
  // NOLINTEND(google-explicit-constructor)

  const Content& content() const { return content_; }

 private:
  Content content_;
};

}  // namespace postino::mysql
