#include "reminders/rendering.h"

#include <gmock/gmock.h>

namespace postino::reminders {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> texts(const std::vector<FieldFault>& faults) {
  std::vector<std::string> texts;
  for (const FieldFault& fault : faults) texts.push_back(fault.field + ": " + fault.rule);
  return texts;
}

TemplateVersion first_reminder() {
  TemplateVersion version;
  version.template_id = "reminder_first";
  version.version = 3;
  version.name = "First Reminder Template";
  version.type = "first_reminder";
  version.subject = "Payment Reminder: Invoice {{invoice_id}} - {{company_name}}";
  version.body = "Dear {{customer_name}},\nplease pay {{overdue_amount}} until {{deadline}}.";
  version.html = "<p>Dear {{customer_name}}, please pay {{overdue_amount}} until {{deadline}}.</p>";
  version.required = {"deadline"};
  version.branding = "innovate_ai";
  return version;
}

Branding innovate() {
  Branding branding;
  branding.name = "innovate_ai";
  branding.from = "Innovate <billing@example.com>";
  branding.reply_to = "answers@example.com";
  branding.company = "Innovate & AI";
  branding.text_footer = "{{company_name}}, for {{customer_id}}";
  branding.html_header = "<h1>{{company_name}}</h1>";
  branding.html_footer = "<hr>{{customer_id}}";
  return branding;
}

std::vector<std::string> refused(const OrRefusal<Rendered>& answer) {
  return answer ? std::vector<std::string>{"rendered"} : texts(answer.error().faults);
}

TEST(Rendering, PutsTextBrandingAndVariablesTogether) {
  const auto rendered = render_text(first_reminder(), innovate(), sample_variables(), {{"deadline", "Friday"}});
  ASSERT_TRUE(rendered) << rendered.error().message;
  EXPECT_EQ(rendered->text.subject, "Payment Reminder: Invoice INV-001 - Innovate & AI");
  EXPECT_EQ(rendered->text.body,
            "Dear Ada Lovelace,\nplease pay 1500.00 USD until Friday.\n\nInnovate & AI, for cust_001");
  EXPECT_EQ(rendered->text.html,
            "<h1>Innovate &amp; AI</h1><p>Dear Ada Lovelace, please pay 1500.00 USD until Friday.</p><hr>cust_001");
  EXPECT_EQ(rendered->template_id, "reminder_first");
  EXPECT_EQ(rendered->template_version, 3);
  EXPECT_EQ(rendered->from, "Innovate <billing@example.com>");
  EXPECT_EQ(rendered->reply_to, "answers@example.com");
}

TEST(Rendering, ATemplateWithoutHtmlMakesNone) {
  TemplateVersion plain = first_reminder();
  plain.html.clear();
  const auto rendered = render_text(plain, innovate(), sample_variables(), {{"deadline", "Friday"}});
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->text.html, "");
}

TEST(Rendering, NamesOfCustomersAreNeitherMarkupNorHeadersNorPlaceholders) {
  TemplateVersion version = first_reminder();
  version.subject = "For {{customer_name}}";
  Variables known = sample_variables();
  known["customer_name"] = "<b>Ada</b>\r\nBcc: all@example.org {{deadline}}";
  const auto rendered = render_text(version, std::nullopt, known, {{"deadline", "Friday"}});
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->text.subject, "For <b>Ada</b>  Bcc: all@example.org {{deadline}}");
  EXPECT_THAT(rendered->text.html, HasSubstr("<p>Dear &lt;b&gt;Ada&lt;/b&gt;\r\nBcc: all@example.org {{deadline}}, "));
}

