#include <algorithm>
#include <charconv>
#include <limits>

#include "item/decimal_digits.h"
#include "item/number.h"
#include "item/number_errors.h"

namespace postino::item {
namespace {

struct Parts {
  bool negative = false;
  std::string_view integer;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

std::string_view take_digits(std::string_view& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::int64_t> take_exponent(std::string_view& text) {
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  const auto digits = take_digits(text);
  std::int64_t exponent = 0;
  const char* begin = negative && !digits.empty() ? digits.data() - 1 : digits.data();
  const auto [end, fault] = std::from_chars(begin, digits.data() + digits.size(), exponent);
  if (fault != std::errc{}) return std::nullopt;
  return exponent;
}

std::optional<Parts> split(std::string_view text) {
  Parts parts;
  parts.negative = take(text, '-');
  if (!parts.negative) take(text, '+');
  parts.integer = take_digits(text);
  if (take(text, '.')) parts.fraction = take_digits(text);
  if (parts.integer.empty() && parts.fraction.empty()) return std::nullopt;
  if (take(text, 'e') || take(text, 'E')) {
    const auto exponent = take_exponent(text);
    if (!exponent) return std::nullopt;
    parts.exponent = *exponent;
  }
  if (!text.empty()) return std::nullopt;
  return parts;
}

std::size_t strip_leading_zeros(std::string_view& digits) {
  const auto zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.remove_prefix(zeros);
  return zeros;
}

std::size_t strip_trailing_zeros(std::string_view& digits) {
  const auto before = digits.size();
  digits = digits.substr(0, digits.find_last_not_of('0') + 1);
  return before - digits.size();
}

// Where the significant digits stand: place 0 is the digit before the decimal point.
struct Extent {
  std::string_view integer;
  std::string_view fraction;
  std::int64_t first_place = 0;
  std::int64_t last_place = 0;
};

Extent significant_digits(const Parts& parts, std::int64_t exponent) {
  Extent extent{parts.integer, parts.fraction};
  const auto length = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  strip_leading_zeros(extent.integer);
  strip_trailing_zeros(extent.fraction);
  extent.first_place = exponent + length(extent.integer.size()) - 1;
  extent.last_place = exponent - length(extent.fraction.size());
  if (extent.integer.empty()) extent.first_place -= length(strip_leading_zeros(extent.fraction));
  if (extent.fraction.empty()) extent.last_place += length(strip_trailing_zeros(extent.integer));
  return extent;
}

const std::string_view* range_fault(std::int64_t exponent, std::int64_t magnitude) {
  constexpr std::int64_t wrap = std::numeric_limits<std::int32_t>::max();
  // DynamoDB counts digits in 32 bits: 1e2147483647 wraps around and is too small.
  if (exponent <= wrap && magnitude >= wrap) return &number_underflow;
  if (magnitude > Number::max_magnitude) return &number_overflow;
  if (magnitude < Number::min_magnitude) return &number_underflow;
  return nullptr;
}

Number::Coefficient accumulate(Number::Coefficient value, std::string_view digits) {
  for (char digit : digits) value = value * 10 + static_cast<unsigned>(digit - '0');
  return value;
}

}  // namespace

base::Result<Number> Number::parse(std::string_view text) {
  const auto parts = split(text);
  if (!parts) {
    if (text.empty()) return base::invalid(std::string(not_a_number));
    return base::invalid(std::string(not_a_number).append(": ").append(text));
  }
  // Far enough from the ends of 64 bits that lengths of text can be added, far enough from 0 to stay out of range.
  constexpr std::int64_t far = std::int64_t{1} << 60;
  const std::int64_t exponent = std::clamp(parts->exponent, -far, far);
  const Extent extent = significant_digits(*parts, exponent);
  const bool zero = extent.integer.empty() && extent.fraction.empty();
  // The range of a zero is that of its last written digit: 0e126 is too large, 0.0e126 is not.
  const auto magnitude = zero ? exponent - static_cast<std::int64_t>(parts->fraction.size()) : extent.first_place;
  if (const auto* fault = range_fault(exponent, magnitude)) return base::invalid(std::string(*fault));
  if (zero) return Number();
  if (extent.first_place - extent.last_place >= max_digits) return base::invalid(std::string(too_many_digits));
  const Coefficient coefficient = accumulate(accumulate(0, extent.integer), extent.fraction);
  return Number(parts->negative, coefficient, static_cast<int>(extent.last_place));
}

std::string Number::to_string() const {
  std::string text;
  append_to(text);
  return text;
}

void Number::append_to(std::string& out) const {
  if (negative_) out.push_back('-');
  char digits[max_digits + 1];
  const auto count = static_cast<std::size_t>(write_digits(digits, coefficient()) - digits);
  if (exponent_ >= 0) {
    out.append(digits, count).append(static_cast<std::size_t>(exponent_), '0');
    return;
  }
  const auto fraction = static_cast<std::size_t>(-exponent_);
  if (fraction < count) {
    out.append(digits, count - fraction).push_back('.');
    out.append(digits + count - fraction, fraction);
    return;
  }
  out.append("0.").append(fraction - count, '0').append(digits, count);
}

}  // namespace postino::item
