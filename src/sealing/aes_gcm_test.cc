#include "sealing/aes_gcm.h"

#include <gtest/gtest.h>

namespace postino::sealing {
namespace {

const std::string sealing_key(key_bytes, 'k');

TEST(Sealing, IsUndoneWithTheKeyAndWhatItIsBoundTo) {
  base::SeededRandom random(1);
  for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 100'000u}) {
    const std::string contents(size, 'c');
    const std::string sealed = seal(sealing_key, contents, "place", random);
    EXPECT_EQ(sealed.size(), size + seal_overhead);
    EXPECT_EQ(unseal(sealing_key, sealed, "place"), contents);
  }
}

TEST(Sealing, TellsEveryChange) {
  base::SeededRandom random(2);
  const std::string sealed = seal(sealing_key, "contents", "place", random);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(unseal(sealing_key, changed, "place"), std::nullopt) << "byte " << i;
    EXPECT_EQ(unseal(sealing_key, sealed.substr(0, i), "place"), std::nullopt) << "cut to " << i;
  }
  EXPECT_EQ(unseal(sealing_key, sealed, "another place"), std::nullopt);
  EXPECT_EQ(unseal(std::string(key_bytes, 'x'), sealed, "place"), std::nullopt);
}

TEST(Sealing, HidesThatContentsAreTheSame) {
  base::SeededRandom random(3);
  const std::string one = seal(sealing_key, "contents", "", random);
  const std::string other = seal(sealing_key, "contents", "", random);
  EXPECT_NE(one, other);
  EXPECT_EQ(one.find("contents"), std::string::npos);
}

// Test case 16 of "The Galois/Counter Mode of Operation", by McGrew and Viega.
TEST(Sealing, IsTheStandardsCipher) {
  const auto bytes = [](std::string_view hex) {
    std::string text;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      text.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    return text;
  };
  const std::string key = bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
  const std::string bound = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  const std::string sealed = bytes("cafebabefacedbaddecaf888") +
                             bytes(
                                 "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                                 "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662") +
                             bytes("76fc6ece0f4e1768cddf8853bb2d551b");
  EXPECT_EQ(unseal(key, sealed, bound), bytes("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                                              "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"));
}

}  // namespace
}  // namespace postino::sealing
