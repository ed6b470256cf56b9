// Reads ordered keys back. The store itself never does: what it needs of a key is in the item. It is for those who are
// told of keys alone, and for tests: keys lose nothing, and no two values have the same one.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "item/value.h"

namespace postino::item {

// Part by part what append_ordered wrote. Empty when the bytes are not what it writes.
class OrderedKeyReader {
 public:
  explicit OrderedKeyReader(std::string_view bytes) : in_(bytes) {}

  bool empty() const { return in_.empty(); }
  std::string_view rest() const { return in_.rest(); }

  std::optional<AttributeValue> read(Type type) {
    if (type == Type::number) {
      const auto number = read_number();
      if (!number) return std::nullopt;
      return AttributeValue(*number);
    }
    if (type != Type::string && type != Type::binary) return std::nullopt;
    auto text = read_string();
    if (!text) return std::nullopt;
    if (type == Type::string) return AttributeValue(*std::move(text));
    return AttributeValue(Binary{*std::move(text)});
  }

 private:
  static constexpr std::size_t max_pairs = 20;
  struct Pairs {
    std::array<int, max_pairs> values{};
    std::size_t count = 0;
  };

  std::optional<std::string> read_string() {
    std::string text;
    while (true) {
      const auto before = in_.rest().find('\0');
      if (before == std::string_view::npos) return std::nullopt;
      text.append(*in_.take(before));
      in_.byte();
      const auto next = in_.byte();
      if (!next) return std::nullopt;
      if (*next == 0x01) return text;
      if (*next != 0xFF) return std::nullopt;
      text.push_back('\0');
    }
  }

  std::optional<Pairs> read_pairs(std::uint8_t mask) {
    Pairs pairs;
    while (auto byte = in_.byte()) {
      const int digit = (*byte ^ mask) - 1;
      if (digit == -1) return pairs;
      if (digit > 99 || pairs.count == max_pairs) return std::nullopt;
      pairs.values[pairs.count++] = digit;
    }
    return std::nullopt;
  }

  std::optional<Number> read_number() {
    const auto sign = in_.byte();
    if (!sign) return std::nullopt;
    if (*sign == 0x02) return Number();
    if (*sign != 0x01 && *sign != 0x03) return std::nullopt;
    const bool negative = *sign == 0x01;
    const std::uint8_t mask = negative ? 0xFF : 0x00;
    const auto first_pair = in_.byte();
    if (!first_pair) return std::nullopt;
    const auto pairs = read_pairs(mask);
    if (!pairs || pairs->count == 0) return std::nullopt;
    const int first = pairs->values[0];
    const int last = pairs->values[pairs->count - 1];
    if (first == 0 || last == 0) return std::nullopt;

    // Without the half pair at the end, digits that fit 38 never outgrow 128 bits on the way.
    const bool half = last % 10 == 0;
    const int digits = static_cast<int>(pairs->count) * 2 - (first < 10 ? 1 : 0) - (half ? 1 : 0);
    if (digits > Number::max_digits) return std::nullopt;
    Number::Coefficient coefficient = 0;
    for (std::size_t i = 0; i + 1 < pairs->count; ++i)
      coefficient = coefficient * 100 + static_cast<unsigned>(pairs->values[i]);
    coefficient =
        half ? coefficient * 10 + static_cast<unsigned>(last / 10) : coefficient * 100 + static_cast<unsigned>(last);
    const int last_pair = (*first_pair ^ mask) - 128 - static_cast<int>(pairs->count) + 1;
    const auto number = Number::make(negative, coefficient, last_pair * 2 + (half ? 1 : 0));
    if (!number) return std::nullopt;
    return *number;
  }

  base::ByteReader in_;
};

}  // namespace postino::item
