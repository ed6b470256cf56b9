#include "expr/attribute_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::expr {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Placeholders placeholders{Names{{"#h", "hidden"}, {"#u", "unused"}}, std::nullopt};

AttributeNames of_condition(std::string_view text, Kind kind = Kind::condition) {
  AttributeNames names;
  EXPECT_TRUE(add_attribute_names(text, kind, placeholders, names)) << text;
  return names;
}

AttributeNames of_update(std::string_view text) {
  AttributeNames names;
  EXPECT_TRUE(add_attribute_names_of_update(text, placeholders, names)) << text;
  return names;
}

TEST(AttributeNames, OfAConditionAreAllThatItLooksAt) {
  EXPECT_THAT(of_condition("a = :v AND (NOT b < #h OR attribute_exists(c.d[1].e))"),
              ElementsAre("a", "b", "c", "hidden"));
  EXPECT_THAT(of_condition("size(a) > :v AND begins_with(#h.x, :v)"), ElementsAre("a", "hidden"));
  EXPECT_THAT(of_condition("a BETWEEN b AND c AND d IN (e, :v) AND contains(f, g)", Kind::filter),
              ElementsAre("a", "b", "c", "d", "e", "f", "g"));
  EXPECT_THAT(of_condition("a = :v AND #h > :w", Kind::key_condition), ElementsAre("a", "hidden"));
}

TEST(AttributeNames, OfAnUpdateAreThoseItReadsAndThoseItWrites) {
  EXPECT_THAT(
      of_update("SET a = if_not_exists(#h, b), c.x = d + :v, e = list_append(f, :v) REMOVE g[0] ADD j :v DELETE k :v"),
      ElementsAre("a", "b", "c", "d", "e", "f", "g", "hidden", "j", "k"));
}

TEST(AttributeNames, OfAProjectionAreItsBeginnings) {
  AttributeNames names;
  ASSERT_TRUE(add_attribute_names_of_projection("a.b, #h[0], c", placeholders, names));
  EXPECT_THAT(names, ElementsAre("a", "c", "hidden"));
}

// Whatever uses them fails.
TEST(AttributeNames, ThatMeanNothingAreLeftOut) { EXPECT_THAT(of_condition("#nothing = :v"), IsEmpty()); }

TEST(AttributeNames, OfWhatIsNoExpressionAreNone) {
  AttributeNames names;
  EXPECT_FALSE(add_attribute_names("a =", Kind::condition, placeholders, names));
  EXPECT_FALSE(add_attribute_names_of_update("SET", placeholders, names));
  EXPECT_FALSE(add_attribute_names_of_projection("a,,b", placeholders, names));
  EXPECT_THAT(names, IsEmpty());
}

}  // namespace
}  // namespace postino::expr
