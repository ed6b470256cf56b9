// Numbers in the outbox's tables that another program has written: no e-mail gets lost behind them, and none is hidden.
#include <gmock/gmock.h>

#include <string>

#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_expiry.h"
#include "outbox/transport/sandbox_mailbox.h"
#include "outbox_store.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

item::Number number(const char* text) { return item::Number::parse(text).value(); }

class ForeignNumbersTest : public testing::Test {
 protected:
  void accept(int count) {
    std::vector<NewEmail> emails;
    for (int i = 0; i < count; ++i) {
      Draft draft = new_email(email_id(i));
      draft.email.callback_url = "https://hooks.example/";
      emails.push_back(accepted(std::move(draft), clock_->now()));
    }
    ASSERT_TRUE(ledger_->accept(std::move(emails), std::nullopt, [](const auto&) { return ""; }));
  }
  void set(int email, const std::string& attribute, const item::AttributeValue& value) {
    store::UpdateItemRequest update;
    update.table_name = store_.tables().emails;
    update.key = {{"Id", email_id(email)}, {"Status", "_META"}};
    update.update = "SET " + attribute + " = :value";
    update.placeholders.values = item::Map{{":value", value}};
    const auto answer = store_.engine().update_item(update);
    ASSERT_TRUE(answer) << answer.error().message;
  }
  void expect_malformed(int email, const std::string& error) {
    for (const MalformedRecord& record : ledger_->malformed())
      if (record.id == email_id(email)) {
        EXPECT_THAT(record.error, HasSubstr(error));
        return;
      }
    ADD_FAILURE() << "e-mail " << email << " is not told of";
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, clock_};
  const std::unique_ptr<StoreLedger> ledger_ = store_.make_ledger();
  const Decider decide_;
};

TEST_F(ForeignNumbersTest, TimesThatCannotBeAreToldOfWhereverTheyStand) {
  const std::vector<item::Number> times = {number("-1"), number("-1E30"), number("1E30"), number("253402300800000"),
                                           number("9223372036854775807")};
  accept(40);
  for (std::size_t i = 0; i < times.size(); ++i) set(static_cast<int>(i), "DueAt", times[i]);
  // Some that are not due yet stand before those at the far end.
  for (int i = 20; i < 40; ++i) set(i, "DueAt", base::epoch_milliseconds(clock_->now() + hours(1)));
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake, 2), SizeIs(2));
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake), SizeIs(13)) << "the others are worked on";
  EXPECT_THAT(ledger_->malformed(), SizeIs(times.size()));
  for (std::size_t i = 0; i < times.size(); ++i) expect_malformed(static_cast<int>(i), "DueAt must be a time");
}

TEST_F(ForeignNumbersTest, LeasesThatEndBeforeAllTimesAreToldOf) {
  accept(8);
  ASSERT_THAT(claimed(*ledger_, Pipeline::intake), SizeIs(8));
  set(3, "DueAt", -5);
  clock_->advance(hours(1));
  EXPECT_THAT(*ledger_->find_ended_leases(clock_->now(), 100), SizeIs(7));
  expect_malformed(3, "DueAt must be a time");
}

TEST_F(ForeignNumbersTest, ManyThatWereDueAtOnceAndCannotBeWorkedOnHideNoOther) {
  accept(100);
  for (int i = 0; i < 45; ++i) set(i, "Version", -1);
  for (int i = 45; i < 90; ++i) set(i, "Attributes.Latest", "CANCELLED");  // as another program sees it
  std::size_t found = 0;
  for (int round = 0; round < 40; ++round) found += claimed(*ledger_, Pipeline::intake, 2).size();
  EXPECT_EQ(found, 10U);
  EXPECT_THAT(ledger_->malformed(), SizeIs(45));
}

TEST_F(ForeignNumbersTest, ALineOfHistoryInAQueueStopsNobody) {
  accept(4);
  for (item::Item record : store_.scan(store_.tables().emails)) {
    if (*record.find("Status") == item::AttributeValue("_META")) continue;
    const item::AttributeValue id = *record.find("Id");
    record.set("Queue", queue_name(State::accepted, shard_of(id.as<std::string>(), least_shards)));
    record.set("DueAt", base::epoch_milliseconds(clock_->now()));
    store::PutItemRequest put;
    put.table_name = store_.tables().emails;
    put.item = std::move(record);
    ASSERT_TRUE(store_.engine().put_item(put));
  }
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake), SizeIs(4));
}

