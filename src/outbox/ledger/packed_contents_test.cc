#include "outbox/ledger/packed_contents.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace postino::outbox {
namespace {

using base::ErrorCode;

// Letters without any order, so that only what is the same elsewhere can be left out.
std::string letters(std::size_t size, std::uint64_t seed) {
  base::SeededRandom random(seed);
  std::string text;
  while (text.size() < size) text.push_back(static_cast<char>('A' + random.next() % 52 + (random.next() % 2) * 6));
  return text;
}

TEST(PackedContents, AreUnpackedAsTheyWere) {
  const std::string text = letters(5'000, 1);
  for (const std::string& bytes : {text, std::string(300'000, 'x'), text + std::string(1, '\0') + "\xFF" + text}) {
    const auto packed = pack(bytes);
    ASSERT_TRUE(packed);
    EXPECT_LT(packed->size(), bytes.size());
    EXPECT_EQ(unpack(*packed, bytes.size()).value_or("-"), bytes);
  }
}

TEST(PackedContents, WhatIsTheSameElsewhereTakesHardlyAnyRoom) {
  const std::string text = letters(4'000, 2);
  const std::string message = "Subject: x\r\n\r\n" + text + "\r\n";
  const std::string payload = R"({"body_text":")" + text + "\"}";
  const auto packed = pack(message, payload);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size(), 100U);
  EXPECT_EQ(unpack(*packed, message.size(), payload).value_or("-"), message);
}

TEST(PackedContents, OfAnotherOneOrDamagedAreNotGivenOut) {
  const std::string payload = letters(4'000, 3);
  const std::string message = payload + "!";
  const std::string packed = pack(message, payload).value_or("");
  std::string other = payload;
  other[2'000] = '?';
  for (const std::string& similar : {other, payload.substr(1), std::string()})
    EXPECT_EQ(unpack(packed, message.size(), similar).error().code, ErrorCode::corrupt);
  for (std::size_t at = 0; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto unpacked = unpack(damaged, message.size(), payload);
    if (unpacked) {
      EXPECT_EQ(*unpacked, message) << at << ": bits without a meaning";
    }
    EXPECT_FALSE(unpack(packed.substr(0, at), message.size(), payload)) << at;
  }
  EXPECT_EQ(unpack(packed, message.size() + 1, payload).error().code, ErrorCode::corrupt);
  EXPECT_EQ(unpack(packed, message.size() - 1, payload).error().code, ErrorCode::corrupt);
  EXPECT_EQ(unpack("", 0).error().code, ErrorCode::corrupt);
  EXPECT_EQ(unpack("no frame", 8).error().code, ErrorCode::corrupt);
}

TEST(PackedContents, AreNotMadeOfWhatDoesNotBecomeSmaller) {
  EXPECT_EQ(pack(""), std::nullopt);
  EXPECT_EQ(pack(std::string(100, 'x')), std::nullopt) << "not worth the work";
  base::SeededRandom random(4);
  std::string noise;
  while (noise.size() < 4'000) noise.push_back(static_cast<char>(random.next()));
  EXPECT_EQ(pack(noise), std::nullopt);
}

}  // namespace
}  // namespace postino::outbox
