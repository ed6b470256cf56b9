// Two lines of text: numbers, perhaps.
#include "base/check.h"
#include "item/binary_codec.h"
#include "item/number.h"
#include "item/ordered_key.h"
#include "targets.h"
#include "value_source.h"

namespace postino::fuzz {

namespace {

using item::Number;

void check_one(const Number& number) {
  const std::string text = number.to_string();
  const auto again = Number::parse(text);
  CHECK(again && *again == number && again->to_string() == text);
  CHECK(text.find_first_of("eE+ ") == std::string::npos);
  const auto made = Number::make(number.negative(), number.coefficient(), number.exponent());
  CHECK(made && *made == number);
  CHECK(number.stored_size() >= 1 && number.stored_size() <= 22);
  if (const auto integer = number.to_int64(); integer && text.find('.') == std::string::npos)
    CHECK(Number(*integer) == number && std::to_string(*integer) == text);

  std::string bytes;
  item::encode(bytes, item::AttributeValue(number));
  const auto decoded = item::decode_value(bytes);
  CHECK(decoded && decoded->as<Number>() == number);
  const auto zero = Number::subtract(number, number);
  CHECK(zero && zero->is_zero() && *zero == Number(0));
}

void check_order(const Number& a, const Number& b) {
  CHECK((a == b) == (a.to_string() == b.to_string()));
  CHECK((a <=> b) == (0 <=> (b <=> a)));
  std::string key_a;
  std::string key_b;
  item::append_ordered(key_a, a);
  item::append_ordered(key_b, b);
  CHECK((a <=> b) == (key_a <=> key_b));
}

void check_sums(const Number& a, const Number& b) {
  const auto sum = Number::add(a, b);
  const auto turned = Number::add(b, a);
  CHECK(sum.has_value() == turned.has_value());
  if (!sum) return;
  check_one(*sum);
  CHECK(*sum == *turned);
  CHECK((*sum <=> a) == (b <=> Number(0)));
  if (const auto back = Number::subtract(*sum, b)) CHECK(*back == a);
}

}  // namespace

void fuzz_number(std::string_view input) {
  ValueSource source(input);
  const auto a = Number::parse(source.line());
  const auto b = Number::parse(source.line());
  if (a) check_one(*a);
  if (!a || !b) return;
  check_one(*b);
  check_order(*a, *b);
  check_sums(*a, *b);
  const auto difference = Number::subtract(*a, *b);
  if (difference) CHECK((*difference <=> Number(0)) == (*a <=> *b));
}

}  // namespace postino::fuzz
