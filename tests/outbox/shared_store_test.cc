// The ledger on a store that several processes share: what is different there happens, and nothing is lost or doubled.
#include "shared_store.h"

#include <gmock/gmock.h>

#include <set>

#include "ledger_conformance.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/work/rescuer.h"
#include "outbox_store.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string render_shared(const std::vector<AcceptOutcome>&) { return "answer"; }

class SharedStoreTest : public testing::Test {
 protected:
  std::unique_ptr<OutboxProcess> process(std::uint64_t seed, base::Milliseconds ahead = base::Milliseconds(0),
                                         StoreLedgerOptions options = {}) {
    return std::make_unique<OutboxProcess>(store_.engine(), store_.tables(), policy_, test_start + ahead, seed,
                                           store_.retry(), std::move(options));
  }
  base::TimePoint now() const { return first_->clock().now(); }
  void accept(int number) {
    const auto answer =
        first_->ledger().accept({accepted(new_email(email_id(number)), now())}, std::nullopt, render_shared);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_TRUE(answer->outcomes.front().email);
  }
  static MoveOutcome move(OutboxProcess& process, Change change) {
    std::vector<Change> changes;
    changes.push_back(std::move(change));
    return process.ledger().move(std::move(changes)).front();
  }
  Email moved(Change change) {
    MoveOutcome outcome = move(*first_, std::move(change));
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
    return std::move(outcome.email);
  }
  Email find(int number) {
    const auto found = second_->ledger().find(email_id(number));
    EXPECT_TRUE(found && *found);
    return found && *found ? **found : Email();
  }
  Email to_ready(int number) {
    accept(number);
    return moved(decide_(find(number), event::MessageBuilt{"message"}, now()));
  }
  Email to_processing(int number) { return moved(decide_(to_ready(number), event::Claimed{"first"}, now())); }
  std::vector<std::string> history(int number) {
    std::vector<std::string> states;
    const auto lines = second_->ledger().history(email_id(number));
    EXPECT_TRUE(lines);
    for (const HistoryEntry& line : *lines) states.push_back(line.status);
    return states;
  }
  std::int64_t counted(State state) {
    const auto counts = second_->ledger().counts(std::nullopt);
    EXPECT_TRUE(counts);
    return counts ? (*counts)[index_of(state)] : -1;
  }

  Policy policy_ = ledger_policy();
  const std::shared_ptr<base::ManualClock> engine_clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, engine_clock_};
  const std::unique_ptr<OutboxProcess> first_ = process(1);
  const std::unique_ptr<OutboxProcess> second_ = process(2);
  const Decider decide_{ledger_policy()};
};

class SharedClaimTest : public SharedStoreTest {};

