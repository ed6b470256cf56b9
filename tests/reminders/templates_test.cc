// Templates with their versions, overrides and branding, on a real store.
#include "base/many_threads_testing.h"
#include "drafting.h"
#include "item/attribute_text.h"
#include "reminders/record/template_item.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TemplatesOnStore : public Drafting {
 protected:
  // "2 active", the newest first.
  std::vector<std::string> versions(int limit = 200) {
    std::vector<std::string> texts;
    const auto read = [&](const PageRequest& page) { return templates_.versions("reminder_first", page, ""); };
    for (const TemplateVersion& version : all_pages<TemplateVersion>(read, limit))
      texts.push_back(std::to_string(version.version) + " " + std::string(name_of(version.status)));
    return texts;
  }
  int active(const std::string& tenant = "") {
    const auto found = templates_.find("reminder_first", std::nullopt, tenant);
    return found ? found->version : 0;
  }
  std::vector<std::string> listed(int limit = 200) {
    std::vector<std::string> texts;
    const auto read = [&](const PageRequest& page) { return templates_.list(page, ""); };
    for (const TemplateSummary& each : all_pages<TemplateSummary>(read, limit))
      texts.push_back(each.template_id + " " + std::to_string(each.active_version) + " of " +
                      std::to_string(each.latest_version));
    return texts;
  }
  // As another program writes it by the rules of the seed.
  void put_foreign(int version, const std::string& status, const std::string& id = "reminder_first") {
    store_.put({{"PK", "TEMPLATE#" + id},
                {"SK", "VERSION#" + std::to_string(version)},
                {"GSI1PK", "STATUS#" + status},
                {"GSI1SK", "2025-09-21T12:00:00Z"},
                {"template_id", id},
                {"template_name", "First Reminder Template"},
                {"template_type", "first_reminder"},
                {"subject_template", "Payment Reminder: Invoice {{invoice_id}} - Innovate AI"},
                {"body_template", "Dear {{customer_name}}, version " + std::to_string(version)},
                {"status", status},
                {"created_date", "2025-09-21T12:00:00Z"},
                {"version", version},
                {"branding", "innovate_ai"},
                {"note", "of another program"}});
  }
};

TEST_F(TemplatesOnStore, TheFirstVersionIsActiveAndLaterOnesWait) {
  const auto first = templates_.add_version(template_text("one"), actor());
  ASSERT_TRUE(succeeded(first));
  EXPECT_EQ(first->version, 1);
  EXPECT_EQ(first->status, TemplateStatus::active);
  EXPECT_EQ(first->created_by, "user_123");
  EXPECT_EQ(first->created_at, test_start);
  add_template("two");
  add_template("three");
  EXPECT_THAT(versions(), ElementsAre("3 inactive", "2 inactive", "1 active"));
  EXPECT_EQ(templates_.find("reminder_first", std::nullopt, "")->body, "one");
  EXPECT_EQ(templates_.find("reminder_first", 3, "")->body, "three");
}

TEST_F(TemplatesOnStore, OneIsActiveForwardsAndBack) {
  for (const std::string body : {"one", "two", "three"}) add_template(body);
  ASSERT_TRUE(succeeded(templates_.activate("reminder_first", 3, actor())));
  EXPECT_THAT(versions(), ElementsAre("3 active", "2 inactive", "1 inactive"));
  const auto back = templates_.activate("reminder_first", 1, actor());
  ASSERT_TRUE(succeeded(back));
  EXPECT_EQ(back->status, TemplateStatus::active);
  EXPECT_THAT(versions(), ElementsAre("3 inactive", "2 inactive", "1 active"));
  // As other programs see it.
  const item::Item one = *store_.get("TEMPLATE#reminder_first", "VERSION#1");
  EXPECT_EQ(item::attribute_text(one, "status"), "active");
  EXPECT_EQ(item::attribute_text(one, "GSI1PK"), "STATUS#active");
  const item::Item three = *store_.get("TEMPLATE#reminder_first", "VERSION#3");
  EXPECT_EQ(item::attribute_text(three, "status"), "inactive");
  EXPECT_EQ(item::attribute_text(three, "GSI1PK"), "STATUS#inactive");
}

