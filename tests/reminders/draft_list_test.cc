// Which drafts are listed, and what they and the dry run say of the rules, on a real store.
#include <set>

#include "drafting.h"
#include "item/attribute_text.h"
#include "reminders/audit.h"
#include "reminders/drafts.h"
#include "reminders/listing.h"
#include "reminders/summary.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class DraftLists : public Drafting {
 protected:
  explicit DraftLists(ReminderTables tables = {}) : Drafting(std::move(tables)) {}

  std::vector<std::string> listed(const DraftFilter& filter, int limit = 200, const std::string& tenant = "") {
    std::vector<std::string> ids;
    const auto read = [&](const PageRequest& page) { return drafts_.list(filter, page, tenant); };
    for (const ShownDraft& shown : all_pages<ShownDraft>(read, limit)) ids.push_back(shown.draft.id);
    return ids;
  }
  static DraftFilter of_status(std::optional<DraftStatus> status) {
    DraftFilter filter;
    filter.status = status;
    return filter;
  }
};

class ShardedDraftLists : public DraftLists {
 protected:
  ShardedDraftLists() : DraftLists({.tracking = "Reminders", .shards = 8}) {}
};

TEST_F(DraftLists, PendingOnesNewestFirst) {
  add_customer("a");
  add_customer("b");
  std::vector<std::string> newest_first;
  for (const std::string customer : {"a", "b", "a", "b", "a"}) {
    newest_first.insert(newest_first.begin(), made(with_text(customer)));
    store_.time().advance(1s);
  }
  for (const int limit : {1, 2, 5, 200}) EXPECT_EQ(listed({}, limit), newest_first);
  EXPECT_THAT(listed({}, 200, "acme"), IsEmpty());
  ASSERT_TRUE(succeeded(drafts_.reject(newest_first[1], 1, "no", actor())));
  EXPECT_EQ(listed(of_status(DraftStatus::rejected)), std::vector{newest_first[1]});
  EXPECT_EQ(listed(of_status(std::nullopt), 2), newest_first);
  newest_first.erase(newest_first.begin() + 1);
  EXPECT_EQ(listed({}), newest_first);
}

TEST_F(DraftLists, OfACustomerOrAType) {
  add_customer("a");
  add_customer("b");
  const std::string first = made(with_text("a"));
  store_.time().advance(1s);
  const std::string second = made(with_text("a", "second"));
  const std::string other = made(with_text("b"));
  ASSERT_TRUE(succeeded(drafts_.reject(first, 1, "no", actor())));
  DraftFilter filter;
  filter.customer_id = "a";
  EXPECT_THAT(listed(filter), ElementsAre(second));
  filter.status = std::nullopt;
  for (const int limit : {1, 200}) EXPECT_THAT(listed(filter, limit), ElementsAre(second, first));
  filter.reminder_type = "first";
  EXPECT_THAT(listed(filter), ElementsAre(first));
  filter = {};
  filter.reminder_type = "first";
  EXPECT_THAT(listed(filter), ElementsAre(other));
  // A cursor belongs to the list with its filter.
  const auto page = drafts_.list({}, {.cursor = "", .limit = 1}, "");
  ASSERT_TRUE(succeeded(page));
  ASSERT_NE(page->cursor, "");
  EXPECT_THAT(faulty_fields(drafts_.list(filter, {page->cursor, 1}, "")), ElementsAre("cursor"));
  EXPECT_THAT(faulty_fields(drafts_.list({}, {page->cursor, 1}, "acme")), ElementsAre("cursor"));
}

TEST_F(DraftLists, ExpiredOnesAreNoLongerPending) {
  add_customer("a");
  const std::string old = made(with_text("a"));
  store_.time().advance(1h);
  const std::string young = made(with_text("a"));
  store_.time().advance(30 * 24h - 1h - 1ms);
  EXPECT_THAT(listed({}), ElementsAre(young, old));
  EXPECT_THAT(listed(of_status(DraftStatus::expired)), IsEmpty());
  store_.time().advance(1ms);
  EXPECT_THAT(listed({}), ElementsAre(young));
  EXPECT_THAT(listed(of_status(DraftStatus::expired)), ElementsAre(old));
  store_.time().advance(365 * 24h);
  EXPECT_THAT(listed({}), IsEmpty());
  EXPECT_THAT(listed(of_status(DraftStatus::expired)), ElementsAre(young, old));
}

