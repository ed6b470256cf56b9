// Base64, hashes, hexadecimal digits, and numbers as bytes.
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/hash.h"

namespace postino::base {
namespace {

Error malformed(std::string message) { return {ErrorCode::malformed, std::move(message)}; }

// Text and base64 of RFC 4648, section 10.
constexpr std::pair<const char*, const char*> rfc_samples[] = {{"", ""},
                                                               {"f", "Zg=="},
                                                               {"fo", "Zm8="},
                                                               {"foo", "Zm9v"},
                                                               {"foob", "Zm9vYg=="},
                                                               {"fooba", "Zm9vYmE="},
                                                               {"foobar", "Zm9vYmFy"},
                                                               {"\xFB\xEF\xFF", "++//"}};

TEST(Base64, GoesBothWays) {
  for (const auto& [text, encoded] : rfc_samples) {
    EXPECT_EQ(to_base64(text), encoded);
    EXPECT_EQ(from_base64(encoded).value(), text);
  }
}

TEST(Base64, RefusesWhatIsNone) {
  EXPECT_EQ(from_base64("a").error(),
            malformed("Base64 encoded length is expected a multiple of 4 bytes but found: 1"));
  EXPECT_EQ(from_base64("Zm9vY").error(),
            malformed("Base64 encoded length is expected a multiple of 4 bytes but found: 5"));
  EXPECT_EQ(from_base64("Zh==").error(), malformed("Invalid last non-pad Base64 character dectected"));
  EXPECT_EQ(from_base64("Zm9=").error(), malformed("Invalid last non-pad Base64 character dectected"));
  for (const char* text : {"Zm9*", "Zm 9", "====", "Z===", "Zg==Zg==", "Z-_v", "\xC3\xA4\xC3\xA4"})
    EXPECT_EQ(from_base64(text).error().code, ErrorCode::malformed) << text;
}

// Published test vectors: what these functions return is stored on disk.
TEST(Hash, Sha256IsTheStandardOne) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, TheFastHashIsXxh3) { EXPECT_EQ(fast_hash(""), 0x2D06800538D394C2ULL); }

TEST(Hash, HexHasTwoLowerCaseDigitsAByte) { EXPECT_EQ(to_hex(std::string("\x00\x0F\xA5", 3)), "000fa5"); }

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
