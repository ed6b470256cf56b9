#include "base/hash.h"

#include <gtest/gtest.h>

namespace postino::base {
namespace {

// Published test vectors: what these functions return is stored on disk.
TEST(Hash, Sha256IsTheStandardOne) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, TheFastHashIsXxh3) { EXPECT_EQ(fast_hash(""), 0x2D06800538D394C2ULL); }

TEST(Hash, HexHasTwoLowerCaseDigitsAByte) { EXPECT_EQ(to_hex(std::string("\x00\x0F\xA5", 3)), "000fa5"); }

}  // namespace
}  // namespace postino::base
