#include "reminders/record/template_item.h"

#include <gmock/gmock.h>

#include "item/json_codec.h"

namespace postino::reminders {
namespace {

TemplateVersion full_template() {
  TemplateVersion version;
  version.template_id = "reminder_first";
  version.version = 2;
  version.name = "First Reminder Template";
  version.type = "first_reminder";
  version.subject = "Payment Reminder: Invoice {{invoice_id}} - Innovate AI";
  version.body = "Dear {{customer_name}}...";
  version.html = "<p>{{note}}</p>";
  version.required = {"note"};
  version.branding = "innovate_ai";
  version.status = TemplateStatus::active;
  version.created_by = "user_123";
  version.created_at = *parse_seed_time("2025-09-21T12:00:00Z");
  return version;
}

void expect_same(const TemplateVersion& a, const TemplateVersion& b) {
  const auto all = [](const TemplateVersion& v) {
    return std::tie(v.template_id, v.version, v.name, v.type, v.subject, v.body, v.html, v.required, v.branding,
                    v.status, v.customer_id, v.created_by, v.created_at);
  };
  EXPECT_EQ(all(a), all(b));
}

TEST(TemplateItem, HasTheAttributesOfTheSeed) {
  EXPECT_EQ(
      item::to_json(template_item(Keys(""), full_template())),
      R"({"GSI1PK":{"S":"STATUS#active"},"GSI1SK":{"S":"2025-09-21T12:00:00Z"},"PK":{"S":"TEMPLATE#reminder_first"},)"
      R"("SK":{"S":"VERSION#2"},"body_template":{"S":"Dear {{customer_name}}..."},"branding":{"S":"innovate_ai"},)"
      R"("created_by":{"S":"user_123"},"created_date":{"S":"2025-09-21T12:00:00Z"},)"
      R"("html_template":{"S":"<p>{{note}}</p>"},"required_variables":{"L":[{"S":"note"}]},"status":{"S":"active"},)"
      R"("subject_template":{"S":"Payment Reminder: Invoice {{invoice_id}} - Innovate AI"},)"
      R"("template_id":{"S":"reminder_first"},"template_name":{"S":"First Reminder Template"},)"
      R"("template_type":{"S":"first_reminder"},"version":{"N":"2"}})");
}

TEST(TemplateItem, ReadsWhatItWrote) {
  for (const std::string tenant : {"", "acme", "TEMPLATE"}) {
    const Keys keys(tenant, 4);
    TemplateVersion version = full_template();
    expect_same(read_template(template_item(keys, version)).value(), version);
    version.customer_id = "cust_001";
    version.version = 0;
    const item::Item own = template_item(keys, version);
    EXPECT_EQ(own.find("PK")->as<std::string>(), keys.customer("cust_001"));
    EXPECT_EQ(own.find("SK")->as<std::string>(), "TEMPLATE#reminder_first");
    EXPECT_TRUE(own.find("GSI1PK")->as<std::string>().starts_with(Keys(tenant).status("active", "")));
    EXPECT_EQ(own.find("GSI1SK")->as<std::string>(), "2025-09-21T12:00:00Z");
    EXPECT_EQ(own.find("version")->as<item::Number>(), item::Number(1));
    expect_same(read_template(own).value(), version);
  }
}

// As the seed shows it.
item::Item seed_template() {
  return item::parse_item(
             R"({"PK":{"S":"TEMPLATE#reminder_first"},"SK":{"S":"VERSION#1"},"GSI1PK":{"S":"STATUS#active"},
    "GSI1SK":{"S":"2025-09-21T12:00:00Z"},"template_id":{"S":"reminder_first"},
    "template_name":{"S":"First Reminder Template"},"template_type":{"S":"first_reminder"},
    "subject_template":{"S":"Payment Reminder: Invoice {{invoice_id}} - Innovate AI"},
    "body_template":{"S":"Dear {{customer_name}}..."},"status":{"S":"active"},"created_date":{"S":"2025-09-21T12:00:00Z"},
    "version":{"N":"1"},"branding":{"S":"innovate_ai"}})")
      .value();
}

TEST(TemplateItem, UnderstandsThatOfTheSeed) {
  TemplateVersion expected = full_template();
  expected.version = 1;
  expected.html.clear();
  expected.required.clear();
  expected.created_by.clear();
  expect_same(read_template(seed_template()).value(), expected);

  // With the fewest attributes.
  const auto bare = read_template(item::Item{{"PK", "TEMPLATE#a"}, {"SK", "VERSION#7"}}).value();
  EXPECT_EQ(bare.template_id, "a");
  EXPECT_EQ(bare.version, 7);
  EXPECT_EQ(bare.status, TemplateStatus::inactive);
  const auto own = read_template(item::Item{{"PK", "CUSTOMER#c"}, {"SK", "TEMPLATE#a"}}).value();
  EXPECT_EQ(own.customer_id, "c");
  EXPECT_EQ(own.template_id, "a");
  EXPECT_EQ(own.status, TemplateStatus::active);
}

TEST(TemplateItem, SaysWhatItCannotRead) {
  item::Item broken = seed_template();
  broken.set("body_template", 5);
  EXPECT_EQ(read_template(broken).error().message,
            "the record TEMPLATE#reminder_first/VERSION#1 cannot be read: body_template must be a string");
  broken = seed_template();
  broken.set("created_date", "yesterday");
  EXPECT_EQ(read_template(broken).error().code, base::ErrorCode::corrupt);
}

TEST(TemplateItem, VersionsHaveOneWayToBeWritten) {
  EXPECT_EQ(version_of_sort("VERSION#1"), 1);
  EXPECT_EQ(version_of_sort("VERSION#1000000000"), 1'000'000'000);
  for (const std::string sort : {"VERSION#", "VERSION#0", "VERSION#01", "VERSION#-1", "VERSION#1a", "VERSION# 1",
                                 "CURRENT", "VERSION#1000000001", "VERSION#99999999999"})
    EXPECT_EQ(version_of_sort(sort), std::nullopt) << sort;
}

TEST(TemplateItem, OfNumbersAndBrandingReadsWhatItWrote) {
  const auto numbers = read_numbers(numbers_item(Keys("acme"), "a", {.active = 2, .latest = 3, .changes = 4})).value();
  EXPECT_EQ(std::tuple(numbers.active, numbers.latest, numbers.changes), std::tuple(2, 3, 4));

  Branding branding{"innovate_ai", "a@example.com", "b@example.com", "Innovate",
                    "text",        "<h1>",          "<hr>",          *parse_seed_time("2025-09-21T12:00:00Z")};
  const item::Item item = branding_item(Keys("acme"), branding);
  EXPECT_EQ(item.find("PK")->as<std::string>(), "TENANT#acme#BRANDING#innovate_ai");
  EXPECT_EQ(item.find("GSI1PK")->as<std::string>(), "TENANT#acme#BRANDINGS");
  const auto all = [](const Branding& b) {
    return std::tie(b.name, b.from, b.reply_to, b.company, b.text_footer, b.html_header, b.html_footer, b.updated_at);
  };
  const Branding read = read_branding(item).value();
  EXPECT_EQ(all(read), all(branding));
}

}  // namespace
}  // namespace postino::reminders