TEST_F(TemplatesOnStore, MoreThanNineVersionsKeepTheirOrder) {
  for (int i = 1; i <= 11; ++i) add_template(std::to_string(i));
  for (const int limit : {1, 3, 11, 200}) {
    const auto all = versions(limit);
    ASSERT_EQ(all.size(), 11U);
    EXPECT_EQ(all.front(), "11 inactive");
    EXPECT_EQ(all[1], "10 inactive");
    EXPECT_EQ(all.back(), "1 active");
  }
}

TEST_F(TemplatesOnStore, WhatIsUnknownIsRefused) {
  EXPECT_TRUE(is_refused(templates_.find("reminder_first", std::nullopt, ""), RefusalKind::unknown_template));
  EXPECT_TRUE(is_refused(templates_.versions("reminder_first", {}, ""), RefusalKind::unknown_template));
  EXPECT_TRUE(is_refused(templates_.activate("reminder_first", 1, actor()), RefusalKind::unknown_template));
  add_template();
  EXPECT_TRUE(is_refused(templates_.find("reminder_first", 2, ""), RefusalKind::unknown_template));
  EXPECT_TRUE(is_refused(templates_.activate("reminder_first", 2, actor()), RefusalKind::unknown_template));
  EXPECT_TRUE(is_refused(templates_.activate("reminder_first", 0, actor()), RefusalKind::unknown_template));
  EXPECT_EQ(active(), 1);
}

TEST_F(TemplatesOnStore, AnUnclosedBraceIsRefusedAndNothingChanged) {
  const auto refused = templates_.add_version(template_text("Dear {{customer_name"), actor());
  EXPECT_TRUE(is_refused(refused, RefusalKind::invalid));
  EXPECT_THAT(faulty_fields(refused), ElementsAre("body"));
  EXPECT_EQ(refusal_text(refused), "body has {{ that is not closed by }}, at line 1, column 6");
  TemplateVersion with_branding = template_text();
  with_branding.branding = "innovate_ai";
  EXPECT_THAT(faulty_fields(templates_.add_version(with_branding, actor())), ElementsAre("branding"));
  EXPECT_THAT(store_.sort_keys("TEMPLATE#reminder_first"), IsEmpty());
}

TEST_F(TemplatesOnStore, AreListedNewestFirst) {
  for (const std::string id : {"a", "b", "c"}) {
    TemplateVersion version = template_text();
    version.template_id = id;
    ASSERT_TRUE(succeeded(templates_.add_version(version, actor())));
    store_.time().advance(1s);
  }
  TemplateVersion second = template_text();
  second.template_id = "a";
  ASSERT_TRUE(succeeded(templates_.add_version(second, actor())));
  for (const int limit : {1, 2, 200}) EXPECT_THAT(listed(limit), ElementsAre("c 1 of 1", "b 1 of 1", "a 1 of 2"));
  ASSERT_TRUE(succeeded(templates_.activate("a", 2, actor())));
  EXPECT_THAT(listed(), ElementsAre("a 2 of 2", "c 1 of 1", "b 1 of 1"));
}

TEST_F(TemplatesOnStore, OfTenantsAreApart) {
  add_template("of the company");
  EXPECT_TRUE(is_refused(templates_.find("reminder_first", std::nullopt, "acme"), RefusalKind::unknown_template));
  add_template("of acme", "acme");
  EXPECT_EQ(templates_.find("reminder_first", std::nullopt, "acme")->body, "of acme");
  EXPECT_EQ(templates_.find("reminder_first", std::nullopt, "")->body, "of the company");
  EXPECT_EQ(templates_.list({}, "acme")->entries.size(), 1U);
  EXPECT_EQ(templates_.list({}, "other")->entries.size(), 0U);
}

