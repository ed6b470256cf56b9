// The counts of e-mails against the e-mails, as `postino check` compares them.
#include "outbox/store_ledger/store_count_check.h"

#include <gmock/gmock.h>

#include "outbox/store_ledger/store_count_expiry.h"
#include "outbox/store_ledger/store_expiry.h"
#include "outbox/store_ledger/store_recount.h"
#include "outbox_store.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* test_day = "20260102";

std::string no_answer(const std::vector<AcceptOutcome>&) { return ""; }

class StoreCountCheckTest : public testing::Test {
 protected:
  StoreCountCheckTest() {
    accept(0, 3, "");
    accept(3, 2, "acme");
    for (const int sent : {0, 3}) send(sent);
  }

  void accept(int first, int count, const std::string& tenant) {
    std::vector<NewEmail> emails;
    for (int i = first; i < first + count; ++i)
      emails.push_back(accepted(new_email(email_id(i), tenant), clock_->now()));
    ASSERT_TRUE(ledger_->accept(std::move(emails), std::nullopt, no_answer));
  }
  void send(int number) { move_to(number, State::sent); }
  void move_to(int number, State state) {
    const auto email = ledger_->find(email_id(number));
    ASSERT_TRUE(email && *email);
    std::vector<Change> changes{moved_to(**email, state, clock_->now())};
    changes.front().after.due_at.reset();
    ASSERT_EQ(ledger_->move(std::move(changes)).front().status, MoveStatus::done);
  }

  StoreCountCheck checked() {
    StoreCountCheck check(store_.tables(), clock_->now(), ledger_policy().keep);
    for (const std::string& table : {store_.tables().counts(), store_.tables().emails})
      for (const item::Item& item : store_.scan(table)) check.add(table, item);
    return check;
  }
  std::vector<std::string> differences() { return checked().differences(); }

  // Changes one slice of the counts as another program would.
  void set_count(const std::string& tenant, const std::string& slice, const std::string& name,
                 item::AttributeValue value) {
    store::UpdateItemRequest update;
    update.table_name = store_.tables().counts();
    update.key = {{"Tenant", tenant}, {"Slice", slice}};
    update.update = "SET #name = :value";
    update.placeholders.names = expr::Names{{"#name", name}};
    update.placeholders.values = item::Map{{":value", std::move(value)}};
    ASSERT_TRUE(store_.engine().update_item(update));
  }
  void remove_record(int number) {
    ASSERT_TRUE(store_.engine().delete_item(
        {.table_name = store_.tables().emails, .key = {{"Id", email_id(number)}, {"Status", "_META"}}}));
  }
  void sweep() {
    while (*store_.engine().run_maintenance_once()) {
    }
    while (*count_expiry_.run_once()) {
    }
  }
  // As the program has it.
  void guard_expiry() {
    store_.engine().guard_expiry(
        [this](const std::string& table, const item::Item& item) { return expiry_.may_expire(table, item); });
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, clock_};
  std::unique_ptr<StoreLedger> ledger_ = store_.make_ledger();
  const StoreExpiry expiry_{store_.engine(), store_.tables(), *clock_};
  StoreCountExpiry count_expiry_{store_.engine(), store_.tables(), *clock_};
};

TEST_F(StoreCountCheckTest, CountsThatWereKeptDoNotDiffer) { EXPECT_THAT(differences(), IsEmpty()); }

