#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace postino::base {
namespace {

TEST(Bytes, BigEndianBytesSortLikeTheirNumbers) {
  std::string small, large;
  append_big_endian(small, std::uint32_t{0x00FF});
  append_big_endian(large, std::uint32_t{0x0100});
  EXPECT_EQ(large, std::string("\0\0\1\0", 4));
  EXPECT_LT(small, large);
  EXPECT_EQ(load_big_endian<std::uint32_t>(large.data()), 0x0100U);
}

TEST(Bytes, VarintsTakeSevenBitsAByte) {
  const auto encoded = [](std::uint64_t value) {
    std::string bytes;
    append_varint(bytes, value);
    return bytes;
  };
  EXPECT_EQ(encoded(0), std::string(1, '\0'));
  EXPECT_EQ(encoded(127), "\x7F");
  EXPECT_EQ(encoded(128), "\x80\x01");
  EXPECT_EQ(encoded(300), "\xAC\x02");
  EXPECT_EQ(encoded(std::numeric_limits<std::uint64_t>::max()).size(), 10);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{1} << 63}) {
    const std::string bytes = encoded(value);
    ByteReader reader(bytes);
    EXPECT_EQ(reader.varint(), value);
    EXPECT_TRUE(reader.empty());
  }
}

TEST(Bytes, AReaderNeverGoesBeyondTheEnd) {
  ByteReader reader("ab");
  EXPECT_EQ(reader.take(3), std::nullopt);
  EXPECT_EQ(reader.big_endian<std::uint32_t>(), std::nullopt);
  EXPECT_EQ(reader.take(2), "ab");
  EXPECT_EQ(reader.byte(), std::nullopt);
  EXPECT_EQ(ByteReader("\x80").varint(), std::nullopt) << "ends in the middle";
  EXPECT_EQ(ByteReader(std::string(11, '\xFF')).varint(), std::nullopt) << "longer than 64 bits";
}

}  // namespace
}  // namespace postino::base