TEST_F(TemplatesOnStore, OfAnotherProgramAreUnderstood) {
  put_foreign(1, "inactive");
  put_foreign(2, "active");
  EXPECT_EQ(active(), 2);
  EXPECT_THAT(versions(), ElementsAre("2 active", "1 inactive"));
  EXPECT_THAT(listed(), ElementsAre("reminder_first 2 of 2"));
  add_customer("cust_001");
  const auto draft = drafts_.make(from_template("cust_001"), actor());
  ASSERT_TRUE(succeeded(draft));
  EXPECT_EQ(draft->draft.text.subject, "Payment Reminder: Invoice INV-001 - Innovate AI");
  EXPECT_EQ(draft->draft.text.body, "Dear Ada Lovelace, version 2");
  EXPECT_EQ(draft->draft.branding, "innovate_ai");

  // Ours goes on from there.
  add_template("ours");
  EXPECT_THAT(versions(), ElementsAre("3 inactive", "2 active", "1 inactive"));
  ASSERT_TRUE(succeeded(templates_.activate("reminder_first", 3, actor())));
  EXPECT_THAT(versions(), ElementsAre("3 active", "2 inactive", "1 inactive"));
  EXPECT_EQ(item::attribute_text(*store_.get("TEMPLATE#reminder_first", "VERSION#2"), "note"), "of another program");
}

TEST_F(TemplatesOnStore, AnotherProgramMayActivateAndAdd) {
  add_template("one");
  // It adds a version, and leaves the earlier one active.
  put_foreign(2, "active");
  EXPECT_EQ(active(), 2);
  EXPECT_THAT(versions(), ElementsAre("2 active", "1 inactive"));
  EXPECT_THAT(listed(), ElementsAre("reminder_first 2 of 2"));
  add_template("three");
  EXPECT_EQ(active(), 2);
  // It takes the active one out of use.
  put_foreign(2, "inactive");
  EXPECT_EQ(active(), 1);
  // Activating one takes all others out of use.
  put_foreign(2, "active");
  ASSERT_TRUE(succeeded(templates_.activate("reminder_first", 3, actor())));
  for (const std::string sort : {"VERSION#1", "VERSION#2"})
    EXPECT_EQ(item::attribute_text(*store_.get("TEMPLATE#reminder_first", sort), "status"), "inactive");
  put_foreign(3, "inactive");
  EXPECT_TRUE(is_refused(templates_.find("reminder_first", std::nullopt, ""), RefusalKind::wrong_state));
}

TEST_F(TemplatesOnStore, ABrokenOneOfAnotherProgramIsNotActivatedAndHidesNoOthers) {
  put_foreign(1, "active");
  item::Item broken = *store_.get("TEMPLATE#reminder_first", "VERSION#1");
  broken.set("SK", "VERSION#2");
  broken.set("GSI1PK", "STATUS#inactive");
  broken.set("status", "inactive");
  broken.set("body_template", "Dear {{customer_name");
  store_.put(broken);
  EXPECT_TRUE(is_refused(templates_.activate("reminder_first", 2, actor()), RefusalKind::wrong_state));
  EXPECT_EQ(active(), 1);

  broken.set("PK", "TEMPLATE#odd");
  broken.set("GSI1PK", "STATUS#active");
  broken.set("status", "active");
  broken.set("body_template", 5);
  store_.put(broken);
  EXPECT_THAT(listed(), ::testing::ElementsAre("reminder_first 1 of 2"));
  EXPECT_EQ(templates_.list({}, "")->unreadable, 1);
  EXPECT_TRUE(is_refused(templates_.find("odd", std::nullopt, ""), RefusalKind::corrupt));
}

TEST_F(TemplatesOnStore, AVersionThatCannotBeReadLeavesTheOthersUsable) {
  add_customer("cust_001");
  add_template();
  item::Item broken = *store_.get("TEMPLATE#reminder_first", "VERSION#1");
  broken.set("SK", "VERSION#2");
  broken.set("GSI1PK", "STATUS#inactive");
  broken.set("status", "inactive");
  broken.set("subject_template", 7);
  store_.put(broken);
  EXPECT_EQ(active(), 1);
  EXPECT_THAT(listed(), ::testing::ElementsAre("reminder_first 1 of 2"));
  EXPECT_FALSE(made(from_template("cust_001")).empty());
  const auto versions = templates_.versions("reminder_first", {}, "");
  ASSERT_TRUE(succeeded(versions));
  ASSERT_EQ(versions->entries.size(), 1U);
  EXPECT_EQ(versions->entries.front().version, 1);
  EXPECT_EQ(versions->unreadable, 1);
  EXPECT_TRUE(is_refused(templates_.activate("reminder_first", 2, actor()), RefusalKind::corrupt));
  const auto added = templates_.add_version(template_text("Dear {{customer_name}}"), actor());
  ASSERT_TRUE(succeeded(added));
  EXPECT_EQ(added->version, 3);
  EXPECT_TRUE(succeeded(templates_.activate("reminder_first", 3, actor())));
  EXPECT_EQ(active(), 3);
}