TEST_F(ForeignNumbersTest, HowOftenStatesWereReachedMustBePossible) {
  accept(3);
  set(0, "Reached.ACCEPTED", -1);
  set(1, "Reached.ACCEPTED", number("2147483647"));
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake), SizeIs(1));
  expect_malformed(0, "Reached must have");
  expect_malformed(1, "Reached must have");
}

TEST_F(ForeignNumbersTest, CallbacksThatWereGivenUpAreListedWhateverTheirTimes) {
  accept(12);
  for (const Email& email : claimed(*ledger_, Pipeline::intake)) {
    std::vector<Change> changes{decide_(email, event::PayloadRejected{"no"}, clock_->now())};
    ASSERT_EQ(ledger_->move(std::move(changes)).front().status, MoveStatus::done);
  }
  for (const Email& email : claimed(*ledger_, Pipeline::callback)) {
    std::vector<Change> changes{decide_(email, event::CallbackFailed{"HTTP 410", std::nullopt, true}, clock_->now())};
    ASSERT_EQ(ledger_->move(std::move(changes)).front().status, MoveStatus::done);
  }
  for (int i = 0; i < 12; i += 2) set(i, "DueAt", number(i % 4 == 0 ? "0.5" : "1E30"));
  for (const int limit : {1, 2, 50}) {
    std::size_t listed = 0;
    std::string cursor;
    int pages = 0;
    do {
      const auto page = ledger_->dead_callbacks("", cursor, limit);
      ASSERT_TRUE(page) << page.error().message;
      listed += page->emails.size();
      cursor = page->cursor;
    } while (!cursor.empty() && ++pages < 100);
    EXPECT_EQ(listed, 6U) << limit;
  }
  EXPECT_THAT(ledger_->malformed(), SizeIs(6));
}

TEST_F(ForeignNumbersTest, AMessageThatMayLackPartsIsNotSent) {
  for (const char* const parts : {"-1", "0", "1", "2", "2.5", "1E30", "1000000"}) {
    const auto path = ledger_->spool().write(
        {SpoolKind::message, "e1", test_start, std::string(700'000, 'x'), clock_->now() + hours(1)});
    ASSERT_TRUE(path);
    store::UpdateItemRequest update;
    update.table_name = store_.tables().spool();
    update.key = {{"SpoolPath", *path}, {"Part", 0}};
    update.update = "SET Parts = :parts";
    update.placeholders.values = item::Map{{":parts", number(parts)}};
    ASSERT_TRUE(store_.engine().update_item(update));
    const auto read = ledger_->spool().read(*path);
    if (std::string(parts) == "1") continue;  // one part by itself is a message
    ASSERT_FALSE(read) << parts;
    EXPECT_EQ(read.error().code, base::ErrorCode::corrupt) << parts;
  }
}

TEST_F(ForeignNumbersTest, CountsBeyondAllNumbersKeepNoSliceFromBeingLookedAt) {
  accept(1);
  store::PutItemRequest put;
  put.table_name = store_.tables().counts();
  for (const char* const spread : {"8", "9"}) {
    put.item = {{"Tenant", "*"}, {"Slice", std::string("2000-01-01#") + spread}, {"ACCEPTED", INT64_MAX}, {"TTL", 1}};
    ASSERT_TRUE(store_.engine().put_item(put));
  }
  const StoreExpiry expiry(store_.engine(), store_.tables(), *clock_);
  EXPECT_FALSE(expiry.may_expire(put.table_name, put.item));
  EXPECT_TRUE(ledger_->counts(std::nullopt));
}

TEST_F(ForeignNumbersTest, AnEntryOfTheSandboxWithStrangeRecipientsIsShown) {
  SandboxMailbox mailbox(store_.engine(), store_.tables().mailbox(), ledger_->spool(), store_.retry());
  store::PutItemRequest put;
  put.table_name = store_.tables().mailbox();
  put.item = {{"Mailbox", "sandbox"},
              {"Received", "2000-01-01T00:00:00.000Z#1"},
              {"Id", "1"},
              {"Size", number("1E30")},
              {"To", item::List{item::AttributeValue(7), item::AttributeValue("bob@example.com")}}};
  ASSERT_TRUE(store_.engine().put_item(put));
  const auto page = mailbox.list("", 10);
  ASSERT_TRUE(page);
  ASSERT_THAT(page->entries, SizeIs(1));
  EXPECT_THAT(page->entries[0].recipients, testing::ElementsAre("bob@example.com"));
}

}  // namespace
}  // namespace postino::outbox