TEST_F(ShardedDraftLists, AllShardsAreOneListWithThatOfOtherPrograms) {
  std::vector<std::string> newest_first;
  for (int i = 0; i < 30; ++i) {
    const std::string customer = "c" + std::to_string(i);
    if (i % 5 == 0) {
      store_.put(seed_draft(customer, store_.time().now(), "first"));
      newest_first.insert(newest_first.begin(), key_time(store_.time().now()) + "_" + customer);
    } else {
      add_customer(customer);
      newest_first.insert(newest_first.begin(), made(with_text(customer)));
    }
    store_.time().advance(1s);
  }
  for (const int limit : {1, 7, 200}) EXPECT_EQ(listed({}, limit), newest_first);
  std::set<std::string> partitions;
  for (const item::Item& item : store_.scan("Reminders", "GSI1"))
    if (item::attribute_text(item, "status") == "draft") partitions.insert(item::attribute_text(item, "GSI1PK"));
  EXPECT_GT(partitions.size(), 4U);
  EXPECT_TRUE(partitions.contains("STATUS#draft"));
}

TEST_F(DraftLists, OneThatCannotBeReadIsToldAndHidesNoOthers) {
  store_.put(seed_draft("a", test_start, "first"));
  item::Item broken = seed_draft("b", test_start + 1s, "first");
  broken.set("email_subject", 5);
  store_.put(broken);
  const auto page = drafts_.list({}, {}, "");
  ASSERT_TRUE(succeeded(page));
  ASSERT_EQ(page->entries.size(), 2U);
  EXPECT_EQ(page->entries[0].draft.id, "20260102_030406_b");
  EXPECT_EQ(page->entries[0].draft.customer_id, "b");
  EXPECT_EQ(page->entries[0].draft.created_at, test_start + 1s);
  EXPECT_EQ(page->entries[0].stopped,
            "the record CUSTOMER#b/DRAFT#20260102_030406_b cannot be read: email_subject must be a string");
  EXPECT_EQ(page->entries[1].draft.id, "20260102_030405_a");
  EXPECT_TRUE(is_refused(drafts_.find("20260102_030406_b", ""), RefusalKind::corrupt));
}

TEST_F(DraftLists, OfAnotherProgramAreUnderstoodAndChanged) {
  item::Item foreign = seed_draft("cust_001", test_start, "first");
  foreign.set("note", "of another program");
  store_.put(foreign);
  const std::string id = "20260102_030405_cust_001";
  const auto shown = drafts_.find(id, "");
  ASSERT_TRUE(succeeded(shown));
  EXPECT_EQ(shown->draft.customer_name, "John Doe");
  EXPECT_EQ(shown->draft.text.body, "Dear John...");
  EXPECT_EQ(shown->draft.revision, 1);
  EXPECT_EQ(shown->draft.created_by, "ai_system");
  EXPECT_EQ(shown->draft.overdue_amount->text(), "1500.00 USD");
  EXPECT_THAT(shown->draft.overdue_invoices, ElementsAre("INV-001", "INV-002"));
  EXPECT_TRUE(shown->decision.is_allowed());
  EXPECT_EQ(shown->stopped, "");
  EXPECT_EQ(drafts_.revisions(id, "")->size(), 1U);

  ASSERT_TRUE(succeeded(drafts_.revise(id, 1, {"s", "b", ""}, actor())));
  EXPECT_EQ(drafts_.revisions(id, "")->front().text.body, "Dear John...");
  EXPECT_EQ(drafts_.revisions(id, "")->front().author, "ai_system");
  ASSERT_TRUE(succeeded(drafts_.reject(id, 2, "no", actor())));
  const item::Item after = *store_.get("CUSTOMER#cust_001", "DRAFT#" + id);
  EXPECT_EQ(item::attribute_text(after, "note"), "of another program");
  EXPECT_EQ(item::attribute_text(after, "status"), "rejected");
}

