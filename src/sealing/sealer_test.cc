#include "sealing/sealer.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/temporary_directory.h"
#include "sealing/key_file.h"

namespace postino::sealing {
namespace {

using testing::HasSubstr;
using testing::Not;

class SealerTest : public testing::Test {
 protected:
  static std::string key(char letter) { return std::string(key_bytes, letter); }
  Sealer sealer(const std::vector<std::string>& keys) { return {keys, random_}; }

  base::SeededRandom random_{1};
};

TEST_F(SealerTest, WhatWasSealedOpensWhereItBelongs) {
  const Sealer one = sealer({key('a')});
  const std::string sealed = one.seal("the secret", "key 7 of acme");
  EXPECT_THAT(sealed, Not(HasSubstr("the secret")));
  EXPECT_EQ(one.open(sealed, "key 7 of acme").value(), "the secret");
  EXPECT_EQ(one.open(sealed, "key 8 of acme").error().code, base::ErrorCode::corrupt);
  EXPECT_EQ(one.open(sealed, "key 7 of other").error().code, base::ErrorCode::corrupt);
  EXPECT_NE(one.seal("the secret", "key 7 of acme"), sealed) << "each time with another nonce";
  EXPECT_EQ(one.open(one.seal("", ""), "").value(), "");
}

TEST_F(SealerTest, EveryChangedBitShows) {
  const Sealer one = sealer({key('a')});
  const std::string sealed = one.seal("secret", "about");
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(one.open(changed, "about")) << bit;
  }
  for (std::size_t size = 0; size < sealed.size(); ++size) EXPECT_FALSE(one.open(sealed.substr(0, size), "about"));
  EXPECT_FALSE(one.open(sealed + "x", "about"));
}

TEST_F(SealerTest, AnotherKeyIsNamed) {
  const std::string sealed = sealer({key('a')}).seal("secret", "");
  const auto refused = sealer({key('b')}).open(sealed, "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::not_found);
  EXPECT_THAT(refused.error().message, HasSubstr(name_of_key(key('a'))));
  EXPECT_THAT(refused.error().message, HasSubstr(name_of_key(key('b'))));
}

TEST_F(SealerTest, AKeyIsReplacedByPuttingAnotherInFront) {
  const std::string sealed = sealer({key('a')}).seal("secret", "");
  const Sealer both = sealer({key('b'), key('a')});
  EXPECT_EQ(both.open(sealed, "").value(), "secret");
  EXPECT_EQ(both.key_name(), name_of_key(key('b')));
  EXPECT_FALSE(sealer({key('a')}).open(both.seal("secret", ""), ""));
}

// Sealed secrets are in stores: this form stays. The value was made with Python's package cryptography.
TEST_F(SealerTest, TheFormStays) {
  constexpr std::string_view hex = "016440549c361bac75000102030405060708090a0b0bbf97ff4fe65741325d32b512b934746131be";
  std::string sealed;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    sealed += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  EXPECT_EQ(sealer({key('k')}).open(sealed, "x").value(), "abc");
}

class KeyFileTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return directory_.path() / "sealing.key"; }
  base::TemporaryDirectory directory_;
  base::SeededRandom random_{1};
};

TEST_F(KeyFileTest, IsMadeOnceAndForItsOwnerAlone) {
  EXPECT_EQ(read_key_file(file()).error().code, base::ErrorCode::not_found);
  const auto made = make_key_file(file(), random_);
  ASSERT_TRUE(made);
  EXPECT_EQ(*read_key_file(file()), *made);
  struct stat found {};
  ASSERT_EQ(::stat(file().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600);
  EXPECT_FALSE(is_open_to_others(file()));
  EXPECT_EQ(make_key_file(file(), random_).error().code, base::ErrorCode::conflict);
  EXPECT_EQ(*read_key_file(file()), *made) << "it stays";
}

TEST_F(KeyFileTest, TellsTheLineAndNotWhatIsInIt) {
  const std::string good(64, '1');
  EXPECT_EQ(parse_keys("# first\n\n" + good + "\r\n" + std::string(64, 'F')).value().size(), 2U);
  EXPECT_EQ(parse_keys(good + "\nsecret").error().message, "line 2 must be a key of 64 hexadecimal digits");
  EXPECT_EQ(parse_keys(std::string(64, 'g')).error().message, "line 1 must be a key of 64 hexadecimal digits");
  EXPECT_EQ(parse_keys("# none\n").error().message, "has no key");
}

}  // namespace
}  // namespace postino::sealing
