#include "item/ordered_key.h"

#include <array>
#include <cstring>

#include "base/check.h"
#include "item/decimal_digits.h"

namespace postino::item {
namespace {

// A number is its sign, the biased place of its first base-100 digit, its base-100 digits plus one each, and 0x00.
// What follows the sign is complemented in negative numbers, so that larger magnitudes come first.
constexpr char negative_sign = 0x01;
constexpr char zero_sign = 0x02;
constexpr char positive_sign = 0x03;
constexpr int pair_bias = 128;
constexpr std::size_t max_pairs = 20;  // 38 digits span 19 pairs, or 20 when they begin and end in half a pair
constexpr std::uint8_t number_end = 0x00;

// A zero byte in a string becomes 00 FF; the string ends with 00 01. So a string sorts before its extensions.
constexpr char zero_byte = 0x00;
constexpr char escaped_zero = static_cast<char>(0xFF);
constexpr char string_end = 0x01;

void append_number(std::string& out, const Number& number) {
  if (number.is_zero()) return out.push_back(zero_sign);
  // Digits from an even place down to an even one, that is in whole pairs.
  std::array<char, 2 * max_pairs + 1> digits;
  char* begin = digits.data() + 1;
  char* end = write_digits(begin, number.coefficient());
  const int magnitude = number.exponent() + static_cast<int>(end - begin) - 1;
  if ((magnitude & 1) == 0) *--begin = '0';
  if ((number.exponent() & 1) != 0) *end++ = '0';

  std::array<char, max_pairs + 3> bytes;
  char* next = bytes.data();
  const unsigned mask = number.negative() ? 0xFF : 0x00;
  const auto put = [&](int byte) { *next++ = static_cast<char>(static_cast<unsigned>(byte) ^ mask); };
  *next++ = number.negative() ? negative_sign : positive_sign;
  put((magnitude >> 1) + pair_bias);
  for (const char* pair = begin; pair != end; pair += 2) put((pair[0] - '0') * 10 + (pair[1] - '0') + 1);
  put(number_end);
  out.append(bytes.data(), static_cast<std::size_t>(next - bytes.data()));
}

void append_string(std::string& out, std::string_view text) {
  while (const void* found = text.empty() ? nullptr : std::memchr(text.data(), zero_byte, text.size())) {
    const auto before = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    out.append(text.substr(0, before + 1)).push_back(escaped_zero);
    text.remove_prefix(before + 1);
  }
  out.append(text).push_back(zero_byte);
  out.push_back(string_end);
}

}  // namespace

void append_ordered(std::string& out, const AttributeValue& scalar) {
  if (const auto* text = scalar.get_if<std::string>()) return append_string(out, *text);
  if (const auto* number = scalar.get_if<Number>()) return append_number(out, *number);
  const auto* binary = scalar.get_if<Binary>();
  CHECK(binary != nullptr);
  append_string(out, binary->bytes);
}

void append_ordered_last(std::string& out, const AttributeValue& scalar) {
  if (const auto* text = scalar.get_if<std::string>()) {
    out.append(*text);
  } else if (const auto* binary = scalar.get_if<Binary>()) {
    out.append(binary->bytes);
  } else {
    append_ordered(out, scalar);
  }
}

}  // namespace postino::item
