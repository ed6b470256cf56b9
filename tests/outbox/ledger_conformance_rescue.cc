// The contract of the ledger, continued: leases that have ended.
#include <gmock/gmock.h>

#include "ledger_conformance.h"

namespace postino::outbox {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

TEST_P(LedgerConformance, ExpiredLeasesAreFoundAndNoOthers) {
  const std::vector<std::string> ids = accept_some(6);
  const Email intaking = take(ids[0]);
  const Email processing = to_processing(ids[1]);
  to_sent(ids[2]);
  const Email calling = take(ids[2]);
  to_sent(ids[3]);   // waits for its callback, no worker has it
  to_ready(ids[4]);  // the same; and the last one was not touched at all
  EXPECT_THAT(*ledger().stale(now() + lease, 10), IsEmpty()) << "their last moment is theirs";
  clock().advance(lease + milliseconds(1));
  EXPECT_THAT(ids_of(*ledger().stale(now(), 10)), UnorderedElementsAre(ids[0], ids[1], ids[2]));
  EXPECT_THAT(ids_of(*ledger().stale(now(), 10)), UnorderedElementsAre(ids[0], ids[1], ids[2])) << "looking is free";
  EXPECT_THAT(*ledger().stale(now(), 2), SizeIs(2));
  ASSERT_TRUE(renewed(ledger(), {processing}, now()));
  const auto expired = ledger().find_ended_leases(now(), 10);
  ASSERT_TRUE(expired);
  EXPECT_THAT(ids_of(*expired), UnorderedElementsAre(ids[0], ids[2]));
  for (const Email& email : *expired) EXPECT_EQ(email, find(email.id));
  EXPECT_EQ(move(decide_(intaking, event::LeaseEnded{}, now())), MoveStatus::done);
  EXPECT_EQ(move(decide_(calling, event::LeaseEnded{}, now())), MoveStatus::done);
  EXPECT_THAT(ids_of(*ledger().stale(now() + hours(1), 10)), ElementsAre(ids[1]));
  expect_counts_right();
}

TEST_P(LedgerConformance, WhoHasRenewedItsLeaseIsNotRescuedAnyMore) {
  const std::string id = accept_some(1)[0];
  const Email processing = to_processing(id);
  const auto look = [&] {
    clock().advance(lease + milliseconds(1));
    const auto expired = ledger().stale(now(), 10);
    EXPECT_THAT(*expired, SizeIs(1));
    return expired->at(0);
  };
  const Email once = look();
  ASSERT_TRUE(renewed(ledger(), {processing}, now()));
  EXPECT_EQ(move(decide_(once, event::LeaseEnded{}, now())), MoveStatus::lock_not_acquired);

  const Email again = look();
  ASSERT_TRUE(amended(ledger(), processing, event::MessageEnding{}));
  EXPECT_EQ(move(decide_(again, event::LeaseEnded{}, now())), MoveStatus::lock_not_acquired) << "it may be sent by now";
  EXPECT_EQ(find(id).state, State::processing);
  EXPECT_TRUE(find(id).outcome_unknown);
  EXPECT_EQ(move(decide_(look(), event::LeaseEnded{}, now())), MoveStatus::done);
  expect_counts_right();
}

// Whatever a ledger asks its store or its database, it comes to what the predicates of email.h say of each e-mail.
TEST_P(LedgerConformance, FindsWhatIsDueAndWhoseLeaseIsOverAsThePredicatesHaveIt) {
  std::vector<Email> emails;
  const auto put = [&](State state, std::optional<base::TimePoint> due, bool callback_dead) {
    StoredEmail stored;
    stored.email.id = email_id(static_cast<int>(emails.size()) + 1);
    stored.email.state = state;
    stored.email.version = 1;
    stored.email.created_at = stored.email.updated_at = now();
    stored.email.due_at = due;
    stored.email.callback_dead = callback_dead;
    stored.email.sender = "ann@example.com";
    stored.email.recipients = {{"bob@example.com", RecipientState::pending, ""}};
    stored.history = {{std::string(name_of(state)), now(), "", 1}};
    stored.payload = "{}";
    const auto restored = ledger().restore(stored);
    ASSERT_TRUE(restored && *restored) << name_of(state);
    emails.push_back(stored.email);
  };
  for (const State state : all_states()) {
    if (kind_of(state) != StateKind::working) put(state, std::nullopt, false);
    if (kind_of(state) == StateKind::resting) continue;
    for (const base::TimePoint due : {now() - milliseconds(1), now(), now() + milliseconds(1)}) {
      put(state, due, false);
      if (is_outcome(state)) put(state, due, true);
    }
  }
  const auto ids_where = [&](const std::function<bool(const Email&)>& holds) {
    std::vector<std::string> ids;
    for (const Email& email : emails)
      if (holds(email)) ids.push_back(email.id);
    return ids;
  };
  for (const Pipeline pipeline : {Pipeline::intake, Pipeline::send, Pipeline::callback}) {
    const std::vector<std::string> due =
        ids_where([&](const Email& email) { return pipeline_of(email) == pipeline && is_due(email, now()); });
    EXPECT_THAT(due, SizeIs(2 * states_claimed_by(pipeline).size()));
    EXPECT_THAT(ids_of(ledger().due(pipeline, 100, {})->emails), UnorderedElementsAreArray(due)) << name_of(pipeline);
    EXPECT_THAT(ids_of(claim(pipeline, 100).emails), UnorderedElementsAreArray(due)) << name_of(pipeline);
  }
  const std::vector<std::string> lost = ids_where([&](const Email& email) { return is_lease_over(email, now()); });
  EXPECT_THAT(lost, SizeIs(5));
  EXPECT_THAT(ids_of(*ledger().stale(now(), 100)), UnorderedElementsAreArray(lost));
  EXPECT_THAT(ids_of(*ledger().find_ended_leases(now(), 100)), UnorderedElementsAreArray(lost));
}

TEST_P(LedgerConformance, TheRescuedAreClaimedAgain) {
  const std::string id = accept_some(1)[0];
  EXPECT_THAT(claim(Pipeline::intake, 10, "first").emails, SizeIs(1));
  clock().advance(lease + seconds(1));
  EXPECT_THAT(claim(Pipeline::intake, 10, "second").emails, IsEmpty()) << "rescue comes first";
  const auto expired = ledger().find_ended_leases(now(), 10);
  ASSERT_TRUE(expired);
  for (const Email& email : *expired) moved(decide_(email, event::LeaseEnded{}, now()));
  const Claim again = claim(Pipeline::intake, 10, "second");
  ASSERT_THAT(again.emails, SizeIs(1));
  EXPECT_EQ(again.emails[0].owner, "second");
  EXPECT_THAT(history(id), ElementsAre("ACCEPTED", "INTAKING", "ACCEPTED", "INTAKING"));
}

TEST_P(LedgerConformance, WhatIsStuckIsRequeuedUnlessItsLeaseWasRenewed) {
  const std::string id = accept_some(1)[0];
  const Email processing = to_processing(id);
  clock().advance(lease + milliseconds(1));
  const Change late = decide_(find(id), event::Requeued{"lost"}, now());
  ASSERT_TRUE(renewed(ledger(), {processing}, now()));
  EXPECT_EQ(move(late), MoveStatus::lock_not_acquired);
  clock().advance(lease + milliseconds(1));
  const Email requeued = moved(decide_(find(id), event::Requeued{"lost"}, now()));
  EXPECT_EQ(requeued.state, State::ready);
  EXPECT_EQ(requeued.begun_again_at, now());
  EXPECT_EQ(find(id), requeued);
  EXPECT_THAT(claim(Pipeline::send).emails, SizeIs(1));
  expect_counts_right();
}

}  // namespace postino::outbox
