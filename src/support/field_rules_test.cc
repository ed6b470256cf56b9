#include "support/field_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/page.h"

namespace postino::support {
namespace {

using ::testing::ElementsAre;

template <class Check>
std::string fault_of(const Check& check) {
  FieldRules rules;
  check(rules);
  const auto outcome = rules.outcome();
  return outcome ? "" : outcome.error().message;
}

TEST(FieldRules, LetMarkupPassAndRefuseControlCharacters) {
  const auto text = [](const std::string& value) {
    return fault_of([&](FieldRules& rules) { rules.text("comments", value, 1, 40); });
  };
  EXPECT_EQ(text("<script>alert('x')</script> & \"quotes\""), "");
  EXPECT_EQ(text("two\nlines\twith a tab\r\n"), "");
  EXPECT_EQ(text(std::string("a\0b", 3)), "comments must not have control characters other than line ends and tabs");
  EXPECT_EQ(text("\x1b[31mred"), "comments must not have control characters other than line ends and tabs");
  for (const char* const control : {"a\xc2\x80", "a\xc2\x85z", "\xc2\x9f"})
    EXPECT_EQ(text(control), "comments must not have control characters other than line ends and tabs");
  EXPECT_EQ(text("\xc2\xa0 and \xc3\x85"), "") << "a space that does not break, and a letter";
  EXPECT_EQ(text("\xff"), "comments must be UTF-8");
  EXPECT_EQ(text(""), "comments must have 1 to 40 characters");
  EXPECT_EQ(text(std::string(41, 'a')), "comments must have 1 to 40 characters");
  std::string umlauts;
  for (int i = 0; i < 40; ++i) umlauts += "ü";
  EXPECT_EQ(text(umlauts), "") << "characters count, not bytes";
  EXPECT_EQ(text("  \n "), "comments must not be blank");
  EXPECT_EQ(text("two\u2028lines"), "");
  for (const char* const broken : {"a\nb", "a\tb", "a\u0085b", "a\u2028b", "\u2029"})
    EXPECT_EQ(fault_of([&](FieldRules& rules) { rules.line("name", broken, 0, 9); }),
              "name must be one line without control characters");
}

TEST(FieldRules, NameTheFieldAndTheRule) {
  EXPECT_EQ(fault_of([](FieldRules& rules) {
              rules.one_of("priority", "P5", {"P1", "P2"});
            }),
            "priority must be one of P1, P2");
  EXPECT_EQ(fault_of([](FieldRules& rules) { rules.whole("rating", 6, 1, 5); }),
            "rating must be a whole number from 1 to 5");
  EXPECT_EQ(fault_of([](FieldRules& rules) { rules.word("event_type", "a b", 64); }),
            "event_type must be 1 to 64 letters, digits, and _ . -");
  EXPECT_EQ(fault_of([](FieldRules& rules) { rules.name("id", "", 9); }), "id must have 1 to 9 bytes");
  EXPECT_NE(fault_of([](FieldRules& rules) { rules.address("to", "nobody"); }), "");
  EXPECT_EQ(fault_of([](FieldRules& rules) { rules.address("to", "Ann <ann@example.com>"); }),
            "to must be an address such as ann@example.com");
  EXPECT_EQ(fault_of([](FieldRules& rules) {
              rules.details("details", {{"list", item::List{item::Map{{"deep", std::string("\x01")}}}}}, 1'000);
            }),
            "details must not have control characters other than line ends and tabs");
  EXPECT_EQ(fault_of([](FieldRules& rules) {
              rules.details("details", {{"text", std::string(99, 'a')}}, 50);
            }),
            "details must not take more than 50 bytes");
  FieldRules rules;
  rules.whole("a", 0, 1, 2);
  rules.whole("b", 0, 1, 2);
  EXPECT_THAT(rules.outcome().error().faults, ElementsAre(FieldFault{"a", "must be a whole number from 1 to 2"},
                                                          FieldFault{"b", "must be a whole number from 1 to 2"}));
}

TEST(PageLimits, HaveAUsualOneAndALargestOne) {
  EXPECT_EQ(page_limit(0, 20).value(), 20);
  EXPECT_EQ(page_limit(largest_page, 20).value(), largest_page);
  for (const int limit : {-1, largest_page + 1}) EXPECT_EQ(page_limit(limit, 20).error().faults.front().field, "limit");
}

}  // namespace
}  // namespace postino::support