TEST_F(SharedClaimTest, AClaimWhoseAnswerIsLostIsTheClaimers) {
  to_ready(1);
  first_->store().lose_answers(1);
  const std::vector<Email> emails = claimed(first_->ledger(), Pipeline::send, 10, "first");
  EXPECT_THAT(ids_of(emails), ElementsAre(email_id(1)));
  EXPECT_EQ(find(1).owner, "first");
  EXPECT_THAT(history(1), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING"));
  EXPECT_EQ(counted(State::processing), 1);
  EXPECT_EQ(counted(State::ready), 0);
}

TEST_F(SharedClaimTest, SoIsOneThatNoAnswerComesTo) {
  to_ready(1);
  first_->store().lose_answers(store::store_attempts);
  EXPECT_THAT(claimed(first_->ledger(), Pipeline::send, 10, "first"), SizeIs(1));
}

TEST_F(SharedClaimTest, WhatAnotherProcessHasClaimedMeanwhileIsNotTakenForOnesOwn) {
  to_ready(1);
  first_->store().lose_request(
      [&] { ASSERT_THAT(claimed(second_->ledger(), Pipeline::send, 10, "second"), SizeIs(1)); });
  EXPECT_THAT(claimed(first_->ledger(), Pipeline::send, 10, "first"), IsEmpty());
  EXPECT_EQ(find(1).owner, "second");
}

TEST_F(SharedClaimTest, AnOutcomeThatMayBeWrittenIsKnownAgainWhenItIsWrittenOnceMore) {
  Email email = to_processing(1);
  Change change = decide_(email, event::SendingAttempted{{}, delivered(email)}, now());
  first_->store().lose_answers(store::store_attempts);
  first_->store().fail_reads(store::store_attempts);
  const MoveOutcome first = move(*first_, change);
  ASSERT_EQ(first.status, MoveStatus::failed);
  ASSERT_TRUE(first.in_doubt);
  EXPECT_EQ(find(1).state, State::sent);
  change.may_be_written = true;
  EXPECT_EQ(move(*first_, change).status, MoveStatus::done);
  EXPECT_THAT(history(1), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"));
  EXPECT_EQ(counted(State::sent), 1);
}

TEST_F(SharedClaimTest, WhatAStaleIndexShowsIsDecidedByTheItem) {
  to_ready(1);
  second_->store().stop_index();
  ASSERT_THAT(claimed(first_->ledger(), Pipeline::send, 10, "first"), SizeIs(1));
  EXPECT_THAT(claimed(second_->ledger(), Pipeline::send, 10, "second"), IsEmpty());
  EXPECT_EQ(find(1).owner, "first");
}

TEST_F(SharedClaimTest, WhatTheIndexShowsLateIsFoundAsSoonAsItDoes) {
  second_->store().stop_index();
  to_ready(1);
  second_->clock().advance(seconds(10));
  EXPECT_THAT(claimed(second_->ledger(), Pipeline::send, 10, "second"), IsEmpty());
  second_->store().resume_index();
  EXPECT_THAT(claimed(second_->ledger(), Pipeline::send, 10, "second"), SizeIs(1));
}

TEST_F(SharedClaimTest, TwoChangesOfOneEmailAreNotTriedInOneTransaction) {
  const Email ready = to_ready(1);
  const Change claim = decide_(ready, event::Claimed{"first"}, now());
  const Change other = decide_(to_ready(2), event::Claimed{"first"}, now());
  const std::vector<MoveOutcome> outcomes = first_->ledger().move({claim, claim, other});
  ASSERT_THAT(outcomes, SizeIs(3));
  EXPECT_EQ(outcomes[0].status, MoveStatus::done) << outcomes[0].error;
  EXPECT_EQ(outcomes[1].status, MoveStatus::lock_not_acquired) << outcomes[1].error;
  EXPECT_EQ(outcomes[2].status, MoveStatus::done) << outcomes[2].error;
}

TEST_F(SharedClaimTest, ProcessesDoNotGoThroughTheQueuesInTheSameOrder) {
  std::set<std::string> first_queues;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const auto another = process(seed);
    ASSERT_TRUE(another->ledger().due(Pipeline::send, 1, {}));
    for (const std::string& queue : another->store().queues_read())
      if (queue.starts_with("READY#")) {
        first_queues.insert(queue);
        break;
      }
  }
  EXPECT_GT(first_queues.size(), 1U);
}

TEST_F(SharedClaimTest, AQueueWhereAnotherProcessWasFasterComesLastForAMoment) {
  to_ready(1);
  const std::string busy = queue_of(find(1), least_shards);
  first_->store().lose_request(
      [&] { ASSERT_THAT(claimed(second_->ledger(), Pipeline::send, 10, "second"), SizeIs(1)); });
  ASSERT_THAT(claimed(first_->ledger(), Pipeline::send, 10, "first"), IsEmpty());
  for (int round = 0; round < 8; ++round) {
    first_->store().count_anew();
    ASSERT_TRUE(first_->ledger().due(Pipeline::send, 1, {}));
    EXPECT_EQ(first_->store().queues_read().back(), busy);
  }
}

TEST_F(SharedClaimTest, AnAcceptanceWhoseAnswerIsLostIsToldAsWhatItIs) {
  for (const bool with_key : {false, true}) {
    const std::string id = email_id(with_key ? 1 : 2);
    first_->store().lose_answers(1);
    const AcceptKey key{"k", "hash", now() + hours(24)};
    const auto answer = first_->ledger().accept({accepted(new_email(id), now())},
                                                with_key ? std::optional(key) : std::nullopt, render_shared);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, AcceptStatus::done);
    ASSERT_THAT(answer->outcomes, SizeIs(1));
    EXPECT_TRUE(answer->outcomes[0].email) << "a worker may wait for it";
  }
  EXPECT_EQ(counted(State::accepted), 2);
}

