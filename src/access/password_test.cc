#include "access/password.h"

#include <gmock/gmock.h>

namespace postino::access {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Password, IsKnownByItsHash) {
  const auto hash = hash_password("correct horse battery");
  ASSERT_TRUE(hash) << hash.error().message;
  EXPECT_THAT(*hash, StartsWith("$argon2id$v=19$m=19456,t=2,p=1$"));
  EXPECT_TRUE(is_password("correct horse battery", *hash));
  EXPECT_FALSE(is_password("correct horse batterY", *hash));
  EXPECT_FALSE(is_password("", *hash));
  EXPECT_FALSE(is_password(std::string("correct horse battery\0", 22), *hash)) << "bytes behind a zero count";
}

TEST(Password, HasASaltOfItsOwn) {
  EXPECT_NE(hash_password("the same words").value(), hash_password("the same words").value());
}

TEST(Password, MustHaveAUsefulLength) {
  EXPECT_FALSE(hash_password("1234567"));
  EXPECT_TRUE(hash_password("12345678"));
  EXPECT_TRUE(hash_password(std::string(longest_password, 'p')));
  EXPECT_FALSE(hash_password(std::string(longest_password + 1, 'p')));
  EXPECT_FALSE(is_password(std::string(longest_password + 1, 'p'), *hash_password("12345678")));
}

// A test vector of the reference implementation.
TEST(Password, MayBeHashedByOtherTools) {
  const std::string theirs = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  EXPECT_TRUE(check_password_hash(theirs));
  EXPECT_TRUE(is_password("password", theirs));
  EXPECT_FALSE(is_password("passwore", theirs));
}

TEST(Password, HashesThatAreNoneOrCostTooMuchAreRefused) {
  const std::string tail = "$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  for (const std::string& text :
       {std::string(), std::string("secret"), std::string("$argon2id$v=19$"), "$argon2i$v=19$m=65536,t=2,p=1" + tail,
        "$argon2id$v=19$m=65536,t=2" + tail, std::string("$argon2id$v=19$m=65536,t=2,p=1$c29t"),
        "$argon2id$v=19$m=65536,t=2,p=1" + tail + std::string(200, 'A')}) {
    const auto checked = check_password_hash(text);
    ASSERT_FALSE(checked) << text;
    EXPECT_THAT(checked.error().message, HasSubstr("must be an argon2id hash"));
  }
  const auto large = check_password_hash("$argon2id$v=19$m=262145,t=2,p=1" + tail);
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("256 MB"));
  const auto slow = check_password_hash("$argon2id$v=19$m=65536,t=17,p=1" + tail);
  ASSERT_FALSE(slow);
  EXPECT_THAT(slow.error().message, HasSubstr("16 passes"));
}

}  // namespace
}  // namespace postino::access
