// The ledger on the embedded store: it keeps the contract, and some promises of its own.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <utility>

#include "item/attribute_text.h"
#include "ledger_conformance.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_count_expiry.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/store_expiry.h"
#include "outbox/store_ledger/store_recount.h"
#include "outbox/transport/sandbox_mailbox.h"
#include "outbox/work/leases.h"
#include "outbox/work/rescuer.h"
#include "outbox_store.h"
#include "store_ledger_under_test.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::Milliseconds lease = seconds(30);

INSTANTIATE_TEST_SUITE_P(Store, LedgerConformance,
                         testing::Values(store_ledger("SpoolInStore", SpoolChoice::store),
                                         store_ledger("SpoolInDirectory", SpoolChoice::directory),
                                         store_ledger("NineShards", SpoolChoice::store, 9)),
                         factory_name);

std::string render(const std::vector<AcceptOutcome>& outcomes) {
  std::string text;
  for (const AcceptOutcome& outcome : outcomes) text += outcome.error ? "refused " : "accepted ";
  return text;
}

class StoreLedgerTest : public testing::Test {
 protected:
  explicit StoreLedgerTest(SpoolChoice spool = SpoolChoice::store) : store_(spool, clock_) {}

  base::TimePoint now() const { return clock_->now(); }
  std::vector<NewEmail> some(int count, int first = 0) const {
    std::vector<NewEmail> emails;
    for (int i = first; i < first + count; ++i) emails.push_back(accepted(new_email(email_id(i)), now()));
    return emails;
  }
  AcceptKey key() const { return {"k", "hash", now() + hours(24)}; }
  Email step(const Email& email, const Change& move) {
    EXPECT_EQ(email.id, move.before.id);
    std::vector<Change> moves{move};
    const MoveOutcome outcome = ledger_->move(std::move(moves)).front();
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
    return outcome.email;
  }
  // Accepts them and has them sent.
  void send(int count, int first = 0) {
    ASSERT_TRUE(ledger_->accept(some(count, first), std::nullopt, render));
    for (const Email& email : claimed(*ledger_, Pipeline::intake, 1'000))
      step(email, decide_(email, event::MessageBuilt{"m"}, now()));
    for (const Email& email : claimed(*ledger_, Pipeline::send, 1'000))
      step(email, decide_(email, event::SendingAttempted{{}, delivered(email)}, now()));
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_;
  std::unique_ptr<StoreLedger> ledger_ = store_.make_ledger();
  std::unique_ptr<StoreLedger> second_ = store_.make_ledger();
  base::SeededRandom random_{4};
  const Decider decide_;
};

TEST_F(StoreLedgerTest, AKeyIsBusyWhileItsRequestIsCarriedOut) {
  std::optional<AcceptStatus> meanwhile;
  std::optional<AcceptStatus> other;
  const auto answer = ledger_->accept(some(30), key(), [&](const std::vector<AcceptOutcome>& outcomes) {
    if (!meanwhile) {
      meanwhile = second_->accept(some(30), key(), render)->status;
      AcceptKey changed = key();
      changed.request_hash = "another";
      other = second_->accept(some(30), changed, render)->status;
    }
    return render(outcomes);
  });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, AcceptStatus::done);
  EXPECT_EQ(meanwhile, AcceptStatus::in_progress);
  EXPECT_EQ(other, AcceptStatus::other_request);
  EXPECT_EQ(second_->accept(some(30), key(), render)->status, AcceptStatus::replayed);
}

TEST_F(StoreLedgerTest, ALeaseThatAClockAheadHasGrantedIsOverWhenItIsSetRight) {
  ASSERT_TRUE(ledger_->accept(some(1), std::nullopt, render));
  ASSERT_THAT(claimed(*ledger_, Pipeline::intake, 10), SizeIs(1));
  clock_->set_by(-lease);
  EXPECT_THAT(*ledger_->find_ended_leases(now(), 10), IsEmpty());
  clock_->set_by(-hours(24));
  EXPECT_THAT(*ledger_->stale(now(), 10), SizeIs(1));
  EXPECT_THAT(*ledger_->find_ended_leases(now(), 10), SizeIs(1));
}

TEST_F(StoreLedgerTest, OfTwoEqualRequestsAtOnceOneIsCarriedOut) {
  std::optional<AcceptAnswer> faster;
  const auto slower = ledger_->accept(some(3), key(), [&](const std::vector<AcceptOutcome>& outcomes) {
    if (!faster) faster = *second_->accept(some(3), key(), render);
    return "slower: " + render(outcomes);
  });
  ASSERT_TRUE(slower);
  EXPECT_EQ(faster->status, AcceptStatus::done);
  EXPECT_EQ(slower->status, AcceptStatus::replayed);
  EXPECT_EQ(slower->stored_answer, faster->stored_answer);
  EXPECT_EQ((*ledger_->counts(std::nullopt))[static_cast<std::size_t>(State::accepted)], 3);
}

TEST_F(StoreLedgerTest, AnIdThatAnotherProgramHasInItsOwnFormIsTaken) {
  store::PutItemRequest put;
  put.table_name = store_.tables().emails;
  put.item = {{"Id", email_id(1)}, {"Status", "_META"}, {"Attributes", item::Map{{"Latest", "SENT"}}}};
  ASSERT_TRUE(store_.engine().put_item(put));
  const auto answer = ledger_->accept(some(3), std::nullopt, render);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outcomes[0].error, std::nullopt);
  EXPECT_EQ(answer->outcomes[1].error, AcceptError::duplicated_id);
  EXPECT_EQ(answer->outcomes[2].error, std::nullopt);
}

TEST_F(StoreLedgerTest, FailuresAreNotHeldUpByCallbacksOfSuccess) {
  Policy policy;
  policy.default_callback_url = "https://example.com/";
  const Decider calling(policy);
  ASSERT_TRUE(ledger_->accept(some(101), std::nullopt, render));
  for (const Email& email : claimed(*ledger_, Pipeline::intake, 1'000))
    step(email, calling(email, event::MessageBuilt{"m"}, now()));
  for (const Email& email : claimed(*ledger_, Pipeline::send, 1'000))
    step(email, email.id == email_id(100) ? calling(email, event::SendingAttempted{{}, refused(email, "550")}, now())
                                          : calling(email, event::SendingAttempted{{}, delivered(email)}, now()));
  std::vector<std::string> first;
  for (int i = 0; i < 12; ++i)
    for (const Email& email : claimed(*ledger_, Pipeline::callback, 5)) first.push_back(email.id);
  EXPECT_THAT(first, testing::Contains(email_id(100))) << "among " << first.size() << " of 101";
}

TEST_F(StoreLedgerTest, FinishedEmailsAreNotInTheWorkIndex) {
  send(40);
  EXPECT_THAT(store_.scan(store_.tables().emails, std::string(work_index)), IsEmpty());
  ASSERT_TRUE(ledger_->accept(some(5, 100), std::nullopt, render));
  ASSERT_THAT(ledger_->claim(Pipeline::intake, 2, "w")->emails, SizeIs(2));
  EXPECT_THAT(store_.scan(store_.tables().emails, std::string(work_index)), SizeIs(5)) << "waiting or in work";
}

TEST_F(StoreLedgerTest, ALeaseIsKeptWhileItIsHeld) {
  ASSERT_TRUE(ledger_->accept(some(2), std::nullopt, render));
  const std::vector<Email> claimed = ledger_->claim(Pipeline::intake, 10, "w")->emails;
  ASSERT_THAT(claimed, SizeIs(2));
  Leases leases(*ledger_, ledger_policy(), *clock_);
  leases.hold(claimed[0]);
  clock_->advance(seconds(9));
  leases.renew_once();
  EXPECT_EQ((*ledger_->find(claimed[0].id))->due_at, claimed[0].due_at) << "there is time yet";
  for (int i = 0; i < 5; ++i) {
    clock_->advance(seconds(15));
    leases.renew_once();
  }
  const auto expired = second_->find_ended_leases(now(), 10);
  ASSERT_TRUE(expired);
  ASSERT_THAT(*expired, SizeIs(1)) << "the other one was not held";
  EXPECT_EQ(expired->front().id, claimed[1].id);
  leases.drop(claimed[0]);
  clock_->advance(seconds(40));
  leases.renew_once();
  EXPECT_THAT(*second_->stale(now(), 10), SizeIs(2));
}

TEST_F(StoreLedgerTest, WhoDropsAnOldLeaseLeavesTheNewOneAlone) {
  ASSERT_TRUE(ledger_->accept(some(1), std::nullopt, render));
  const Email intaking = ledger_->claim(Pipeline::intake, 1, "w")->emails.at(0);
  Leases leases(*ledger_, ledger_policy(), *clock_);
  leases.hold(intaking);
  step(intaking, decide_(intaking, event::MessageBuilt{"m"}, now()));
  // The sender is quicker than the intake, which has yet to drop its own.
  const Email processing = ledger_->claim(Pipeline::send, 1, "w")->emails.at(0);
  leases.hold(processing);
  leases.drop(intaking);
  clock_->advance(seconds(20));
  leases.renew_once();
  EXPECT_EQ((*ledger_->find(processing.id))->due_at, now() + lease);
}

TEST_F(StoreLedgerTest, AWorkerMayGoOnAsLongAsItsLeaseLasts) {
  ASSERT_TRUE(ledger_->accept(some(1), std::nullopt, render));
  const Email email = ledger_->claim(Pipeline::intake, 1, "w")->emails.at(0);
  Leases leases(*ledger_, ledger_policy(), *clock_);
  EXPECT_FALSE(leases.holds(email));
  leases.hold(email);
  EXPECT_TRUE(leases.holds(email));
  Email older = email;
  --older.version;
  EXPECT_FALSE(leases.holds(older));
  clock_->advance(lease - std::chrono::milliseconds(1));
  EXPECT_TRUE(leases.holds(email));
  clock_->advance(std::chrono::milliseconds(1));
  EXPECT_FALSE(leases.holds(email)) << "another process may have it";
  leases.renew_once();
  EXPECT_TRUE(leases.holds(email)) << "no other process had taken it";
  leases.drop(email);
  EXPECT_FALSE(leases.holds(email));
}

TEST_F(StoreLedgerTest, WhatIsClaimedForSendingMayCountAsPerhapsSent) {
  Policy resending;
  ASSERT_TRUE(unknown_from_claim(resending));
  StoreLedger ledger(store_.engine(), store_.tables(), resending, *clock_, random_, store_.retry());
  ASSERT_TRUE(ledger.accept(some(2), std::nullopt, render));
  for (const Email& email : claimed(ledger, Pipeline::intake)) {
    EXPECT_FALSE(email.outcome_unknown);
    step(email, decide_(email, event::MessageBuilt{"m"}, now()));
  }
  const std::vector<Email> sending = claimed(ledger, Pipeline::send);
  ASSERT_THAT(sending, SizeIs(2));
  for (const Email& email : sending) {
    EXPECT_TRUE(email.outcome_unknown);
    EXPECT_TRUE((*ledger.find(email.id))->outcome_unknown);
  }
  EXPECT_FALSE(
      step(sending[0], decide_(sending[0], event::SendingAttempted{{}, delivered(sending[0])}, now())).outcome_unknown);
  EXPECT_FALSE((*ledger.find(sending[0].id))->outcome_unknown);
  const Email rescued = step(sending[1], decide_(sending[1], event::LeaseEnded{}, now()));
  EXPECT_FALSE(rescued.outcome_unknown);
  EXPECT_THAT(ledger_->history(rescued.id)->back().reason, testing::HasSubstr("outcome unknown"));
}

TEST_F(StoreLedgerTest, ALostLeaseIsNotRenewed) {
  ASSERT_TRUE(ledger_->accept(some(1), std::nullopt, render));
  const Email lost = ledger_->claim(Pipeline::intake, 1, "w")->emails.at(0);
  Leases leases(*ledger_, ledger_policy(), *clock_);
  leases.hold(lost);
  clock_->advance(seconds(31));
  std::vector<std::string> rescued;
  Rescuer rescuer(*second_, decide_.policy(), *clock_, [&](const Email& before, const Email& after) {
    rescued.push_back(before.id);
    EXPECT_EQ(after.state, State::accepted);
  });
  EXPECT_FALSE(rescuer.run_once());
  EXPECT_THAT(rescued, ElementsAre(lost.id));
  const Email current = second_->claim(Pipeline::intake, 1, "other")->emails.at(0);
  leases.renew_once();
  EXPECT_EQ(**ledger_->find(lost.id), current);
}

// Out of reach for as long as it is told to be.
class AwayLedger final : public StoreLedger {
 public:
  using StoreLedger::StoreLedger;
  base::Result<std::vector<Email>> find_ended_leases(base::TimePoint before, int limit) override {
    if (is_away) return base::fail(base::ErrorCode::io, "away");
    return StoreLedger::find_ended_leases(before, limit);
  }
  base::Result<std::optional<base::TimePoint>> oldest_due(Pipeline pipeline) override {
    if (is_away) return base::fail(base::ErrorCode::io, "away");
    return StoreLedger::oldest_due(pipeline);
  }
  bool is_away = false;
};

// Of two e-mails one has a worker that lives, and after an outage ten seconds to renew its lease.
class RescueAfterAnOutageTest : public StoreLedgerTest {
 protected:
  RescueAfterAnOutageTest() {
    EXPECT_TRUE(ledger_->accept(some(2), std::nullopt, render));
    claimed_ = ledger_->claim(Pipeline::intake, 2, "w")->emails;
    leases_.hold(claimed_.at(0));
  }

  void expect_time_to_renew(Rescuer& rescuer) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_FALSE(rescuer.run_once());
      clock_->advance(seconds(1));
    }
    EXPECT_THAT(rescued_, IsEmpty());
    leases_.renew_once();
    EXPECT_FALSE(rescuer.run_once());
    EXPECT_THAT(rescued_, ElementsAre(claimed_.at(1).id));
  }

  Leases leases_{*ledger_, ledger_policy(), *clock_};
  std::vector<Email> claimed_;
  std::vector<std::string> rescued_;
  const Rescuer::OnRescued note_ = [this](const Email& before, const Email&) { rescued_.push_back(before.id); };
};

TEST_F(RescueAfterAnOutageTest, ThoseWhoLiveMayRenewTheirLeasesFirst) {
  AwayLedger away(store_.engine(), store_.tables(), ledger_policy(), *clock_, store_.random(), store_.retry());
  Rescuer rescuer(away, decide_.policy(), *clock_, note_, seconds(10));
  away.is_away = true;
  for (int i = 0; i < 31; ++i) {
    clock_->advance(seconds(1));
    EXPECT_FALSE(rescuer.run_once());
  }
  away.is_away = false;
  expect_time_to_renew(rescuer);
}

TEST_F(RescueAfterAnOutageTest, ALookThatTakesLongIsOne) {
  Rescuer rescuer(*second_, decide_.policy(), *clock_, note_, seconds(10), seconds(1));
  EXPECT_FALSE(rescuer.run_once());
  clock_->advance(seconds(31));
  expect_time_to_renew(rescuer);
}

TEST_F(StoreLedgerTest, RescueSaysWhenThereIsMore) {
  ASSERT_TRUE(ledger_->accept(some(60), std::nullopt, render));
  ASSERT_THAT(ledger_->claim(Pipeline::intake, 100, "w")->emails, SizeIs(60));
  clock_->advance(seconds(31));
  int rescued = 0;
  Rescuer rescuer(*ledger_, decide_.policy(), *clock_, [&](const Email&, const Email&) { ++rescued; });
  EXPECT_TRUE(rescuer.run_once());
  while (rescuer.run_once()) {
  }
  EXPECT_EQ(rescued, 60);
}

TEST_F(StoreLedgerTest, EverythingOfAnEmailExpiresWithIt) {
  send(30);
  AcceptKey keyed = key();
  ASSERT_TRUE(ledger_->accept(some(30, 100), keyed, render));
  Draft later = new_email(email_id(500), "acme");
  later.email.send_at = now() + hours(24 * 20);
  ASSERT_TRUE(ledger_->accept({accepted(later, now())}, std::nullopt, render));
  const auto sweep = [&] {
    for (int i = 0; i < 1'000; ++i)
      if (!*store_.engine().run_maintenance_once()) return;
  };
  clock_->advance(hours(24 * 29));
  sweep();
  EXPECT_TRUE(ledger_->find(email_id(0))->has_value());
  clock_->advance(hours(24 * 2));
  sweep();
  EXPECT_FALSE(ledger_->find(email_id(0))->has_value());
  EXPECT_TRUE(ledger_->find(email_id(500))->has_value()) << "it is kept from the time it is sent";
  EXPECT_EQ(*ledger_->counts(std::nullopt), *ledger_->counts("acme")) << "the others are not counted any more";
  EXPECT_EQ((*ledger_->counts("acme"))[static_cast<std::size_t>(State::accepted)], 1);
  clock_->advance(hours(24 * 21));
  sweep();
  for (const std::string& table :
       {store_.tables().emails, store_.tables().spool(), store_.tables().counts(), store_.tables().accept_keys()})
    EXPECT_THAT(store_.scan(table), IsEmpty()) << table;
}

// With the guard that the program gives to the store.
class StoreExpiryTest : public StoreLedgerTest {
 protected:
  StoreExpiryTest() {
    store_.engine().guard_expiry(
        [this](const std::string& table, const item::Item& item) { return expiry_.may_expire(table, item); });
  }
  void sweep() {
    clock_->advance(hours(2));  // what was kept is looked at again
    while (*store_.engine().run_maintenance_once()) {
    }
    while (*count_expiry_.run_once()) {
    }
  }
  Email find(int number) { return (*ledger_->find(email_id(number))).value_or(Email()); }

  const StoreExpiry expiry_{store_.engine(), store_.tables(), *clock_};
  StoreCountExpiry count_expiry_{store_.engine(), store_.tables(), *clock_};
};

TEST_F(StoreExpiryTest, WhatIsNotFinishedNeverExpires) {
  send(2);
  ASSERT_TRUE(ledger_->accept(some(2, 10), std::nullopt, render));
  step(find(11), decide_(find(11), event::Held{"wait"}, now()));
  const std::string payload = *ledger_->spool().read(find(10).payload_path);
  clock_->advance(hours(24 * 400));
  sweep();
  EXPECT_FALSE(ledger_->find(email_id(0))->has_value());
  EXPECT_EQ(find(10).state, State::accepted);
  EXPECT_EQ(find(11).state, State::held);
  EXPECT_THAT(*ledger_->history(email_id(11)), SizeIs(2));
  EXPECT_EQ(ledger_->spool().read(find(10).payload_path).value_or(""), payload);
  EXPECT_EQ((*ledger_->counts(std::nullopt))[static_cast<std::size_t>(State::held)], 1);

  for (const int number : {10, 11}) step(find(number), decide_(find(number), event::Cancelled{"enough"}, now()));
  clock_->advance(hours(20));
  sweep();
  EXPECT_EQ(find(11).state, State::cancelled) << "who looks for it has a day";
  EXPECT_THAT(*ledger_->history(email_id(11)), SizeIs(3));
  clock_->advance(hours(3));
  sweep();
  sweep();
  for (const std::string& table : {store_.tables().emails, store_.tables().spool(), store_.tables().counts()})
    EXPECT_THAT(store_.scan(table), IsEmpty()) << table;
}

TEST_F(StoreExpiryTest, OtherTablesAndRecordsOfOtherProgramsExpireAsTheySay) {
  EXPECT_TRUE(expiry_.may_expire("another", {{"Id", "1"}, {"Status", "_META"}}));
  const item::Item foreign = {{"Id", email_id(1)}, {"Status", "_META"}, {"Attributes", item::Map{{"Latest", "READY"}}}};
  EXPECT_TRUE(expiry_.may_expire(store_.tables().emails, foreign));
  item::Item waiting = foreign;
  waiting.set("Queue", "READY#1");
  EXPECT_FALSE(expiry_.may_expire(store_.tables().emails, waiting)) << "it is damaged, and waits";
}

TEST_F(StoreLedgerTest, AMalformedRecordStrandsNoOther) {
  ASSERT_TRUE(ledger_->accept(some(40), std::nullopt, render));
  store::UpdateItemRequest damage;
  damage.table_name = store_.tables().emails;
  damage.key = {{"Id", email_id(7)}, {"Status", "_META"}};
  damage.update = "SET Version = ListedAt";
  ASSERT_TRUE(store_.engine().update_item(damage));
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake), SizeIs(39));
  ASSERT_THAT(ledger_->malformed(), SizeIs(1));
  EXPECT_EQ(ledger_->malformed()[0].id, email_id(7));
  EXPECT_THAT(ledger_->malformed()[0].error, testing::HasSubstr("Version must be"));
  EXPECT_EQ(ledger_->find(email_id(7)).error().code, base::ErrorCode::corrupt);
  EXPECT_THAT(ledger_->list({.limit = 100})->emails, SizeIs(39));
  clock_->advance(seconds(31));
  EXPECT_THAT(*ledger_->stale(now(), 100), SizeIs(39));
  damage.update = "SET Version = :one";
  damage.placeholders.values = item::Map{{":one", 1}};
  ASSERT_TRUE(store_.engine().update_item(damage));
  EXPECT_TRUE(ledger_->find(email_id(7)));
  EXPECT_THAT(ledger_->malformed(), IsEmpty()) << "it was mended";
  damage.update = "SET Version = :one";
  damage.placeholders.values = item::Map{{":one", "bad"}};
  ASSERT_TRUE(store_.engine().update_item(damage));
  const auto damaged = ledger_->find(email_id(7));
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, testing::HasSubstr("Version must be a whole number"));
  EXPECT_THAT(ledger_->malformed(), SizeIs(1));
  ASSERT_TRUE(store_.engine().delete_item({.table_name = damage.table_name, .key = damage.key}));
  EXPECT_FALSE(*ledger_->find(email_id(7)));
  EXPECT_THAT(ledger_->malformed(), IsEmpty()) << "it is gone";
}

// A damaged store has lost e-mails and counts, and some of the counts are wrong.
TEST_F(StoreLedgerTest, EmailsAreCountedAnewFromWhatIsThere) {
  send(5);
  ASSERT_TRUE(ledger_->accept(some(150, 10), std::nullopt, render));
  std::vector<NewEmail> of_tenant;
  of_tenant.push_back(accepted(new_email(email_id(900), "acme"), now()));
  ASSERT_TRUE(ledger_->accept(std::move(of_tenant), std::nullopt, render));
  const Counts whole = *ledger_->counts(std::nullopt);
  const Counts of_acme = *ledger_->counts("acme");

  for (const int lost : {0, 10, 11})
    ASSERT_TRUE(store_.engine().delete_item(
        {.table_name = store_.tables().emails, .key = {{"Id", email_id(lost)}, {"Status", "_META"}}}));
  bool is_first = true;
  for (item::Item slice : store_.scan(store_.tables().counts())) {
    if (std::exchange(is_first, false)) {
      ASSERT_TRUE(
          store_.engine().delete_item({.table_name = store_.tables().counts(),
                                       .key = {{"Tenant", *slice.find("Tenant")}, {"Slice", *slice.find("Slice")}}}));
    } else {
      slice.set("SENT", 1'000);
      ASSERT_TRUE(store_.engine().put_item({.table_name = store_.tables().counts(), .item = slice}));
    }
  }

  Counts expected = whole;
  --expected[static_cast<std::size_t>(State::sent)];
  expected[static_cast<std::size_t>(State::accepted)] -= 2;
  for (int round = 0; round < 2; ++round) {  // again changes nothing
    const auto counted = recount(store_.engine(), store_.tables(), ledger_policy().keep);
    ASSERT_TRUE(counted) << counted.error().message;
    EXPECT_EQ(*ledger_->counts(std::nullopt), expected);
    EXPECT_EQ(*ledger_->counts("acme"), of_acme);
  }
  ASSERT_TRUE(ledger_->accept(some(1, 500), std::nullopt, render));
  ++expected[static_cast<std::size_t>(State::accepted)];
  EXPECT_EQ(*ledger_->counts(std::nullopt), expected) << "and goes on";
}

TEST_F(StoreLedgerTest, CountingAnewNeedsNoOutbox) {
  StoreTables none;
  none.emails = "none";
  EXPECT_TRUE(recount(store_.engine(), none, ledger_policy().keep));
}

// Another program can write anything. What is of another kind than it must be is not taken for absent.
TEST_F(StoreLedgerTest, ASpoiltRecordIsLeftAloneAndStrandsNoOther) {
  const std::vector<std::pair<std::string, item::AttributeValue>> damaged = {
      {"Version", -1},
      {"Version", item::Number::parse("0.5").value()},
      {"Version", item::Number::parse("9223372036854775807").value()},
      {"SendAt", "x"},
      {"DueAt", item::Number::parse("0.5").value()},
      {"Recipients", "x"},
      {"Recipients", item::List{item::Map{{"Address", 1}}}},
      {"Sender", 1},
      {"Subject", 1},
      {"OutcomeUnknown", "yes"},
      {"Attributes.EmlFilePath", 1},
      {"Attributes.PayloadFilePath", true},
  };
  ASSERT_TRUE(ledger_->accept(some(40), std::nullopt, render));
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    store::UpdateItemRequest damage;
    damage.table_name = store_.tables().emails;
    damage.key = {{"Id", email_id(static_cast<int>(i))}, {"Status", "_META"}};
    damage.update = "SET " + damaged[i].first + " = :bad";
    damage.placeholders.values = item::Map{{":bad", damaged[i].second}};
    ASSERT_TRUE(store_.engine().update_item(damage)) << damaged[i].first;
  }
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake, 100), SizeIs(40 - damaged.size()));
  EXPECT_THAT(ledger_->malformed(), SizeIs(damaged.size()));
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    const std::string name = damaged[i].first.substr(damaged[i].first.rfind('.') + 1);
    EXPECT_THAT(ledger_->malformed(),
                testing::Contains(testing::Field(&MalformedRecord::error, testing::HasSubstr(name + " must be"))));
  }
}