TEST(Rendering, WhatIsKnownOfACustomerIsNotReplaced) {
  const Variables given = {{"deadline", "x"}, {"customer_name", "Ms Byron"}, {"company_name", "Others"}};
  EXPECT_THAT(refused(render_text(first_reminder(), innovate(), sample_variables(), given)),
              ElementsAre("variables.company_name: must not be given: Postino knows it",
                          "variables.customer_name: must not be given: Postino knows it"));
  const auto sample = render_text(first_reminder(), innovate(), sample_variables(), given, KnownValues::samples);
  ASSERT_TRUE(sample);
  EXPECT_THAT(sample->text.body, HasSubstr("Dear Ms Byron,"));
  // What is not known of this customer can be given.
  Variables known = sample_variables();
  known.erase("invoice_id");
  EXPECT_TRUE(render_text(first_reminder(), innovate(), known, {{"deadline", "x"}, {"invoice_id", "INV-9"}}));
}

TEST(Rendering, TheNameOfTheCompanyComesFromABranding) {
  TemplateVersion version = first_reminder();
  version.branding = "";
  EXPECT_THAT(texts(faults_of(version)),
              ElementsAre("branding: is required, because the template has {{company_name}}, which is of a branding"));
  version.required.push_back("company_name");
  EXPECT_THAT(faults_of(version), IsEmpty()) << "drafts give it";
  Branding branding = innovate();
  branding.company = "";
  branding.html_header = "";
  EXPECT_THAT(texts(faults_of(branding)),
              ElementsAre("company: is required, because text_footer has {{company_name}}"));
}

TEST(Rendering, TellsAllVariablesThatAreMissingOrUnknown) {
  Variables known = sample_variables();
  known.erase("invoice_id");
  EXPECT_THAT(
      refused(render_text(first_reminder(), innovate(), known, {{"dead_line", "x"}, {"reminder_type", "y"}})),
      ElementsAre("variables.dead_line: is not in the template", "variables.reminder_type: is not in the template",
                  "variables.deadline: must be given: the template needs it",
                  "variables.invoice_id: must be given: the template needs it"));
  // Required, but in no text.
  TemplateVersion version = first_reminder();
  version.required.push_back("purpose");
  EXPECT_THAT(refused(render_text(version, innovate(), sample_variables(), {{"deadline", "x"}})),
              ElementsAre("variables.purpose: must be given: the template needs it"));
  EXPECT_TRUE(render_text(version, innovate(), sample_variables(), {{"deadline", "x"}, {"purpose", ""}}));
}