TEST_F(DraftLists, ShowAtOnceWhatTheRulesSay) {
  add_customer("cust_001");
  store_.put(seed_sent("cust_001", test_start, "first"));
  const std::string first = made(with_text("cust_001"));
  const std::string second = made(with_text("cust_001", "second"));
  const std::string final = made(with_text("cust_001", "final"));
  const auto decision = [&](const std::string& id) { return drafts_.find(id, "")->decision; };
  store_.time().advance(7 * 24h - 1s);
  for (const std::string& id : {first, second}) {
    EXPECT_EQ(decision(id).reason, id == first ? Reason::too_soon : Reason::too_soon_after);
    EXPECT_EQ(decision(id).allowed_from, test_start + 7 * 24h);
    EXPECT_EQ(decision(id).rests_on.at(0).record, "20260102_030405_first");
  }
  EXPECT_EQ(decision(final).reason, Reason::missing_before);
  EXPECT_EQ(decision(final).allowed_from, std::nullopt);
  store_.time().advance(1s);
  EXPECT_TRUE(decision(first).is_allowed());
  EXPECT_TRUE(decision(second).is_allowed());
  EXPECT_EQ(drafts_.list({}, {}, "")->entries.at(0).decision.reason, Reason::missing_before);
}

TEST_F(DraftLists, ShowWhyACustomerGetsNone) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  EXPECT_EQ(drafts_.find(id, "")->stopped, "");
  mail_.suppress("ada@example.com");
  EXPECT_NE(drafts_.find(id, "")->stopped, "");
  const auto explained = drafts_.explain("cust_001", "first", "");
  ASSERT_TRUE(succeeded(explained));
  EXPECT_NE(explained->stopped, "");
  for (const Decision& decision :
       {explained->decision, drafts_.find(id, "")->decision, drafts_.list({}, {}, "")->entries.at(0).decision}) {
    EXPECT_FALSE(decision.is_allowed());
    EXPECT_EQ(name_of(decision.reason), "stopped");
    EXPECT_EQ(decision.explanation, explained->stopped);
    EXPECT_EQ(decision.allowed_from, std::nullopt) << "waiting does not help";
  }
  ASSERT_TRUE(succeeded(customers_.pay("cust_001", "INV-001", {}, actor())));
  EXPECT_EQ(drafts_.find(id, "")->draft.status, DraftStatus::withdrawn);
  EXPECT_THAT(listed(of_status(DraftStatus::withdrawn)), ElementsAre(id));
  add_customer("cust_002");
  ASSERT_TRUE(succeeded(customers_.opt_out("cust_002", "asked for it", actor())));
  const auto made_now = drafts_.make(with_text("cust_002"), actor());
  ASSERT_TRUE(succeeded(made_now));
  EXPECT_NE(made_now->stopped, "");
}

TEST_F(DraftLists, ADryRunExplainsItself) {
  add_customer("cust_001");
  store_.put(seed_sent("cust_001", test_start - 8 * 24h, "first"));
  store_.put(seed_sent("cust_001", test_start - 24h, "second"));
  const auto explained = drafts_.explain("cust_001", "second", "");
  ASSERT_TRUE(succeeded(explained));
  EXPECT_EQ(explained->decision.reason, Reason::too_soon);
  EXPECT_EQ(explained->decision.allowed_from, test_start + 4 * 24h);
  EXPECT_EQ(explained->decision.rests_on.size(), 2U);
  EXPECT_EQ(explained->overdue->invoices.at(0).id, "INV-001");
  EXPECT_EQ(explained->overdue->totals.at(0).text(), "1500.00 USD");
  EXPECT_THAT(faulty_fields(drafts_.explain("cust_001", "third", "")), ElementsAre("reminder_type"));
  EXPECT_TRUE(is_refused(drafts_.explain("nobody", "first", ""), RefusalKind::unknown_customer));
  EXPECT_TRUE(is_refused(drafts_.explain("cust_001", "first", "acme"), RefusalKind::unknown_customer));
  // A customer whom only another program knows.
  store_.put(seed_sent("foreign", test_start - 24h, "first"));
  const auto foreign = drafts_.explain("foreign", "first", "");
  ASSERT_TRUE(succeeded(foreign));
  EXPECT_EQ(foreign->decision.allowed_from, test_start + 6 * 24h);
  EXPECT_FALSE(foreign->overdue) << "there is no record to be shown";
  item::Item failed = seed_sent("failed", test_start - 24h, "first");
  failed.set("status", "failed");
  failed.set("delivery_status", "failed");
  store_.put(failed);
  const auto allowed = drafts_.explain("failed", "first", "");
  ASSERT_TRUE(succeeded(allowed));
  EXPECT_TRUE(allowed->decision.is_allowed());
  EXPECT_THAT(store_.sort_keys("CUSTOMER#foreign"), ElementsAre("SENT#20260101_030405_first"));
}

