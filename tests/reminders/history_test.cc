// What was sent, as people read it: of a customer, by type, in a range of dates.
#include "item/attribute_text.h"
#include "reminder_office.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HistoryOfReminders : public ::testing::Test {
 protected:
  explicit HistoryOfReminders(int shards = 1) : store_({.tracking = "EmailTrackingTable", .shards = shards}) {}

  static std::vector<std::string> ids(const OrRefusal<Page<SentReminder>>& page) {
    EXPECT_TRUE(succeeded(page));
    std::vector<std::string> ids;
    if (page)
      for (const SentReminder& sent : page->entries) ids.push_back(sent.customer_id + "/" + sent.id);
    return ids;
  }
  // Page by page.
  std::vector<std::string> all_sent(HistoryRequest request) {
    std::vector<std::string> all;
    do {
      const auto page = office_.history.sent(request, false, "");
      for (const std::string& id : ids(page)) all.push_back(id);
      request.page.cursor = page ? page->cursor : "";
    } while (!request.page.cursor.empty());
    return all;
  }

  RemindersStore store_;
  ReminderOffice office_{store_};
};

TEST_F(HistoryOfReminders, IsNewestFirst) {
  for (int i = 0; i < 3; ++i) store_.put(seed_sent("cust_001", test_start + i * 24h, i == 1 ? "second" : "first"));
  store_.put(seed_sent("cust_002", test_start + 1h, "first"));
  EXPECT_THAT(ids(office_.history.of_customer("cust_001", {}, "")),
              ElementsAre("cust_001/20260104_030405_first", "cust_001/20260103_030405_second",
                          "cust_001/20260102_030405_first"));
  EXPECT_THAT(ids(office_.history.of_customer("cust_001",
                                              {.reminder_type = "second", .since = {}, .until = {}, .page = {}}, "")),
              ElementsAre("cust_001/20260103_030405_second"));
  EXPECT_THAT(ids(office_.history.of_customer("nobody", {}, "")), IsEmpty());
  EXPECT_THAT(ids(office_.history.sent({}, false, "")),
              ElementsAre("cust_001/20260104_030405_first", "cust_001/20260103_030405_second",
                          "cust_002/20260102_040405_first", "cust_001/20260102_030405_first"));
  EXPECT_THAT(ids(office_.history.sent({}, false, "acme")), IsEmpty());
}

TEST_F(HistoryOfReminders, IsOfTheRangeThatWasAskedFor) {
  for (int i = 0; i < 4; ++i) store_.put(seed_sent("cust_001", test_start + i * 1s, "first"));
  const HistoryRequest range{.reminder_type = "", .since = test_start + 1s, .until = test_start + 3s, .page = {}};
  const auto expected = ElementsAre("cust_001/20260102_030407_first", "cust_001/20260102_030406_first");
  EXPECT_THAT(ids(office_.history.of_customer("cust_001", range, "")), expected);
  EXPECT_THAT(ids(office_.history.sent(range, false, "")), expected);
}

// Python's isoformat() of a local time has an offset, or none, and the time in the key is local, too.
TEST_F(HistoryOfReminders, IsOfTheTrueTimesOfOtherPrograms) {
  const auto put_local = [&](const std::string& customer, base::Milliseconds zone, const std::string& ending) {
    item::Item sent = seed_sent(customer, test_start + zone, "first");
    const std::string local = seed_time(test_start + zone).substr(0, 19) + ending;
    sent.set("sent_date", local);
    sent.set("GSI1SK", local);
    store_.put(sent);
    return customer + "/" + key_time(test_start + zone) + "_first";
  };
  const std::string east = put_local("east", 5h + 30min, "+05:30");
  const std::string west = put_local("west", -8h, ".250000-08:00");
  const std::string none = put_local("none", 0h, "");
  const HistoryRequest range{.reminder_type = "", .since = test_start, .until = test_start + 1s, .page = {}};
  EXPECT_THAT(ids(office_.history.sent(range, false, "")), ::testing::UnorderedElementsAre(east, west, none));
  EXPECT_THAT(ids(office_.history.of_customer("east", range, "")), ElementsAre(east));
  EXPECT_THAT(ids(office_.history.of_customer("west", range, "")), ElementsAre(west));
  const HistoryRequest later{.reminder_type = "", .since = test_start + 1h, .until = test_start + 9h, .page = {}};
  EXPECT_THAT(ids(office_.history.sent(later, false, "")), IsEmpty());
}