class SharedRescueTest : public SharedStoreTest {
 protected:
  // Time passes for all. The process that lives renews what it holds.
  void pass(base::Milliseconds time, bool is_alive) {
    for (base::Milliseconds passed{0}; passed < time; passed += seconds(5)) {
      first_->clock().advance(seconds(5));
      ahead_->clock().advance(seconds(5));
      if (is_alive) leases_.renew_once();
      while (rescuer_.run_once()) continue;
    }
  }

  const std::unique_ptr<OutboxProcess> ahead_ = process(3, seconds(60));
  Leases leases_{first_->ledger(), policy_, first_->clock()};
  std::vector<std::string> rescued_;
  Rescuer rescuer_{ahead_->ledger(), policy_,
                   ahead_->clock(),  [this](const Email& before, const Email&) { rescued_.push_back(before.id); },
                   policy_.lease,    seconds(5)};
};

TEST_F(SharedRescueTest, AClockThatIsAheadRescuesNothingFromAWorkerThatLives) {
  const Email email = to_processing(1);
  leases_.hold(email);
  pass(minutes(5), true);
  EXPECT_THAT(rescued_, IsEmpty());
  EXPECT_TRUE(leases_.holds(email));
}

TEST_F(SharedRescueTest, AProcessThatStoppedForLongerThanItsLeaseDoublesNothingWhenItGoesOn) {
  const Email email = to_processing(1);
  leases_.hold(email);
  pass(minutes(1), true);
  pass(2 * policy_.lease, false);
  EXPECT_THAT(rescued_, ElementsAre(email_id(1))) << "within a lease and the time to watch it";
  const std::vector<Email> taken = claimed(ahead_->ledger(), Pipeline::send, 10, "ahead");
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_FALSE(leases_.holds(email)) << "it must not end the message now";
  EXPECT_EQ(move(*first_, decide_(email, event::SendingAttempted{{}, delivered(email)}, now())).status,
            MoveStatus::lock_not_acquired);
  leases_.renew_once();
  EXPECT_FALSE(leases_.has(email));
  EXPECT_EQ(find(1).owner, "ahead");
}

TEST_F(SharedRescueTest, LooksThatFindNothingCostLittle) {
  ahead_->store().count_anew();
  pass(minutes(9), false);
  EXPECT_LE(ahead_->store().queries("DueAt < :limit"), 20) << "one for each queue, and not again for ten minutes";
  pass(minutes(3), false);
  EXPECT_EQ(ahead_->store().queries("DueAt < :limit"), 40);
  EXPECT_EQ(ahead_->store().queries(""), ahead_->store().requests()) << "nothing is written for a look";
}

TEST_F(SharedStoreTest, RenewalsGoOutTogether) {
  std::vector<Change> renewals;
  for (int number = 0; number < 40; ++number)
    renewals.push_back(decide_(to_processing(number), event::LeaseRenewed{}, now() + seconds(10)));
  const Email lost = find(7);
  ASSERT_EQ(move(*second_, decide_(lost, event::GivenBack{}, now())).status, MoveStatus::done);
  first_->store().gather_updates({32, 8});
  const Renewals outcome = first_->ledger().renew(renewals);
  EXPECT_TRUE(first_->store().have_all_gathered()) << "32 were under way at a time";
  EXPECT_THAT(outcome.kept, SizeIs(39));
  EXPECT_THAT(outcome.lost, ElementsAre(email_id(7)));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(find(8).due_at, now() + seconds(10) + policy_.lease);
}

class SharedLifeTest : public SharedStoreTest {
 protected:
  SharedLifeTest() { policy_.default_callback_url = "https://example.com/hook"; }

  // Of all records of e-mails and their contents: how many have a time to live, and how many have none.
  std::pair<int, int> lives() {
    int with = 0;
    int without = 0;
    for (const std::string& table : {store_.tables().emails, store_.tables().spool()})
      for (const item::Item& item : store_.scan(table)) {
        ++(item.contains("TTL") ? with : without);
        if (table == store_.tables().emails) EXPECT_TRUE(item.find("Attributes")->as<item::Map>().contains("TTL"));
      }
    return {with, without};
  }
  Email next(const Email& email, Event event) {
    auto change = decide(email, std::move(event), policy_, now());
    EXPECT_TRUE(change) << change.error().message;
    return moved(*std::move(change));
  }
};

