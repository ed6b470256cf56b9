// Base64, hashes and hexadecimal digits.
#include <gtest/gtest.h>

#include <utility>

#include "base/base64.h"
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

}  // namespace
}  // namespace postino::base