TEST_F(StoreCountCheckTest, EachCountThatDiffersIsNamed) {
  remove_record(4);  // of acme, ACCEPTED
  EXPECT_THAT(differences(),
              ElementsAre("counts of e-mails, day 20260102: 2 are ACCEPTED, counted as 3",
                          "counts of e-mails of tenant acme, day 20260102: 0 are ACCEPTED, counted as 1"));
  ASSERT_TRUE(recount(store_.engine(), store_.tables(), ledger_policy().keep));
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(StoreCountCheckTest, WhatIsNoWholeNumberIsNamed) {
  const std::string spare = std::string(test_day) + "#99";
  for (const item::AttributeValue& value :
       {item::AttributeValue(item::Number::parse("0.5").value()), item::AttributeValue("many"),
        item::AttributeValue(item::Number::parse("1e30").value())}) {
    set_count("*", spare, "SENT", value);
    EXPECT_THAT(differences(), ElementsAre("counts of e-mails, day 20260102: the count of SENT is no whole number"));
  }
}

TEST_F(StoreCountCheckTest, CountsThatNoEmailHasAreNamed) {
  set_count("*", "another", "SENT", 7);
  set_count("nobody", "20260101#0", "READY", -1);
  set_count("nobody", "20260101#0", "Colour", "red");  // counts nothing
  EXPECT_THAT(differences(),
              ElementsAre("counts of e-mails, day another: 0 are SENT, counted as 7",
                          "counts of e-mails of tenant nobody, day 20260101: 0 are READY, counted as -1"));
}

TEST_F(StoreCountCheckTest, OfRecordsOfOtherProgramsTheTrueFaultIsTold) {
  store::PutItemRequest put;
  put.table_name = store_.tables().emails;
  put.item = {{"Id", email_id(7)}, {"Status", "_META"}, {"Attributes", item::Map{{"Latest", "LOST"}}}};
  ASSERT_TRUE(store_.engine().put_item(put));
  EXPECT_THAT(checked().unreadable(), ElementsAre(HasSubstr("unknown state")));
  put.item = {{"Id", email_id(7)}, {"Status", "_META"}, {"Attributes", item::Map{{"Latest", "READY"}}}};
  ASSERT_TRUE(store_.engine().put_item(put));
  EXPECT_THAT(checked().unreadable(), IsEmpty()) << "it only waits for its adoption";
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(StoreCountCheckTest, RecordsThatCannotBeReadAreToldOfAndNotCounted) {
  store::UpdateItemRequest damage;
  damage.table_name = store_.tables().emails;
  damage.key = {{"Id", email_id(1)}, {"Status", "_META"}};
  damage.update = "SET Version = :none";
  damage.placeholders.values = item::Map{{":none", "none"}};
  ASSERT_TRUE(store_.engine().update_item(damage));
  EXPECT_THAT(checked().unreadable(), ElementsAre(HasSubstr("Version must be a whole number")));
  EXPECT_THAT(differences(), ElementsAre("counts of e-mails, day 20260102: 2 are ACCEPTED, counted as 3"));
  ASSERT_TRUE(recount(store_.engine(), store_.tables(), ledger_policy().keep));
  EXPECT_THAT(differences(), IsEmpty());
}

TEST_F(StoreCountCheckTest, ATableOfCountsThatIsLostIsMadeAnew) {
  const std::string table = store_.tables().counts();
  store::UpdateTableRequest unprotected;
  unprotected.table_name = table;
  unprotected.deletion_protection = false;
  ASSERT_TRUE(store_.engine().update_table(unprotected));
  ASSERT_TRUE(store_.engine().delete_table(table));
  ASSERT_TRUE(recount(store_.engine(), store_.tables(), ledger_policy().keep));
  EXPECT_THAT(differences(), IsEmpty());
  EXPECT_EQ((*ledger_->counts("acme"))[static_cast<std::size_t>(State::sent)], 1);
}

// Finished e-mails go one by one, and the counts of their day behind them. At no moment that is a difference.
TEST_F(StoreCountCheckTest, ExpiryMakesNoDifference) {
  guard_expiry();
  for (const int held : {1, 2, 4}) move_to(held, State::held);
  clock_->advance(ledger_policy().keep - hours(1));
  for (int hour = 0; hour < 60; ++hour) {
    clock_->advance(hours(1));
    sweep();
    ASSERT_THAT(differences(), IsEmpty()) << hour;
  }
  EXPECT_FALSE(*ledger_->find(email_id(0)));
  EXPECT_TRUE(*ledger_->find(email_id(1))) << "it is not finished";
  for (const int ended : {1, 2, 4}) move_to(ended, State::cancelled);
  for (int hour = 0; hour < 60; ++hour) {
    clock_->advance(hours(1));
    sweep();
    ASSERT_THAT(differences(), IsEmpty()) << hour;
  }
  EXPECT_FALSE(*ledger_->find(email_id(1)));
  EXPECT_THAT(store_.scan(store_.tables().counts()), IsEmpty());
}

// What one slice has too many, another has too few. All tenants together have more slices than one round of the store
// deletes, so that rounds end in the middle of a tenant's.
TEST_F(StoreCountCheckTest, TheSlicesOfADayGoTogether) {
  guard_expiry();
  const std::string day = "20250101";
  constexpr int tenants = 60;
  for (int tenant = 0; tenant < tenants; ++tenant)
    for (int slice = 0; slice < 7; ++slice) {
      const std::string name = "tenant-" + std::to_string(tenant);
      const std::string key = day + "#" + std::to_string(slice);
      set_count(name, key, "TTL", base::epoch_seconds(clock_->now()));
      set_count(name, key, "READY", slice < 3 ? -1 : slice < 4 ? 0 : 1);
      set_count(name, key, "SENT", 1);
    }
  const std::size_t others = store_.scan(store_.tables().counts()).size() - 7 * tenants;
  bool has_more = true;
  for (int round = 0; has_more && round < 1'000; ++round) {
    has_more = *store_.engine().run_maintenance_once();
    EXPECT_THAT(differences(), IsEmpty()) << round;
  }
  while (*count_expiry_.run_once()) EXPECT_THAT(differences(), IsEmpty());
  EXPECT_THAT(differences(), IsEmpty());
  EXPECT_THAT(store_.scan(store_.tables().counts()), testing::SizeIs(others));
}

TEST_F(StoreCountCheckTest, ADayIsKeptForAsLongAsAnyOfItsSlices) {
  guard_expiry();
  const auto slices = [&] { return store_.scan(store_.tables().counts()).size(); };
  const std::size_t others = slices();
  const std::int64_t now = base::epoch_seconds(clock_->now());
  for (const int slice : {0, 1}) {
    const std::string key = "20250101#" + std::to_string(slice);
    set_count("acme", key, "TTL", now + slice * 3'600);
    set_count("acme", key, "HELD", slice == 0 ? 1 : -1);
  }
  sweep();
  EXPECT_EQ(slices(), others + 2) << "they were written with another time to keep e-mails for";
  set_count("acme", "20250101#2", "HELD", 1);
  clock_->advance(hours(1));
  sweep();
  EXPECT_EQ(slices(), others + 3) << "an e-mail is not finished";
  set_count("acme", "20250101#2", "HELD", 0);
  sweep();
  EXPECT_EQ(slices(), others);
}

// What is not finished does not expire, so that its counts are compared as on the first day.
TEST_F(StoreCountCheckTest, CountsOfWhatIsNotFinishedAreComparedForEver) {
  clock_->advance(ledger_policy().keep + hours(24 * 40));
  EXPECT_THAT(differences(), IsEmpty());
  remove_record(4);
  EXPECT_THAT(differences(), Contains(HasSubstr("acme, day 20260102: 0 are ACCEPTED, counted as 1")));
}

}  // namespace
}  // namespace postino::outbox
