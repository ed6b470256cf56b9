#include "item/ordered_key.h"

#include <gmock/gmock.h>

#include "base/hash.h"
#include "item/ordered_key_reader.h"
#include "item/random_values_testing.h"

namespace postino::item {
namespace {

std::string encoded_key(const AttributeValue& value) {
  std::string out;
  append_ordered(out, value);
  return out;
}
std::string encoded_last(const AttributeValue& value) {
  std::string out;
  append_ordered_last(out, value);
  return out;
}
AttributeValue number_value(std::string_view text) { return Number::parse(text).value(); }

std::optional<AttributeValue> decoded(std::string_view bytes, Type type) {
  OrderedKeyReader in(bytes);
  auto value = in.read(type);
  EXPECT_TRUE(!value || in.empty());
  return value;
}

TEST(OrderedKey, HasTheseBytesForNumbers) {
  EXPECT_EQ(base::to_hex(encoded_key(0)), "02");
  EXPECT_EQ(base::to_hex(encoded_key(1)), "03800200");
  EXPECT_EQ(base::to_hex(encoded_key(-1)), "017ffdff");
  EXPECT_EQ(base::to_hex(encoded_key(99)), "03806400");
  EXPECT_EQ(base::to_hex(encoded_key(100)), "03810200");
  EXPECT_EQ(base::to_hex(encoded_key(1001)), "03810b0200");
  EXPECT_EQ(base::to_hex(encoded_key(number_value("123.4"))), "038102182900");
  EXPECT_EQ(base::to_hex(encoded_key(number_value("-123.4"))), "017efde7d6ff");
  EXPECT_EQ(base::to_hex(encoded_key(number_value("0.05"))), "037f0600");
  EXPECT_EQ(base::to_hex(encoded_key(number_value("1e125"))), "03be0b00");
  EXPECT_EQ(base::to_hex(encoded_key(number_value("1e-130"))), "033f0200");
}

TEST(OrderedKey, HasTheseBytesForStrings) {
  EXPECT_EQ(base::to_hex(encoded_key("")), "0001");
  EXPECT_EQ(base::to_hex(encoded_key("ab")), "61620001");
  EXPECT_EQ(base::to_hex(encoded_key(std::string("a\0b", 3))), "6100ff620001");
  EXPECT_EQ(base::to_hex(encoded_key(Binary{std::string("\0\0\xFF", 3)})), "00ff00ffff0001");
}

TEST(OrderedKey, LeavesALastStringAsItIs) {
  EXPECT_EQ(encoded_last(std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(encoded_last(Binary{"xy"}), "xy");
  EXPECT_EQ(encoded_last(number_value("12.5")), encoded_key(number_value("12.5")));
}

TEST(OrderedKey, OrdersNumbersAsTheyCompare) {
  RandomValues random;
  for (int i = 0; i < 20'000; ++i) {
    const Number a = random.number();
    const Number b = random.one_in(10) ? Number::add(a, Number(random.between(-1, 1))).value_or(a) : random.number();
    ASSERT_EQ(encoded_key(a) <=> encoded_key(b), a <=> b)
        << a.to_string() << " and " << b.to_string() << ", seed " << random.seed;
  }
}

TEST(OrderedKey, OrdersStringsWithAnythingBehindThem) {
  RandomValues random;
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = random.bytes(4);
    const std::string b = random.bytes(4);
    if (a == b) continue;
    ASSERT_EQ(encoded_key(a) + random.bytes(2) <=> encoded_key(b) + random.bytes(2), a <=> b)
        << base::to_hex(a) << " and " << base::to_hex(b) << ", seed " << random.seed;
  }
}

TEST(OrderedKey, IsNeverAPrefixOfAnother) {
  RandomValues random;
  for (int i = 0; i < 20'000; ++i) {
    const Number a = random.number();
    const Number b = random.number();
    if (a == b) continue;
    ASSERT_FALSE(encoded_key(b).starts_with(encoded_key(a))) << a.to_string() << " and " << b.to_string();
  }
}

TEST(OrderedKey, ReadsBackPartsThatFollowEachOther) {
  RandomValues random;
  for (int i = 0; i < 10'000; ++i) {
    const AttributeValue text = random.text(6);
    const AttributeValue amount = random.number();
    const AttributeValue binary = Binary{random.bytes(6)};
    const std::string bytes = encoded_key(text) + encoded_key(amount) + encoded_key(binary);
    OrderedKeyReader in(bytes);
    ASSERT_EQ(in.read(Type::string), text) << "seed " << random.seed;
    ASSERT_EQ(in.read(Type::number), amount) << "seed " << random.seed;
    ASSERT_EQ(in.read(Type::binary), binary) << "seed " << random.seed;
    ASSERT_TRUE(in.empty());
  }
}

TEST(OrderedKey, RefusesEveryTruncation) {
  for (const AttributeValue& value :
       {number_value("-123.4"), number_value("98765.4321"), AttributeValue(std::string("a\0b", 3))}) {
    const std::string whole = encoded_key(value);
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_EQ(decoded(whole.substr(0, length), value.type()), std::nullopt) << length;
  }
}

TEST(OrderedKey, RefusesDamagedNumbers) {
  const std::string_view damaged[] = {
      "\x04",                       // no sign
      {"\x03\x80\x00", 3},          // no digits
      {"\x03\x80\x01\x02\x00", 5},  // first digit zero
      {"\x03\x80\x02\x01\x00", 5},  // last digit zero
      {"\x03\x80\x66\x00", 4},      // a digit of 101
      {"\x03\xBF\x02\x00", 4},      // 1e126
      {"\x03\x3E\x02\x00", 4},      // 1e-132
      {"\x01\x7F\x00\xFF", 4},      // complemented digit of 254
  };
  for (const auto bytes : damaged) EXPECT_EQ(decoded(bytes, Type::number), std::nullopt) << base::to_hex(bytes);
  EXPECT_EQ(decoded("\x03\x80" + std::string(20, '\x0C') + std::string(1, '\0'), Type::number), std::nullopt);
  EXPECT_EQ(decoded("\x03\x80" + std::string(21, '\x0C') + std::string(1, '\0'), Type::number), std::nullopt);
  EXPECT_EQ(decoded(std::string("a\0\x02", 3), Type::string), std::nullopt);
  EXPECT_EQ(decoded(std::string("a\0\x01", 3), Type::list), std::nullopt);
}

}  // namespace
}  // namespace postino::item
