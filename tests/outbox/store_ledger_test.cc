// The ledger on the embedded store: it keeps the contract, and some promises of its own.
#include <gmock/gmock.h>

#include <filesystem>

#include "ledger_conformance.h"
#include "outbox/store_ledger/email_item.h"
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
                                         store_ledger("SpoolInDirectory", SpoolChoice::directory)),
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
  const auto expired = second_->find_expired(now(), 10);
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
  EXPECT_FALSE(leases.holds(email)) << "somebody else may have it";
  leases.renew_once();
  EXPECT_TRUE(leases.holds(email)) << "nobody had taken it";
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
  base::Result<std::vector<Email>> find_expired(base::TimePoint before, int limit) override {
    if (is_away) return base::fail(base::ErrorCode::io, "away");
    return StoreLedger::find_expired(before, limit);
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

class StoreSpoolTest : public StoreLedgerTest {
 protected:
  SpoolObject object(std::string bytes) const {
    return {SpoolKind::message, "e1", test_start, std::move(bytes), now() + hours(1)};
  }
  const StoreSpool own_spool_{store_.engine(), store_.tables().spool(), random_, store_.retry()};
};

TEST_F(StoreSpoolTest, KeepsObjectsOfAnySize) {
  for (const std::size_t size : {0UL, 1UL, 307'199UL, 307'200UL, 307'201UL, 614'400UL, 2'000'000UL}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; i += 1'000) bytes[i] = static_cast<char>(i / 1'000);
    const auto path = ledger_->spool().write(object(bytes));
    ASSERT_TRUE(path) << path.error().message;
    const auto read = ledger_->spool().read(*path);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == bytes) << size;
    EXPECT_EQ(own_spool_.place(object(bytes)).has_value(), size <= 307'200) << size;
    EXPECT_TRUE(ledger_->spool().remove(*path));
    EXPECT_EQ(ledger_->spool().read(*path).error().code, base::ErrorCode::not_found);
  }
  EXPECT_THAT(store_.scan(store_.tables().spool()), IsEmpty()) << "no part stays";
}

TEST_F(StoreSpoolTest, AMissingPartIsNoticed) {
  const auto path = ledger_->spool().write(object(std::string(700'000, 'x')));
  ASSERT_TRUE(path);
  store::DeleteItemRequest request;
  request.table_name = store_.tables().spool();
  request.key = {{"SpoolPath", *path}, {"Part", 1}};
  ASSERT_TRUE(store_.engine().delete_item(request));
  EXPECT_EQ(ledger_->spool().read(*path).error().code, base::ErrorCode::corrupt);
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
  EXPECT_EQ(*mailbox_.message(email_id(3)), "message");
  EXPECT_EQ(*mailbox_.message("nobody"), std::nullopt);
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