TEST_F(TemplatesOnStore, AreAnsweredWithTheTimeThatIsKept) {
  store_.time().advance(123ms);
  const auto added = templates_.add_version(template_text(), actor());
  ASSERT_TRUE(succeeded(added));
  EXPECT_EQ(added->created_at, templates_.find("reminder_first", 1, "")->created_at);
  Branding branding;
  branding.name = "example";
  const auto put = templates_.put_branding(branding, actor());
  ASSERT_TRUE(succeeded(put));
  EXPECT_EQ(put->updated_at, templates_.find_branding("example", "")->updated_at);
}

TEST_F(TemplatesOnStore, AnOverrideIsForOneCustomer) {
  add_customer("cust_001");
  add_customer("cust_002");
  TemplateVersion own = template_text("For you alone, {{customer_name}}");
  own.customer_id = "cust_001";
  EXPECT_TRUE(is_refused(templates_.put_override(own, actor()), RefusalKind::unknown_template));
  add_template("for all");
  ASSERT_TRUE(succeeded(templates_.put_override(own, actor())));
  EXPECT_EQ(templates_.in_use("reminder_first", "cust_001", "")->body, "For you alone, {{customer_name}}");
  EXPECT_EQ(templates_.in_use("reminder_first", "cust_002", "")->body, "for all");
  EXPECT_TRUE(store_.get("CUSTOMER#cust_001", "TEMPLATE#reminder_first").has_value());
  EXPECT_THAT(listed(), ElementsAre("reminder_first 1 of 1"));
  EXPECT_EQ(drafts_.make(from_template("cust_001"), actor())->draft.text.body, "For you alone, Ada Lovelace");

  ASSERT_TRUE(succeeded(templates_.remove_override("cust_001", "reminder_first", actor())));
  EXPECT_EQ(templates_.in_use("reminder_first", "cust_001", "")->body, "for all");
  EXPECT_TRUE(
      is_refused(templates_.remove_override("cust_001", "reminder_first", actor()), RefusalKind::unknown_template));
  own.customer_id = "nobody";
  EXPECT_TRUE(is_refused(templates_.put_override(own, actor()), RefusalKind::unknown_customer));
  EXPECT_THAT(store_.sort_keys("CUSTOMER#nobody"), IsEmpty());
  own.customer_id = "";
  EXPECT_THAT(faulty_fields(templates_.put_override(own, actor())), ElementsAre("customer_id"));
}

TEST_F(TemplatesOnStore, AnotherProgramsOverrideIsUnderstood) {
  add_template("for all");
  item::Item own = {{"PK", "CUSTOMER#cust_001"},        {"SK", "TEMPLATE#reminder_first"}, {"GSI1PK", "STATUS#active"},
                    {"GSI1SK", "2025-09-21T12:00:00Z"}, {"subject_template", "s"},         {"body_template", "own"}};
  store_.put(own);
  EXPECT_EQ(templates_.in_use("reminder_first", "cust_001", "")->body, "own");
  EXPECT_THAT(listed(), ElementsAre("reminder_first 1 of 1"));
  own.set("status", "inactive");
  store_.put(own);
  EXPECT_EQ(templates_.in_use("reminder_first", "cust_001", "")->body, "for all");
}

TEST_F(TemplatesOnStore, ATemplateIsForRemindersThatThereAre) {
  TemplateVersion version = template_text();
  for (const std::string type : {"fourth", "fourth_reminder", "first_"}) {
    version.type = type;
    EXPECT_THAT(faulty_fields(templates_.add_version(version, actor())), ElementsAre("type")) << type;
  }
  EXPECT_TRUE(is_refused(templates_.find("reminder_first", std::nullopt, ""), RefusalKind::unknown_template));
  for (const std::string type : {"", "first", "final_reminder"}) {
    version.type = type;
    EXPECT_TRUE(succeeded(templates_.add_version(version, actor()))) << type;
  }
  add_customer("cust_001");
  version.type = "fourth";
  version.customer_id = "cust_001";
  EXPECT_THAT(faulty_fields(templates_.put_override(version, actor())), ElementsAre("type"));
}

