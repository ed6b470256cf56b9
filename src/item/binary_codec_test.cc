#include "item/binary_codec.h"

#include <gmock/gmock.h>

#include "base/hash.h"
#include "item/random_values_testing.h"

namespace postino::item {
namespace {

std::string encoded_value(const AttributeValue& value) {
  std::string out;
  encode(out, value);
  return out;
}
std::string hex(const AttributeValue& value) { return base::to_hex(encoded_value(value)); }
AttributeValue number_value_of(std::string_view text) { return Number::parse(text).value(); }

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return bytes;
}

bool is_corrupt(std::string_view bytes) {
  const auto value = decode_value(bytes);
  return !value && value.error().code == base::ErrorCode::corrupt;
}

// These bytes are on disks. A change here is a new format.
TEST(BinaryCodec, HasTheseBytes) {
  EXPECT_EQ(hex(Null{}), "01");
  EXPECT_EQ(hex(false), "02");
  EXPECT_EQ(hex(true), "03");
  EXPECT_EQ(hex(""), "0400");
  EXPECT_EQ(hex("abc"), "0403616263");
  EXPECT_EQ(hex(std::string(200, 'x')).substr(0, 8), "04c80178");
  EXPECT_EQ(hex(Binary{std::string("\0\xFF", 2)}), "050200ff");
  EXPECT_EQ(hex(StringSet({"b", "a"})), "090201610162");
  EXPECT_EQ(hex(NumberSet({2, -1, number_value_of("0.5").as<Number>()})),
            "0a030601"
            "070105"
            "0604");
  EXPECT_EQ(hex(BinarySet({Binary{"b"}, Binary{""}})), "0b02000162");
  EXPECT_EQ(hex(List{}), "0c00");
  EXPECT_EQ(hex(List{1, "a", List{Null{}}}),
            "0c030602"
            "040161"
            "0c0101");
  EXPECT_EQ(hex(Map{}), "0d00");
  EXPECT_EQ(hex(Map{{"b", true}, {"a", Map{{"", 0}}}}),
            "0d02"
            "01610d01000600"
            "016203");
}

TEST(BinaryCodec, HasTheseBytesForNumbers) {
  EXPECT_EQ(hex(0), "0600");
  EXPECT_EQ(hex(1), "0602");
  EXPECT_EQ(hex(-1), "0601");
  EXPECT_EQ(hex(63), "067e");
  EXPECT_EQ(hex(64), "068001");
  EXPECT_EQ(hex(1000), "06d00f");
  EXPECT_EQ(hex(number_value_of("9223372036854775807")), "06feffffffffffffffff01");
  EXPECT_EQ(hex(number_value_of("-9223372036854775808")), "06ffffffffffffffffff01");
  EXPECT_EQ(hex(number_value_of("1e19")), "072601");
  EXPECT_EQ(hex(number_value_of("-12.5")), "08017d");
  EXPECT_EQ(hex(number_value_of("1e125")), "07fa0101");
  EXPECT_EQ(hex(number_value_of("1e-130")), "07830201");
  // 128 is the first coefficient of two bytes.
  EXPECT_EQ(hex(number_value_of("12.8")), "07018001");
}

TEST(BinaryCodec, WritesAMapLikeAnyValue) {
  const Map map{{"a", 1}};
  std::string out = "before";
  encode(out, map);
  EXPECT_EQ(out, "before" + encoded_value(map));
  EXPECT_EQ(decode_map(encoded_value(map)).value(), map);
  EXPECT_FALSE(decode_map(encoded_value(List{})));
}

TEST(BinaryCodec, WritesAPartOfAMapLikeAMapOfThatPart) {
  const Map whole{{"a", "1"}, {"b", Map{{"x", 2}}}, {"c", true}, {"d", "4"}};
  const std::vector<std::string> names{"0", "b", "bb", "d", "e"};
  std::string part;
  encode(part, whole, names);
  EXPECT_EQ(part, encoded_value(Map{{"b", Map{{"x", 2}}}, {"d", "4"}}));
}

TEST(BinaryCodec, DecodesWhatItEncoded) {
  RandomValues random;
  for (int i = 0; i < 5'000; ++i) {
    const Map map = random.map(5);
    ASSERT_EQ(decode_map(encoded_value(map)).value(), map) << "seed " << random.seed;
    const AttributeValue value = random.value(5);
    ASSERT_EQ(decode_value(encoded_value(value)).value(), value) << "seed " << random.seed;
  }
}

TEST(BinaryCodec, RefusesEveryTruncationAndExtension) {
  RandomValues random;
  for (int i = 0; i < 200; ++i) {
    const std::string whole = encoded_value(random.map(4));
    for (std::size_t length = 0; length < whole.size(); ++length)
      ASSERT_TRUE(is_corrupt(whole.substr(0, length))) << base::to_hex(whole) << " cut to " << length;
    ASSERT_TRUE(is_corrupt(whole + '\x01')) << base::to_hex(whole);
  }
}

// Whatever decodes has exactly one encoding, so damage is either noticed or makes another well-formed value.
TEST(BinaryCodec, NeverDecodesWhatItWouldNotWrite) {
  RandomValues random;
  int accepted = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string bytes = encoded_value(random.value(3));
    for (int changes = random.between(1, 3); changes > 0; --changes)
      bytes[static_cast<std::size_t>(random.between(0, static_cast<int>(bytes.size()) - 1))] =
          static_cast<char>(random.one_in(2) ? random.between(0, 14) : random.between(0, 255));
    const auto value = decode_value(bytes);
    if (!value) continue;
    ++accepted;
    ASSERT_EQ(base::to_hex(encoded_value(*value)), base::to_hex(bytes)) << "seed " << random.seed;
  }
  EXPECT_GT(accepted, 300);
}