TEST_F(SharedLifeTest, WhatIsNotFinishedHasNoTimeToLive) {
  const Email processing = to_processing(1);
  EXPECT_EQ(lives(), std::pair(0, 7)) << "the e-mail, four lines, payload and message";
  const Email sent = next(processing, event::SendingAttempted{{}, delivered(processing)});
  EXPECT_EQ(lives(), std::pair(0, 8)) << "a callback is due";
  const Email acknowledged = next(next(sent, event::Claimed{"first"}), event::CallbackAcknowledged{});
  EXPECT_EQ(lives(), std::pair(10, 0));
  const std::int64_t end = base::epoch_seconds(expiry_of(acknowledged, policy_));
  for (const std::string& table : {store_.tables().emails, store_.tables().spool()})
    for (const item::Item& item : store_.scan(table)) EXPECT_EQ(*item.find("TTL"), item::AttributeValue(end));
}

TEST_F(SharedLifeTest, WhatBeginsAnewHasNoneAnyMore) {
  const Email processing = to_processing(1);
  Email failed = next(processing, event::SendingAttempted{{}, refused(processing, "550 5.0.0 no")});
  failed = next(next(failed, event::Claimed{"first"}), event::CallbackAcknowledged{});
  ASSERT_EQ(lives(), std::pair(10, 0));
  const Email ready = next(failed, event::Requeued{"again"});
  EXPECT_EQ(lives(), std::pair(0, 11));
  const Email again = next(ready, event::Claimed{"first"});
  const Email sent = next(again, event::SendingAttempted{{}, refused(again, "550 5.0.0 no")});
  EXPECT_EQ(lives().first, 0);
  next(next(sent, event::Claimed{"first"}), event::CallbackAcknowledged{});
  EXPECT_EQ(lives().second, 0);
}

TEST_F(SharedLifeTest, ACallbackThatIsReplayedKeepsEverything) {
  const Email processing = to_processing(1);
  const Email sent = next(processing, event::SendingAttempted{{}, delivered(processing)});
  const Email dead = next(next(sent, event::Claimed{"first"}), event::CallbackFailed{"410", std::nullopt, true});
  ASSERT_TRUE(dead.callback_dead);
  ASSERT_EQ(lives().second, 0) << "nothing more happens to it by itself";
  auto replay = decide(dead, event::CallbackReplayed{}, policy_, now());
  ASSERT_TRUE(replay);
  ASSERT_TRUE(amend(first_->ledger(), *std::move(replay)));
  EXPECT_EQ(lives().first, 0);
  EXPECT_FALSE(find(1).callback_dead);
}

