#include "broker/protocol/amqp_syntax.h"

#include <gtest/gtest.h>

#include <string>

namespace postino::broker {
namespace {

using namespace std::string_literals;

// As the body of a message.
bool is_value(const std::string& bytes) { return is_made_of_sections("\x00\x53\x77"s + bytes); }

TEST(AmqpSyntax, SectionsFollowEachOther) {
  EXPECT_TRUE(is_made_of_sections(""));
  EXPECT_TRUE(is_made_of_sections("\x00\x53\x75\xa0\x01x"s));
  EXPECT_TRUE(is_made_of_sections("\x00\x53\x75\xa0\x01x\x00\x53\x75\xa0\x01y"s));
  EXPECT_FALSE(is_made_of_sections("x"));
  EXPECT_FALSE(is_made_of_sections("\x00\x53\x75\xa0\x01xy"s));
  EXPECT_FALSE(is_made_of_sections("\xa0\x01x")) << "a value that nothing describes";
  EXPECT_FALSE(is_made_of_sections("\x00\x53\x75"s)) << "a description of nothing";
}

TEST(AmqpSyntax, ValuesHaveTheirBytes) {
  for (const std::string& whole :
       {"\x40"s, "\x45"s, "\x56\x01"s, "\x60\x01\x02"s, "\x70\x01\x02\x03\x04"s, "\x80"s + std::string(8, 'x'),
        "\x98"s + std::string(16, 'x'), "\xa1\x02xy"s, "\xb1\x00\x00\x00\x02xy"s, "\x00\x53\x01\x00\x53\x02\x40"s}) {
    EXPECT_TRUE(is_value(whole)) << testing::PrintToString(whole);
    EXPECT_FALSE(is_value(whole.substr(0, whole.size() - 1))) << testing::PrintToString(whole);
    EXPECT_FALSE(is_value(whole + "x")) << testing::PrintToString(whole);
  }
  for (const char* code : {"\x01", "\x10", "\x3f"}) EXPECT_FALSE(is_value(code)) << "no type has it";
}

TEST(AmqpSyntax, ListsAndMapsHaveAsManyMembersAsTheySay) {
  EXPECT_TRUE(is_value("\xc0\x03\x02\x40\x41"s));
  EXPECT_TRUE(is_value("\xd1\x00\x00\x00\x06\x00\x00\x00\x02\x40\x41"s));
  EXPECT_TRUE(is_value("\xc0\x05\x01\xc0\x02\x01\x40"s)) << "a list in a list";
  EXPECT_FALSE(is_value("\xc0\x03\x03\x40\x41"s));
  EXPECT_FALSE(is_value("\xc0\x03\x01\x40\x41"s));
  EXPECT_FALSE(is_value("\xd1\x00\x00\x00\x06\x03\xbf\x00\x00\x40\x41"s)) << "millions of members in two bytes";
  EXPECT_FALSE(is_value("\xc0\x00"s)) << "no room for the count";
  EXPECT_FALSE(is_value("\xc0\x03\x01\xa1\x02x"s)) << "a member that is longer than the list";
}

TEST(AmqpSyntax, ArraysHaveAsManyMembersAsTheySay) {
  EXPECT_TRUE(is_value("\xe0\x04\x02\x50\x01\x02"s));
  EXPECT_TRUE(is_value("\xf0\x00\x00\x00\x08\x00\x00\x00\x02\xa1\x01x\x00"s));
  EXPECT_TRUE(is_value("\xe0\x02\x05\x41"s)) << "members without bytes";
  EXPECT_TRUE(is_value("\xe0\x07\x02\x00\x53\x01\x50\x01\x02"s)) << "of a described type";
  EXPECT_FALSE(is_value("\xe0\x04\x03\x50\x01\x02"s));
  EXPECT_FALSE(is_value("\xe0\x04\x01\x50\x01\x02"s));
  EXPECT_FALSE(is_value("\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x41"s)) << "billions of members without bytes";
  EXPECT_FALSE(is_value("\xe0\x01\x00"s)) << "of no type";
}

TEST(AmqpSyntax, DepthHasALimit) {
  EXPECT_TRUE(is_value(std::string("\x00\x53\x01", 3) + "\x40"));
  std::string descriptions;
  for (int i = 0; i < 100'000; ++i) descriptions.append("\x00\x53\x01", 3);
  EXPECT_FALSE(is_value(descriptions + "\x40"));
  EXPECT_FALSE(is_value(std::string(100'000, '\0')));
}

}  // namespace
}  // namespace postino::broker