TEST_F(StoreLedgerTest, CountsThatAreNoNumbersStopNoEmail) {
  send(1);
  store::PutItemRequest damaged;
  damaged.table_name = store_.tables().counts();
  const std::string day = item::attribute_text(store_.scan(damaged.table_name).at(0), "Slice").substr(0, 10);
  for (int spread = 0; spread < count_spread; ++spread) {
    damaged.item = {{"Tenant", "*"}, {"Slice", day + "#" + std::to_string(spread)}};
    for (const State state : all_states()) damaged.item.set(std::string(name_of(state)), "many");
    ASSERT_TRUE(store_.engine().put_item(damaged));
  }
  send(20, 1);
  const auto counts = ledger_->counts(std::nullopt);
  ASSERT_TRUE(counts);
  for (const std::int64_t count : *counts) EXPECT_GE(count, 0);
  EXPECT_LE((*counts)[static_cast<std::size_t>(State::sent)], 21);
}

TEST_F(StoreLedgerTest, AKeyWhoseRecordIsSpoiltIsRefusedForGood) {
  ASSERT_TRUE(ledger_->accept(some(1), key(), render));
  store::UpdateItemRequest damage;
  damage.table_name = store_.tables().accept_keys();
  damage.key = {{"pk", "EMAILS#k"}};
  damage.update = "REMOVE requestHash";
  ASSERT_TRUE(store_.engine().update_item(damage));
  const auto again = ledger_->accept(some(1), key(), render);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->status, AcceptStatus::unreadable_key);
  EXPECT_EQ((*ledger_->counts(std::nullopt))[static_cast<std::size_t>(State::accepted)], 1);
}

