#include "objects/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::objects {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::string rule_of(std::string_view name) {
  const auto checked = check_object_name(name);
  return checked ? "" : checked.error().message;
}

TEST(ObjectNameTest, IsOfPartsThatCanBeSeen) {
  for (const std::string& name :
       {std::string("a"), std::string("a/b.json"), std::string("large-items/TICKET#1/%2E"),
        std::string(".hidden/=x/..."), std::string(250, 'p'), std::string(250, 'p') + "/" + std::string(250, 'q')})
    EXPECT_EQ(rule_of(name), "") << name;
  EXPECT_THAT(rule_of(""), HasSubstr("1 to 1024 bytes"));
  EXPECT_THAT(rule_of(std::string(1'025, 'n')), HasSubstr("1 to 1024 bytes"));
  EXPECT_THAT(rule_of(std::string(251, 'p')), HasSubstr("1 to 250 bytes between two slashes"));
  for (const char* const name : {"/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/.."})
    EXPECT_THAT(rule_of(name), HasSubstr("between two slashes, and not . or ..")) << name;
  for (const std::string& name : {std::string("a b"), std::string("a\\b"), std::string("a\nb"), std::string("é"),
                                  std::string("a\0b", 3), std::string("a\x7F")})
    EXPECT_THAT(rule_of(name), HasSubstr("visible ASCII characters")) << name;
}

TEST(ObjectNameTest, AnyTextIsAPart) {
  EXPECT_THAT(name_part("TICKET#tkt_1"), Optional(std::string("TICKET#tkt_1")));
  EXPECT_THAT(name_part("a/b"), Optional(std::string("a%2Fb")));
  EXPECT_THAT(name_part("100%"), Optional(std::string("100%25")));
  EXPECT_THAT(name_part("."), Optional(std::string("%2E")));
  EXPECT_THAT(name_part(".."), Optional(std::string("%2E%2E")));
  EXPECT_THAT(name_part("..."), Optional(std::string("...")));
  EXPECT_THAT(name_part("é\n\\"), Optional(std::string("%C3%A9%0A%5C")));
  EXPECT_THAT(name_part(std::string("\0", 1)), Optional(std::string("%00")));
  EXPECT_EQ(name_part(""), std::nullopt);
  EXPECT_EQ(name_part(std::string(251, 'a')), std::nullopt);
  EXPECT_EQ(name_part(std::string(84, '/')), std::nullopt) << "three bytes for each";
  EXPECT_NE(name_part(std::string(83, '/')), std::nullopt);
}

TEST(ObjectNameTest, AnAddressIsOfOneBucket) {
  EXPECT_EQ(object_address("bucket", "a/b"), "s3://bucket/a/b");
  EXPECT_THAT(name_in_address("bucket", "s3://bucket/a/b"), Optional(std::string("a/b")));
  for (const char* address : {"s3://other/a", "s3://bucket", "http://bucket/a", "", "s3://bucket2/a"})
    EXPECT_EQ(name_in_address("bucket", address), std::nullopt) << address;
}

}  // namespace
}  // namespace postino::objects