class DraftRecords : public DraftLists {
 protected:
  // "draft.created drafts/20260102_030405_a", the newest first.
  std::vector<std::string> events(const AuditRequest& request, const std::string& tenant = "") {
    std::vector<std::string> texts;
    const auto read = [&](const PageRequest& page) {
      AuditRequest paged = request;
      paged.page = page;
      return audit_.list(paged, tenant);
    };
    for (const AuditEvent& event : all_pages<AuditEvent>(read, 2)) texts.push_back(event.action + " " + event.subject);
    return texts;
  }

  Audit audit_{store_.records()};
  Summary summary_{store_.records()};
};

TEST_F(DraftRecords, EveryDecisionLeavesAnEvent) {
  add_customer("a");
  AuditRequest drafts{.date = "", .subject = "drafts/", .page = {}};
  const std::string id = made(with_text("a"));
  store_.time().advance(1ms);
  ASSERT_TRUE(succeeded(drafts_.revise(id, 1, {"s", "secret text", ""}, actor("", "ann"))));
  store_.time().advance(1ms);
  ASSERT_TRUE(succeeded(drafts_.reject(id, 2, "a reason with a name", actor("", "bob"))));
  ASSERT_TRUE(is_refused(drafts_.reject(id, 2, "again", actor()), RefusalKind::wrong_state));
  EXPECT_THAT(events(drafts),
              ElementsAre("draft.rejected drafts/" + id, "draft.revised drafts/" + id, "draft.created drafts/" + id));
  const auto page = audit_.list(drafts, "");
  ASSERT_TRUE(succeeded(page));
  const AuditEvent& rejected = page->entries.at(0);
  EXPECT_EQ(rejected.actor, "bob");
  EXPECT_EQ(rejected.key, "key_of_bob");
  EXPECT_EQ(rejected.from, "192.0.2.1");
  EXPECT_EQ(rejected.at, test_start + 2ms);
  EXPECT_THAT(rejected.details, ElementsAre(Pair("revision", "2")));
  EXPECT_THAT(events(drafts, "acme"), IsEmpty());
  drafts.date = "2026-01-01";
  EXPECT_THAT(events(drafts), IsEmpty());
  drafts.date = "2026-01-02";
  EXPECT_EQ(events(drafts).size(), 3U);
  drafts.date = "2026-02-30";
  EXPECT_THAT(faulty_fields(audit_.list(drafts, "")), ElementsAre("date"));
  for (const item::Item& item : store_.scan("EmailTrackingTable-audit"))
    for (const item::Attribute& attribute : item)
      if (const auto* const text = attribute.value.get_if<std::string>()) {
        EXPECT_EQ(text->find("ada@example.com"), std::string::npos);
        EXPECT_EQ(text->find("secret"), std::string::npos);
      }
}

TEST_F(DraftRecords, TemplatesLeaveEventsToo) {
  add_customer("a");
  add_template("one");
  store_.time().advance(1ms);
  add_template("two");
  store_.time().advance(1ms);
  ASSERT_TRUE(succeeded(templates_.activate("reminder_first", 2, actor())));
  ASSERT_TRUE(succeeded(templates_.activate("reminder_first", 2, actor())));  // nothing changes
  store_.time().advance(1ms);
  TemplateVersion own = template_text();
  own.customer_id = "a";
  ASSERT_TRUE(succeeded(templates_.put_override(own, actor())));
  store_.time().advance(1ms);
  ASSERT_TRUE(succeeded(templates_.remove_override("a", "reminder_first", actor())));
  EXPECT_THAT(events({.date = "", .subject = "templates/", .page = {}}),
              ElementsAre("template.override_removed templates/reminder_first",
                          "template.overridden templates/reminder_first", "template.activated templates/reminder_first",
                          "template.added templates/reminder_first", "template.added templates/reminder_first"));
}

