#include "reminders/text/template_text.h"

#include <gmock/gmock.h>

namespace postino::reminders {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string rendered(std::string text, const Variables& variables, TextKind kind = TextKind::plain) {
  const auto parsed = TemplateText::parse(std::move(text));
  if (!parsed) return "not parsed: " + parsed.error().message;
  const auto result = parsed->render(variables, kind);
  return result ? *result : "not rendered: " + result.error().message;
}

std::string fault(std::string text) {
  const auto parsed = TemplateText::parse(std::move(text));
  return parsed ? "" : parsed.error().message;
}

TEST(TemplateText, PutsValuesInPlaceOfNames) {
  EXPECT_EQ(rendered("Dear {{customer_name}}, {{ amount }} is due. {{customer_name}}!",
                     {{"customer_name", "Ada"}, {"amount", "12.50 EUR"}}),
            "Dear Ada, 12.50 EUR is due. Ada!");
  EXPECT_EQ(rendered("", {}), "");
  EXPECT_EQ(rendered("{{a}}{{b2}}", {{"a", "1"}, {"b2", "2"}}), "12");
  EXPECT_EQ(rendered("a { b } c } d", {}), "a { b } c } d");
  EXPECT_EQ(rendered("{{a}}}", {{"a", "1"}}), "1}");
}

TEST(TemplateText, NamesEachPlaceholderOnce) {
  EXPECT_THAT(TemplateText::parse("{{b}} {{a}} {{ b }}").value().names(), ElementsAre("a", "b"));
  EXPECT_THAT(TemplateText::parse("none").value().names(), IsEmpty());
}

TEST(TemplateText, WantsAllValues) {
  EXPECT_EQ(rendered("{{a}} {{b}}", {{"a", "1"}}), "not rendered: needs a value for {{b}}");
}

TEST(TemplateText, AValueIsNeverATemplate) {
  EXPECT_EQ(rendered("{{a}}", {{"a", "{{b}}"}, {"b", "secret"}}), "{{b}}");
  EXPECT_EQ(rendered("{{a}}b}}", {{"a", "{{"}, {"b", "secret"}}),
            "not parsed: has }} without {{ before it, at line 1, column 7");
  EXPECT_EQ(rendered("{{a}}{{b}}", {{"a", "{{"}, {"b", "}}"}}), "{{}}");
}

TEST(TemplateText, AValueIsNeverMarkup) {
  const Variables ada = {{"name", R"(<b>"Ada" & 'Co'</b>)"}};
  EXPECT_EQ(rendered("<p>{{name}}</p>", ada, TextKind::html),
            "<p>&lt;b&gt;&quot;Ada&quot; &amp; &#39;Co&#39;&lt;/b&gt;</p>");
  EXPECT_EQ(rendered("{{name}}", ada, TextKind::plain), ada.at("name"));
}

TEST(TemplateText, AValueEndsNoLineOfASubject) {
  const Variables broken = {{"name", std::string("Ada\r\nBcc: all\t@example.org\0\x7F", 28)}};
  EXPECT_EQ(rendered("To {{name}}", broken, TextKind::line), "To Ada  Bcc: all @example.org  ");
  EXPECT_EQ(rendered("To {{name}}", broken, TextKind::plain), "To Ada\r\nBcc: all\t@example.org  ");
  EXPECT_EQ(rendered("To {{name}}", {{"name", "Ada\u0085Byron\u2028King"}}, TextKind::line), "To Ada Byron King");
}

TEST(TemplateText, KeepsWhatIsNotAscii) {
  EXPECT_EQ(rendered("Grüße, {{name}}", {{"name", "世界 é"}}, TextKind::html), "Grüße, 世界 é");
}

TEST(TemplateText, SaysWhereItIsBroken) {
  EXPECT_EQ(fault("Dear {{name"), "has {{ that is not closed by }}, at line 1, column 6");
  EXPECT_EQ(fault("Grüße,\nDéar {{name} and {{b}}"), "has {{ that is not closed by }}, at line 2, column 6");
  EXPECT_EQ(fault("a {{b}} }} c"), "has }} without {{ before it, at line 1, column 9");
  for (const std::string name : {"", " ", "Name", "1a", "a b", "a.b", "a-b", "{a", "#if", "é"})
    EXPECT_EQ(
        fault("{{" + name + "}}"),
        "has a placeholder at line 1, column 1 whose name is not 1 to 64 lower-case letters, digits and _, with a "
        "letter first")
        << name;
  EXPECT_EQ(fault("{{" + std::string(64, 'a') + "}}"), "");
  EXPECT_NE(fault("{{" + std::string(65, 'a') + "}}"), "");
}

TEST(TemplateText, HasLimits) {
  EXPECT_EQ(fault(std::string(TemplateText::max_bytes, 'a')), "");
  EXPECT_EQ(fault(std::string(TemplateText::max_bytes + 1, 'a')), "must not be longer than 262144 bytes");
  std::string many;
  for (std::size_t i = 0; i < TemplateText::max_placeholders; ++i) many += "{{a}}";
  EXPECT_EQ(fault(many), "");
  EXPECT_EQ(fault(many + "{{a}}"), "must not have more than 1000 placeholders");
}

TEST(TemplateTextTest, EndsWhereItsValuesMakeItTooLong) {
  std::string many;
  for (std::size_t i = 0; i < TemplateText::max_placeholders; ++i) many += "{{x}}";
  const auto text = TemplateText::parse(many);
  ASSERT_TRUE(text);
  const std::size_t fits = TemplateText::max_bytes / TemplateText::max_placeholders;
  EXPECT_TRUE(text->render({{"x", std::string(fits, 'a')}}, TextKind::plain));
  const auto refused = text->render({{"x", std::string(fits, '&')}}, TextKind::html);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "would be longer than 262144 bytes with its values");
}

}  // namespace
}  // namespace postino::reminders