TEST_F(StoreLedgerTest, AmongManyLeasesTheEndedAndTheImpossibleOnesAreFoundOnce) {
  ASSERT_TRUE(ledger_->accept(some(60), std::nullopt, render));
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake, 20), SizeIs(20));
  clock_->set_by(hours(24));
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake, 20), SizeIs(20));
  clock_->set_by(-hours(24));
  clock_->advance(lease + seconds(1));
  EXPECT_THAT(claimed(*ledger_, Pipeline::intake, 20), SizeIs(20));
  for (const int limit : {1, 7, 25, 45, 100}) {
    std::set<std::string> ids;
    const auto ended = ledger_->stale(now(), limit);
    ASSERT_TRUE(ended);
    for (const Email& email : *ended) EXPECT_TRUE(ids.insert(email.id).second) << email.id << " twice";
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(std::min(limit, 40))) << limit;
  }
}

class DirectorySpoolLedgerTest : public StoreLedgerTest {
 protected:
  DirectorySpoolLedgerTest() : StoreLedgerTest(SpoolChoice::directory) {}
};

TEST_F(DirectorySpoolLedgerTest, ASpoolThatDoesNotTakePayloadsRefusesThem) {
  std::filesystem::remove_all(store_.spool_directory());
  const auto answer = ledger_->accept(some(2), std::nullopt, render);
  ASSERT_TRUE(answer);
  for (const AcceptOutcome& outcome : answer->outcomes) EXPECT_EQ(outcome.error, AcceptError::storage);
  EXPECT_FALSE(ledger_->find(email_id(0))->has_value());
  EXPECT_FALSE(ledger_->accept(some(2), key(), render)) << "with a key the caller is to come again";
  EXPECT_THAT(store_.scan(store_.tables().accept_keys()), IsEmpty()) << "and nothing is remembered";
}