TEST(BinaryCodec, RefusesDamage) {
  const std::pair<const char*, std::string_view> damaged[] = {
      {"nothing at all", ""},
      {"tag 0", "00"},
      {"unknown tag", "0e"},
      {"length beyond the end", "040361"},
      {"length of 2^64 - 1", "04ffffffffffffffffff01"},
      {"length of more than 64 bits", "04ffffffffffffffffff02"},
      {"varint without end", "04ffffffffffffffffffffff"},
      {"length longer than it need be", "04810061"},
      {"count beyond the end", "0c05"},
      {"names not ascending",
       "0d0201620101"
       "6101"},
      {"name twice",
       "0d0201610101"
       "6101"},
      {"set members not ascending", "090201620161"},
      {"set member twice", "090201610161"},
      {"numbers not ascending", "0a0206020601"},
      {"string in a number set", "0a01040161"},
      {"integer in the decimal form", "070001"},
      {"zero in the decimal form", "070100"},
      {"coefficient with a trailing zero", "07010a"},
      {"coefficient longer than it need be", "0701858000"},
      {"1e126", "07fc0101"},
      {"1e-131", "07850201"},
      {"exponent of 2^31", "07808080801001"},
      {"39 digits",
       "0701"
       "ffffffffffffffffffffffffffffffffffff01"},
      {"coefficient of more than 128 bits",
       "0701"
       "ffffffffffffffffffffffffffffffffffff05"},
      {"coefficient without end",
       "0701"
       "ffffffffffffffffffffffffffffffffffffffffffff"},
  };
  for (const auto& [what, bytes] : damaged) EXPECT_TRUE(is_corrupt(from_hex(bytes))) << what;
}

TEST(BinaryCodec, NestsAsDeepAsItemsMayAndNotWithoutLimit) {
  AttributeValue value = 1;
  for (int i = 0; i < 31; ++i) value = i % 2 == 0 ? AttributeValue(List{value}) : AttributeValue(Map{{"m", value}});
  const Map item{{"a", value}};
  EXPECT_EQ(decode_map(encoded_value(item)).value(), item);

  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "\x0C\x01";
  EXPECT_TRUE(is_corrupt(deep + '\x01'));
}

TEST(BinaryCodecDeathTest, RefusesToWriteWhatItCouldNotRead) {
  AttributeValue value = 1;
  for (int i = 0; i < 41; ++i) value = List{value};
  EXPECT_DEATH(encoded_value(value), "");
}

}  // namespace
}  // namespace postino::item
