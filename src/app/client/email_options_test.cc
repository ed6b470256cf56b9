#include "app/client/email_options.h"

#include <gmock/gmock.h>

namespace postino::app {
namespace {

using ::testing::HasSubstr;

EmailOptions minimal_options() {
  EmailOptions options;
  options.from = "a@example.org";
  options.to = {"b@example.org"};
  options.subject = "Hello";
  options.text = "Hi";
  return options;
}

TEST(EmailOptions, BecomesAPayload) {
  EmailOptions options = minimal_options();
  options.to.emplace_back("c@example.org");
  options.headers = {"X-Campaign:  spring: 1 ", "X-Empty:"};
  options.tags = {"t\"1"};
  ASSERT_TRUE(check_email_options(options));
  EXPECT_EQ(to_payload(options).value(),
            R"({"from":"a@example.org","to":["b@example.org","c@example.org"],"subject":"Hello","body_text":"Hi",)"
            R"("custom_headers":{"X-Campaign":"spring: 1","X-Empty":""},"tags":["t\"1"]})");
}

TEST(EmailOptions, MissingFlagsAreNamed) {
  EXPECT_TRUE(check_email_options(minimal_options()));
  const auto rule_without = [](auto EmailOptions::*member) {
    EmailOptions options = minimal_options();
    options.*member = {};
    return check_email_options(options).error().message;
  };
  EXPECT_EQ(rule_without(&EmailOptions::from), "--from is required");
  EXPECT_EQ(rule_without(&EmailOptions::to), "--to is required");
  EXPECT_EQ(rule_without(&EmailOptions::subject), "--subject is required");
  EXPECT_THAT(rule_without(&EmailOptions::text), HasSubstr("--html-file is required"));
}

TEST(EmailOptions, FlagsThatCannotBeAreRefused) {
  const auto with = [](auto EmailOptions::*member, auto value) {
    EmailOptions options = minimal_options();
    options.*member = value;
    return check_email_options(options).has_value();
  };
  using Texts = std::vector<std::string>;
  EXPECT_FALSE(with(&EmailOptions::headers, Texts{"no colon"}));
  EXPECT_FALSE(with(&EmailOptions::headers, Texts{" : no name"}));
  EXPECT_FALSE(with(&EmailOptions::attachments, Texts{"-"}));
  EXPECT_FALSE(with(&EmailOptions::text_file, "beside --text"));
  EmailOptions options = minimal_options();
  options.text.clear();
  options.text_file = options.html_file = "-";
  EXPECT_FALSE(check_email_options(options));
  options = minimal_options();
  options.attachments = {"/nowhere/at/all"};
  EXPECT_THAT(to_payload(options).error().message, HasSubstr("cannot read /nowhere/at/all"));
}

}  // namespace
}  // namespace postino::app