TEST(Rendering, TheCompleteTextKeepsTheRulesOfDrafts) {
  TemplateVersion version = first_reminder();
  version.subject = "{{deadline}}";
  EXPECT_THAT(refused(render_text(version, innovate(), sample_variables(), {{"deadline", ""}})),
              ElementsAre("text.subject: must not be empty"));
  EXPECT_TRUE(render_text(version, innovate(), sample_variables(), {{"deadline", std::string(2'000, 'a')}}));
  EXPECT_THAT(refused(render_text(version, innovate(), sample_variables(), {{"deadline", std::string(2'001, 'a')}})),
              ElementsAre("text.subject: must not be longer than 2000 bytes"));
  EXPECT_THAT(refused(render_text(version, innovate(), sample_variables(), {{"deadline", std::string(10'001, 'a')}})),
              ElementsAre("variables.deadline: must not be longer than 10000 bytes"));
  EXPECT_THAT(refused(render_text(version, innovate(), sample_variables(), {{"deadline", "\xFF"}})),
              ElementsAre("variables.deadline: must be UTF-8 without NUL"));
}

TEST(Rendering, SaysOfAnotherProgramsTemplateWhereItIsBroken) {
  TemplateVersion version = first_reminder();
  version.body = "Dear {{customer_name";
  EXPECT_THAT(refused(render_text(version, innovate(), sample_variables(), {})),
              ::testing::Contains("template_id: is a template whose body has {{ that is not closed by }}, at line 1, "
                                  "column 6"));
}

TEST(Rendering, KnowsForWhichTypeATemplateIs) {
  TemplateVersion version;
  for (const std::string type : {"", "first", "first_reminder"}) {
    version.type = type;
    EXPECT_TRUE(fits_type(version, "first")) << type;
  }
  for (const std::string type : {"second", "firstly", "first_", "_reminder", "second_reminder"}) {
    version.type = type;
    EXPECT_FALSE(fits_type(version, "first")) << type;
  }
}

TEST(Rendering, ATemplateNamesWhatIsWrongWithIt) {
  EXPECT_THAT(faults_of(first_reminder()), IsEmpty());
  TemplateVersion version = first_reminder();
  version.template_id = "a#b";
  version.name = "a\nb";
  version.subject = "Re:\r\nBcc: {{x}}";
  version.body = "{{customer_nam}} {{y";
  version.html = "{{customer_nam}}";
  version.required = {"deadline", "Upper"};
  EXPECT_THAT(texts(faults_of(version)),
              ElementsAre("template_id: must be 1 to 128 letters, digits and - _ . @ +",
                          "name: must not contain line ends or other control characters",
                          "subject: must not contain line ends or other control characters",
                          "required: must have names of 1 to 64 lower-case letters, digits and _, with a letter first",
                          "subject: has {{x}}, which is neither known nor one of `required`",
                          "body: has {{ that is not closed by }}, at line 1, column 18",
                          "html: has {{customer_nam}}, which is neither known nor one of `required`"));
  version = first_reminder();
  version.subject = version.body = "";
  EXPECT_THAT(texts(faults_of(version)), ElementsAre("subject: must not be empty", "body: must not be empty"));
}

TEST(Rendering, TextsHaveALimitTogether) {
  EXPECT_THAT(texts(faults_of(DraftText{"\u00a0", " \n", ""}, "")),
              ElementsAre("subject: must not be blank", "body: must not be blank"));
  DraftText text{"subject", std::string(most_text_bytes - 11, 'a'), "html"};
  EXPECT_THAT(faults_of(text, ""), IsEmpty());
  text.html += "5";
  EXPECT_THAT(texts(faults_of(text, "text.")),
              ElementsAre("text.body: must not be longer than 204800 bytes with subject and html"));
  TemplateVersion version = first_reminder();
  version.html.clear();
  version.body = std::string(most_text_bytes - version.subject.size(), 'a');
  EXPECT_THAT(faults_of(version), IsEmpty());
  version.html = "a";
  EXPECT_THAT(texts(faults_of(version)),
              ElementsAre("body: must not be longer than 204800 bytes with subject and html"));
}

TEST(Rendering, ADraftHasSubjectAndBodyOfSoundText) {
  EXPECT_THAT(texts(faults_of(DraftText{}, "")), ElementsAre("subject: must not be empty", "body: must not be empty"));
  EXPECT_THAT(texts(faults_of(DraftText{"Hello\nBcc: all@example.org", "b\xFF", std::string("\0", 1)}, "")),
              ElementsAre("subject: must not contain line ends or other control characters",
                          "body: must be UTF-8 without NUL", "html: must be UTF-8 without NUL"));
  // Braces mean nothing in a text that is complete.
  EXPECT_THAT(faults_of(DraftText{"{{", "}}", "<b>"}, ""), IsEmpty());
}

TEST(Rendering, ABrandingHasOnlyWhatEveryTemplateKnows) {
  EXPECT_THAT(faults_of(innovate()), IsEmpty());
  Branding branding = innovate();
  branding.name = "";
  branding.from = "nobody";
  branding.company = "a\tb";
  branding.text_footer = "{{deadline}}";
  branding.html_footer = "}}";
  EXPECT_THAT(texts(faults_of(branding)),
              ElementsAre("name: must be 1 to 128 letters, digits and - _ . @ +", HasSubstr("from: "),
                          "company: must not contain line ends or other control characters",
                          "text_footer: has {{deadline}}, which is not known",
                          "html_footer: has }} without {{ before it, at line 1, column 1"));
}

TEST(Rendering, VariablesHaveLimits) {
  Variables many;
  for (std::size_t i = 0; i < most_variables; ++i) many["v" + std::to_string(i)] = std::string(longest_variable, 'a');
  EXPECT_THAT(faults_of(many), IsEmpty());
  many["more"] = "";
  EXPECT_THAT(texts(faults_of(many)), ElementsAre("variables: must not be more than 100"));
}

}  // namespace
}  // namespace postino::reminders
