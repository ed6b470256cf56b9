#include "item/size.h"

#include <gmock/gmock.h>

namespace postino::item {
namespace {

TEST(Size, OfScalars) {
  EXPECT_EQ(size_of(AttributeValue("")), 0U);
  EXPECT_EQ(size_of(AttributeValue("abc")), 3U);
  EXPECT_EQ(size_of(AttributeValue("\xC3\xA4")), 2U);
  EXPECT_EQ(size_of(AttributeValue(Binary{std::string(5, '\0')})), 5U);
  EXPECT_EQ(size_of(AttributeValue(0)), 1U);
  EXPECT_EQ(size_of(AttributeValue(-42)), 3U);
  EXPECT_EQ(size_of(AttributeValue(true)), 1U);
  EXPECT_EQ(size_of(AttributeValue(Null{})), 1U);
}

TEST(Size, OfSetsIsThatOfTheirMembers) {
  EXPECT_EQ(size_of(AttributeValue(StringSet({"a", "bcd"}))), 4U);
  EXPECT_EQ(size_of(AttributeValue(NumberSet({1, 123}))), 2U + 3U);
  EXPECT_EQ(size_of(AttributeValue(BinarySet({Binary{"ab"}, Binary{""}}))), 2U);
}

TEST(Size, OfContainersHasOverhead) {
  EXPECT_EQ(size_of(AttributeValue(List{})), 3U);
  EXPECT_EQ(size_of(AttributeValue(List{"ab", 1})), 3U + (1 + 2) + (1 + 2));
  EXPECT_EQ(size_of(AttributeValue(Map{})), 3U);
  EXPECT_EQ(size_of(AttributeValue(Map{{"name", "ab"}})), 3U + (1 + 4 + 2));
  EXPECT_EQ(size_of(AttributeValue(List{AttributeValue(List{})})), 3U + (1 + 3));
}

TEST(Size, OfAnItemIsNamesAndValues) {
  EXPECT_EQ(size_of(Map{}), 0U);
  EXPECT_EQ(size_of(Map{{"pk", "ab"}, {"n", 1}, {"l", List{}}}), (2U + 2) + (1 + 2) + (1 + 3));
}

TEST(Size, OfAKey) {
  EXPECT_EQ(key_size("abc"), 3U);
  EXPECT_EQ(key_size(123), 3U);
  EXPECT_EQ(key_size(Binary{"ab"}), 2U);
}

AttributeValue in_lists(AttributeValue value, int count) {
  for (; count > 0; --count) value = List{std::move(value)};
  return value;
}
AttributeValue in_maps(AttributeValue value, int count) {
  for (; count > 0; --count) value = Map{{"m", std::move(value)}};
  return value;
}

TEST(Nesting, AllowsALeafAtDepth32) {
  EXPECT_TRUE(check_nesting(in_lists(1, 31)));
  EXPECT_TRUE(check_nesting(in_maps(1, 31)));
  EXPECT_TRUE(check_nesting(Map{{"a", in_maps(1, 31)}}));
}

TEST(Nesting, RefusesALeafAtDepth33) {
  const auto expected = base::Error{base::ErrorCode::invalid,
                                    "Nesting Levels have exceeded supported limits: Attributes in the item have nested "
                                    "levels beyond supported limit"};
  EXPECT_EQ(check_nesting(in_lists(1, 32)).error(), expected);
  EXPECT_EQ(check_nesting(in_maps(1, 32)).error(), expected);
  EXPECT_EQ(check_nesting(in_maps(1, 32)).error().rule, base::Rule::nesting);
  EXPECT_EQ(check_nesting(Map{{"a", 1}, {"b", List{1, in_maps(1, 31)}}}).error(), expected);
}

}  // namespace
}  // namespace postino::item