TEST_F(TemplatesOnStore, ABrandingOfATemplateHasTheCompanyThatItNames) {
  Branding branding;
  branding.name = "innovate_ai";
  ASSERT_TRUE(succeeded(templates_.put_branding(branding, actor())));
  TemplateVersion version = template_text("Yours, {{company_name}}");
  version.branding = "innovate_ai";
  EXPECT_THAT(faulty_fields(templates_.add_version(version, actor())), ElementsAre("branding"));
  branding.company = "Innovate AI";
  ASSERT_TRUE(succeeded(templates_.put_branding(branding, actor())));
  EXPECT_TRUE(succeeded(templates_.add_version(version, actor())));
}

TEST_F(TemplatesOnStore, BrandingSurroundsTheText) {
  Branding branding;
  branding.name = "innovate_ai";
  branding.company = "Innovate AI";
  branding.from = "billing@example.com";
  branding.text_footer = "{{company_name}}";
  ASSERT_TRUE(succeeded(templates_.put_branding(branding, actor())));
  TemplateVersion version = template_text("Dear {{customer_name}}");
  version.branding = "innovate_ai";
  ASSERT_TRUE(succeeded(templates_.add_version(version, actor())));
  const auto preview = templates_.preview("reminder_first", std::nullopt, {}, "");
  ASSERT_TRUE(succeeded(preview));
  EXPECT_EQ(preview->text.body, "Dear Ada Lovelace\n\nInnovate AI");
  EXPECT_EQ(preview->from, "billing@example.com");
  EXPECT_THAT(faulty_fields(templates_.preview("reminder_first", std::nullopt, {{"x", "y"}}, "")),
              ElementsAre("variables.x"));
  EXPECT_TRUE(is_refused(templates_.preview("reminder_first", 2, {}, ""), RefusalKind::unknown_template));

  EXPECT_EQ(templates_.find_branding("innovate_ai", "")->company, "Innovate AI");
  EXPECT_TRUE(is_refused(templates_.find_branding("innovate_ai", "acme"), RefusalKind::unknown_branding));
  branding.name = "another";
  ASSERT_TRUE(succeeded(templates_.put_branding(branding, actor())));
  std::vector<std::string> names;
  const auto read = [&](const PageRequest& page) { return templates_.brandings(page, ""); };
  for (const Branding& each : all_pages<Branding>(read, 1)) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("another", "innovate_ai"));
  item::Item broken = *store_.get("BRANDING#another", "CURRENT");
  broken.set("company_name", 5);
  store_.put(broken);
  const auto rest = templates_.brandings({}, "");
  ASSERT_TRUE(succeeded(rest));
  ASSERT_EQ(rest->entries.size(), 1U);
  EXPECT_EQ(rest->entries.front().name, "innovate_ai");
  EXPECT_EQ(rest->unreadable, 1);
  branding.text_footer = "{{unknown}}";
  EXPECT_THAT(faulty_fields(templates_.put_branding(branding, actor())), ElementsAre("text_footer"));
}

TEST_F(TemplatesOnStore, ConcurrentAdditionsAndActivationsLeaveOneActive) {
  add_template("first");
  base::run_threads(8, [&](int thread) {
    for (int i = 0; i < 5; ++i) {
      const auto added = templates_.add_version(template_text("t" + std::to_string(thread)), actor());
      EXPECT_TRUE(added || added.error().kind == RefusalKind::busy);
      if (!added) continue;
      const auto activated = templates_.activate("reminder_first", added->version, actor());
      EXPECT_TRUE(activated || activated.error().kind == RefusalKind::busy);
    }
  });
  const auto all = versions();
  EXPECT_EQ(std::ranges::count_if(all, [](const std::string& text) { return text.ends_with(" active"); }), 1);
  int stored_active = 0;
  for (const item::Item& item : store_.scan("EmailTrackingTable"))
    stored_active += item::attribute_text(item, "status") == "active" ? 1 : 0;
  EXPECT_EQ(stored_active, 1);
}

}  // namespace
}  // namespace postino::reminders