TEST_F(HistoryOfReminders, HasPages) {
  std::vector<std::string> expected;
  for (int i = 9; i >= 0; --i) expected.push_back("cust_001/" + key_time(test_start + i * 1s) + "_first");
  for (int i = 0; i < 10; ++i) store_.put(seed_sent("cust_001", test_start + i * 1s, "first"));
  EXPECT_EQ(all_sent({.reminder_type = "", .since = {}, .until = {}, .page = {.cursor = "", .limit = 3}}), expected);
  const auto first = office_.history.sent(
      {.reminder_type = "", .since = {}, .until = {}, .page = {.cursor = "", .limit = 3}}, false, "");
  ASSERT_TRUE(succeeded(first));
  const PageRequest next{.cursor = first->cursor, .limit = 3};
  EXPECT_FALSE(office_.history.sent({.reminder_type = "first", .since = {}, .until = {}, .page = next}, false, ""))
      << "it is the cursor of another list";
  EXPECT_FALSE(office_.history.sent({.reminder_type = "", .since = {}, .until = {}, .page = next}, true, ""));
  EXPECT_FALSE(
      office_.history.sent({.reminder_type = "", .since = {}, .until = {}, .page = {.cursor = "x"}}, false, ""));
  EXPECT_FALSE(office_.history.sent({.reminder_type = "", .since = {}, .until = {}, .page = {.cursor = "", .limit = 0}},
                                    false, ""));
}

TEST_F(HistoryOfReminders, TellsWhichFailed) {
  item::Item failed = seed_sent("cust_001", test_start, "first");
  failed.set("status", "failed");
  failed.set("GSI1PK", "STATUS#failed");
  failed.set("delivery_status", "failed");
  store_.put(std::move(failed));
  EXPECT_THAT(ids(office_.history.sent({}, false, "")), IsEmpty());
  const auto page = office_.history.sent({}, true, "");
  EXPECT_THAT(ids(page), ElementsAre("cust_001/20260102_030405_first"));
  EXPECT_EQ(page->entries.at(0).delivery, DeliveryStatus::failed);
}

TEST_F(HistoryOfReminders, FindsOne) {
  store_.put(seed_sent("cust_001", test_start, "first"));
  const auto found = office_.history.find("cust_001", "20260102_030405_first", "");
  ASSERT_TRUE(succeeded(found));
  EXPECT_EQ(found->approved_by, "user_123");
  EXPECT_EQ(found->message_id, "0000014a-f4d4-4f41-9d83-8c0a6df0c5a1-000000");
  EXPECT_EQ(found->delivery, DeliveryStatus::sent);
  const auto missing = office_.history.find("cust_001", "20260102_030405_second", "");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, RefusalKind::unknown_reminder);
}

class ShardedHistory : public HistoryOfReminders {
 protected:
  ShardedHistory() : HistoryOfReminders(8) {}
};

TEST_F(ShardedHistory, IsOneListWithWhatOtherProgramsWrite) {
  std::vector<std::string> expected;
  for (int i = 0; i < 30; ++i) {
    const std::string customer = "cust_" + std::to_string(i);
    const base::TimePoint now = store_.time().now();
    if (i % 5 == 0)
      store_.put(seed_sent(customer, now, "first"));
    else
      ASSERT_EQ(outcome_of(office_.approve(put_draft(store_, customer, "first", now))), "");
    expected.insert(expected.begin(), customer + "/" + key_time(now) + "_first");
    store_.time().advance(1min);
  }
  EXPECT_EQ(all_sent({.reminder_type = "", .since = {}, .until = {}, .page = {.cursor = "", .limit = 7}}), expected);
}