TEST_F(SharedLifeTest, ManyLinesAndLargeContentsGetItToo) {
  Draft draft = new_email(email_id(1));
  for (base::SeededRandom random(1); draft.payload.size() < 700'000;) draft.payload += base::make_uuid(random);
  ASSERT_TRUE(first_->ledger().accept({accepted(std::move(draft), now())}, std::nullopt, render_shared));
  Email email = moved(decide_(find(1), event::MessageBuilt{"message"}, now()));
  for (int attempt = 0; attempt < 30; ++attempt) {
    email = next(email, event::Claimed{"first"});
    email = next(email, event::GivenBack{});
  }
  const int records = lives().second;
  EXPECT_EQ(lives().first, 0);
  EXPECT_GT(records, 60);
  const Email cancelled = next(email, event::Cancelled{"enough"});
  ASSERT_TRUE(is_finished(cancelled));
  EXPECT_EQ(lives(), std::pair(records + 1, 0));
  const auto read = read_contents(second_->ledger().spool(), SpoolKind::payload, email_id(1), email.payload_path,
                                  [](std::size_t) { return true; });
  ASSERT_TRUE(read);
  EXPECT_GE(read->size(), 700'000U);
}

TEST_F(SharedLifeTest, OnesThatAreTooLargeToBeFinishedTogetherAreFinishedOneByOne) {
  std::vector<Change> changes;
  for (int number = 0; number < 10; ++number) {
    accept(number);
    changes.push_back(decide_(find(number), event::Cancelled{"enough"}, now()));
  }
  first_->store().limit_contents(5);
  for (const MoveOutcome& outcome : first_->ledger().move(std::move(changes)))
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
  EXPECT_EQ(lives().second, 0);
}

TEST_F(SharedLifeTest, CountsAreNotLeftToTheirTimeToLive) {
  const StoreTables tables{"another-outbox"};
  ASSERT_TRUE(prepare_tables(first_->store(), tables));
  EXPECT_EQ(store_.engine().describe_time_to_live(tables.counts())->status, store::TimeToLiveStatus::disabled);
  EXPECT_EQ(store_.engine().describe_time_to_live(tables.emails)->attribute_name, "TTL");
}

class SharedCostTest : public SharedStoreTest {};

TEST_F(SharedCostTest, AnEmailThatIsSentAtOnceTakesThreeRequests) {
  policy_.unknown_outcome = UnknownOutcomePolicy::resend;
  StoreSuppressions suppressions(first_->store(), store_.tables(), store_.retry());
  first_->store().count_anew();
  NewEmail email = accepted(new_email(email_id(1), "acme"), now());
  email.change.after.recipients.push_back({"cid@example.com", RecipientState::pending, ""});
  email.change = *then(std::move(email.change), event::MessageBuilt{"message"}, policy_, now());
  email.change = *then(std::move(email.change), event::Claimed{"first"}, policy_, now());
  const auto answer = first_->ledger().accept({email}, std::nullopt, render_shared);
  ASSERT_TRUE(answer);
  const Email processing = *answer->outcomes.front().email;
  EXPECT_THAT(*suppressions.find("acme", {"bob@example.com", "cid@example.com"}), IsEmpty());
  moved(*decide(processing, event::SendingAttempted{{}, delivered(processing)}, policy_, now()));
  EXPECT_EQ(first_->store().requests(), 3);
}

TEST_F(SharedCostTest, AMessageIsReadWithThePayloadThatItIsPackedBy) {
  NewEmail email = accepted(new_email(email_id(1)), now());
  std::string text;
  for (base::SeededRandom random(1); text.size() < 5'000;) text += base::make_uuid(random);
  email.payload = text;
  email.change = *then(std::move(email.change), event::MessageBuilt{"message: " + text}, policy_, now());
  ASSERT_TRUE(first_->ledger().accept({email}, std::nullopt, render_shared));
  const Email ready = find(1);
  first_->store().count_anew();
  EXPECT_EQ(*first_->ledger().spool().read(ready.message_path), "message: " + text);
  EXPECT_EQ(first_->store().requests(), 1);
}

TEST_F(SharedCostTest, SuppressionsOfAllRecipientsAreReadInOneRequest) {
  StoreSuppressions suppressions(first_->store(), store_.tables(), store_.retry());
  ASSERT_TRUE(suppressions.add("", {"Bob@Example.com", "bounced for all", now()}));
  ASSERT_TRUE(suppressions.add("acme", {"bob@example.com", "of the tenant", now()}));
  ASSERT_TRUE(suppressions.add("acme", {"cid@example.com", "of the tenant", now()}));
  ASSERT_TRUE(suppressions.add("other", {"dan@example.com", "another's", now()}));
  first_->store().count_anew();
  const auto found =
      suppressions.find("acme", {"bob@example.com", "BOB@example.com", "cid@example.com", "dan@example.com"});
  EXPECT_EQ(first_->store().requests(), 1);
  ASSERT_THAT(*found, SizeIs(3));
  EXPECT_EQ((*found)[0].reason, "bounced for all");
  EXPECT_EQ((*found)[1].reason, "bounced for all");
  EXPECT_EQ((*found)[2].reason, "of the tenant");
}

TEST_F(SharedCostTest, AcceptancesAreReadInOneRequest) {
  std::vector<std::string> ids;
  for (int number = 0; number < 20; ++number) ids.push_back(email_id(number));
  for (const int number : {3, 5}) accept(number);
  first_->store().count_anew();
  const auto found = first_->ledger().acceptances(ids);
  ASSERT_TRUE(found);
  EXPECT_EQ(first_->store().requests(), 1);
  ASSERT_THAT(*found, SizeIs(2));
  EXPECT_EQ(found->at(email_id(3)).token, find(3).acceptance_token);
  EXPECT_EQ(found->at(email_id(5)).at, find(5).created_at);
}

}  // namespace
}  // namespace postino::outbox