TEST_F(DirectorySpoolLedgerTest, PayloadsOfRefusedEmailsAreTakenAway) {
  ASSERT_TRUE(ledger_->accept(some(1), std::nullopt, render));
  const auto files = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(store_.spool_directory()))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  };
  EXPECT_EQ(files(), 1);
  ASSERT_TRUE(ledger_->accept(some(1), std::nullopt, render));
  EXPECT_EQ(files(), 1);
}

class MailboxTest : public StoreLedgerTest {
 protected:
  MailboxEntry entry(int number) const {
    return {email_id(number),    test_start + seconds(number),        now(), "ann@example.com",
            {"bob@example.com"}, "subject " + std::to_string(number), 7};
  }
  SandboxMailbox mailbox_{store_.engine(), store_.tables().mailbox(), ledger_->spool(), store_.retry()};
};

TEST_F(MailboxTest, ShowsWhatCameInLastFirstAndEachOnce) {
  const auto path = ledger_->spool().write({SpoolKind::message, "e", now(), "message", now() + hours(1)});
  ASSERT_TRUE(path);
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(mailbox_.put(entry(i), *path, now() + hours(1)));
  ASSERT_TRUE(mailbox_.put(entry(3), *path, now() + hours(1))) << "delivered again";
  std::vector<std::string> subjects;
  std::string cursor;
  do {
    const auto page = mailbox_.list(cursor, 4);
    ASSERT_TRUE(page);
    for (const MailboxEntry& each : page->entries) subjects.push_back(each.subject.substr(8));
    cursor = page->cursor;
  } while (!cursor.empty());
  EXPECT_THAT(subjects, ElementsAre("8", "7", "6", "5", "4", "3", "2", "1", "0"));
  const auto admit = [](std::size_t) { return true; };
  EXPECT_EQ(*mailbox_.message(email_id(3), admit), "message");
  EXPECT_EQ(*mailbox_.message("nobody", admit), std::nullopt);
  const MailboxEntry shown = mailbox_.list("", 1)->entries.at(0);
  EXPECT_EQ(shown.id, email_id(8));
  EXPECT_EQ(shown.sender, "ann@example.com");
  EXPECT_THAT(shown.recipients, ElementsAre("bob@example.com"));
  EXPECT_EQ(shown.size, 7);
  EXPECT_EQ(shown.received, now());
  for (const item::Item& item : store_.scan(store_.tables().mailbox())) EXPECT_TRUE(item.contains("TTL"));
  EXPECT_EQ(*mailbox_.clear(), 9);
  EXPECT_THAT(mailbox_.list("", 10)->entries, IsEmpty());
  EXPECT_THAT(store_.scan(store_.tables().mailbox()), IsEmpty());
  EXPECT_EQ(mailbox_.list("x", 10).error().code, base::ErrorCode::invalid);
}

}  // namespace
}  // namespace postino::outbox