TEST_F(HistoryOfReminders, HidesNothingBehindWhatCannotBeRead) {
  store_.put(seed_sent("cust_001", test_start, "first"));
  item::Item odd_date = seed_sent("cust_002", test_start + 1s, "first");
  odd_date.set("sent_date", "17.11.2026");
  store_.put(odd_date);
  item::Item odd = seed_sent("cust_003", test_start + 2s, "first");
  odd.set("approved_by", 5);
  store_.put(odd);
  const auto page = office_.history.sent({}, false, "");
  EXPECT_THAT(ids(page), ElementsAre("cust_002/20260102_030406_first", "cust_001/20260102_030405_first"));
  EXPECT_EQ(page->entries.at(0).sent_at, test_start + 1s) << "its key tells the time";
  EXPECT_THAT(ids(office_.history.of_customer("cust_003", {}, "")), IsEmpty());
}

class ExpiryOfOthersRecords : public HistoryOfReminders {
 protected:
  std::string ttl(const item::Item& item) {
    const auto now = store_.get(item::attribute_text(item, "PK"), item::attribute_text(item, "SK"));
    const item::AttributeValue* const value = now ? now->find("ttl") : nullptr;
    return value != nullptr ? value->as<item::Number>().to_string() : "none";
  }
  static std::string seconds(base::TimePoint time) { return std::to_string(base::epoch_seconds(time)); }

  const item::Item sent_ = seed_sent("cust_001", test_start, "first");
  const item::Item draft_ = seed_draft("cust_001", test_start, "first");
};

TEST_F(ExpiryOfOthersRecords, IsSetWhenAListMeetsThem) {
  store_.put(sent_);
  store_.put(draft_);
  ASSERT_TRUE(succeeded(office_.history.sent({}, false, "")));
  EXPECT_EQ(ttl(sent_), seconds(test_start + sent_life));
  EXPECT_EQ(ttl(draft_), "none") << "it is in another list";
}

TEST_F(ExpiryOfOthersRecords, IsSetWhenADecisionMeetsThem) {
  store_.put(sent_);
  ASSERT_TRUE(succeeded(office_.records.guard(Keys(""), "cust_001")));
  EXPECT_EQ(ttl(sent_), seconds(test_start + sent_life));
}

TEST_F(ExpiryOfOthersRecords, IsSetAlsoWhereNobodyReadsThem) {
  item::Item kept = seed_sent("cust_002", test_start, "first");
  kept.set("ttl", 2'000'000'000);
  item::Item odd = seed_draft("cust_003", test_start, "first");
  odd.set("email_subject", 5);
  item::Item other = sent_;
  other.set("SK", "NOTE#1");
  for (const item::Item& item : {sent_, draft_, kept, odd, other}) store_.put(item);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(succeeded(office_.records.let_some_expire(1)));
  EXPECT_EQ(ttl(sent_), seconds(test_start + sent_life));
  EXPECT_EQ(ttl(draft_), seconds(test_start + draft_life));
  EXPECT_EQ(ttl(odd), seconds(test_start + draft_life));
  EXPECT_EQ(ttl(kept), "2000000000");
  EXPECT_EQ(ttl(other), "none");

  store_.put(sent_);
  ASSERT_TRUE(succeeded(office_.records.let_some_expire(100)));
  EXPECT_EQ(ttl(sent_), "none") << "all were seen a moment ago";
  store_.time().advance(1h);
  ASSERT_TRUE(succeeded(office_.records.let_some_expire(100)));
  EXPECT_EQ(ttl(sent_), seconds(test_start + sent_life));
}

}  // namespace
}  // namespace postino::reminders