TEST_F(DraftRecords, ADayHasItsCounts) {
  for (int i = 0; i < 12; ++i) add_customer("c" + std::to_string(i));
  std::vector<std::string> ids;
  for (int i = 0; i < 12; ++i) ids.push_back(made(with_text("c" + std::to_string(i))));
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(succeeded(drafts_.reject(ids[static_cast<std::size_t>(i)], 1, "no", actor())));
  const auto today = summary_.of_day("", "");
  ASSERT_TRUE(succeeded(today));
  EXPECT_EQ(today->date, "2026-01-02");
  EXPECT_EQ(today->counts.at("drafts_created"), 12);
  EXPECT_EQ(today->counts.at("rejected"), 3);
  EXPECT_EQ(today->counts.at("sent"), 0);
  EXPECT_THAT(today->sent_by_type, IsEmpty());
  EXPECT_EQ(summary_.of_day("2026-01-03", "")->counts.at("drafts_created"), 0);
  EXPECT_EQ(summary_.of_day("2026-01-02", "acme")->counts.at("drafts_created"), 0);
  EXPECT_THAT(faulty_fields(summary_.of_day("today", "")), ElementsAre("date"));
  // What another program has put there, and counts by type.
  store_.put({{"PK", "SUMMARY#2026-01-05"}, {"SK", "COUNTS#0"}, {"sent", 2}, {"sent:first", 2}, {"note", "x"}});
  store_.put({{"PK", "SUMMARY#2026-01-05"}, {"SK", "COUNTS#7"}, {"sent", 1}, {"sent:final", 1}});
  const auto later = summary_.of_day("2026-01-05", "");
  ASSERT_TRUE(succeeded(later));
  EXPECT_EQ(later->counts.at("sent"), 3);
  EXPECT_THAT(later->sent_by_type, UnorderedElementsAre(Pair("first", 2), Pair("final", 1)));
}

TEST_F(DraftLists, LeaveOutWhatHasNoKeyOfADraft) {
  store_.put(seed_draft("a", test_start, "first"));
  item::Item odd = seed_draft("b", test_start + 1s, "first");
  odd.set("SK", "DRAFT#new");
  store_.put(odd);
  EXPECT_THAT(listed({}), ElementsAre("20260102_030405_a"));
}

TEST_F(ShardedDraftLists, StillHaveAllWhenThereAreFewerShards) {
  std::set<std::string> ids;
  for (int i = 0; i < 20; ++i) {
    add_customer("cust_" + std::to_string(i));
    ids.insert(made(with_text("cust_" + std::to_string(i))));
  }
  for (const int shards : {1, 3}) {
    const auto records = store_.make_records({.tracking = "Reminders", .shards = shards});
    ASSERT_TRUE(records->prepare());
    Customers customers(*records);
    Templates templates(*records);
    Drafts drafts(*records, customers, templates, mail_);
    const auto page = drafts.list({}, {}, "");
    ASSERT_TRUE(succeeded(page));
    std::set<std::string> found;
    for (const ShownDraft& shown : page->entries) found.insert(shown.draft.id);
    EXPECT_EQ(found, ids) << shards;
  }
}

TEST_F(ShardedDraftLists, AreNewestFirstAlsoWithinASecond) {
  std::vector<std::string> newest_first;
  for (int i = 0; i < 40; ++i) {
    const std::string customer = "cust_" + std::to_string(i * 7 % 40);
    add_customer(customer);
    newest_first.insert(newest_first.begin(), made(with_text(customer)));
    store_.time().advance(base::Milliseconds(i % 10 == 9 ? 300 : 40));
  }
  for (const int limit : {1, 7, 40, 200}) EXPECT_EQ(listed({}, limit), newest_first) << limit;
}

TEST_F(ShardedDraftLists, HaveAllOnceAlsoWhenTooManyAreOfTheSameTime) {
  constexpr int count = 1'300;
  for (int i = 0; i < count; ++i) {
    item::Item item = seed_draft("cust_" + std::to_string(i), test_start, "first");
    if (i % 10 == 0) item.set("GSI1PK", "STATUS#draft#3");
    item.set("GSI1SK", "2026-01-02");
    item.set("text_hash", hash_of_text({"Payment Reminder from Innovate AI", "Dear John...", ""}));
    item.set("ttl", 2'000'000'000);
    store_.put(item);
  }
  Listing listing;
  listing.name = "all";
  listing.in_index = listing.newest_first = true;
  listing.partitions = {"STATUS#draft", "STATUS#draft#3"};
  std::set<std::string> found;
  const auto read = [&](const PageRequest& page) { return list_items(store_.records(), listing, page); };
  const std::vector<item::Item> all = all_pages<item::Item>(read, 90);
  for (const item::Item& item : all) found.insert(item::attribute_text(item, "PK"));
  EXPECT_EQ(all.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(found.size(), static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace postino::reminders
