#include "outbox/email/email.h"

#include <gtest/gtest.h>

#include <set>

namespace postino::outbox {
namespace {

using std::chrono::milliseconds;

constexpr base::TimePoint now{milliseconds(1'794'735'000'000)};

Email email_in(State state, std::optional<base::TimePoint> due, bool callback_dead = false) {
  Email email;
  email.state = state;
  email.due_at = due;
  email.callback_dead = callback_dead;
  return email;
}

TEST(Email, IsDueFromItsTimeOnInTheStatesThatWaitForAWorker) {
  for (const State state : all_states()) {
    const bool waits = kind_of(state) == StateKind::waiting;
    EXPECT_EQ(is_due(email_in(state, now), now), waits) << name_of(state);
    EXPECT_EQ(is_due(email_in(state, now - milliseconds(1)), now), waits) << name_of(state);
    EXPECT_FALSE(is_due(email_in(state, now + milliseconds(1)), now)) << name_of(state);
    EXPECT_FALSE(is_due(email_in(state, std::nullopt), now)) << name_of(state);
    EXPECT_FALSE(is_due(email_in(state, now, true), now)) << name_of(state) << ", given up";
  }
}

TEST(Email, ItsLeaseIsOverAfterTheLastMomentInTheStatesThatAWorkerHasItIn) {
  for (const State state : all_states()) {
    const bool is_worked_on = kind_of(state) == StateKind::working;
    EXPECT_EQ(is_lease_over(email_in(state, now - milliseconds(1)), now), is_worked_on) << name_of(state);
    EXPECT_FALSE(is_lease_over(email_in(state, now), now)) << name_of(state) << ": the last moment is the worker's";
    EXPECT_FALSE(is_lease_over(email_in(state, now + milliseconds(1)), now)) << name_of(state);
    EXPECT_FALSE(is_lease_over(email_in(state, std::nullopt), now)) << name_of(state);
  }
}

TEST(Email, ItsLeaseIsImpossibleIfItEndsLaterThanAnyThatIsGrantedNow) {
  constexpr milliseconds lease(30'000);
  for (const State state : all_states()) {
    const bool is_worked_on = kind_of(state) == StateKind::working;
    const base::TimePoint latest = latest_lease_end(now, lease);
    EXPECT_GT(latest, now + lease);
    EXPECT_EQ(is_lease_impossible(email_in(state, latest + milliseconds(1)), now, lease), is_worked_on);
    EXPECT_FALSE(is_lease_impossible(email_in(state, latest), now, lease)) << name_of(state);
    EXPECT_FALSE(is_lease_impossible(email_in(state, std::nullopt), now, lease)) << name_of(state);
  }
}

TEST(Email, IsFinishedWhenNothingMoreHappensByItselfAndNobodyHasToDecide) {
  using enum State;
  const std::set<State> outcomes = {sent, failed, invalid};
  const std::set<State> ends = {sent_acknowledged, failed_acknowledged, invalid_acknowledged, cancelled};
  for (const State state : all_states()) {
    EXPECT_EQ(is_outcome(state), outcomes.contains(state)) << name_of(state);
    EXPECT_EQ(may_be_finished(state), outcomes.contains(state) || ends.contains(state)) << name_of(state);
    EXPECT_EQ(is_finished(email_in(state, std::nullopt)), may_be_finished(state)) << name_of(state);
    EXPECT_EQ(is_finished(email_in(state, now)), ends.contains(state)) << name_of(state) << ", to be called back for";
    EXPECT_EQ(is_finished(email_in(state, now, true)), may_be_finished(state)) << name_of(state) << ", given up";
  }
}

TEST(RecipientState, WhatAMailServerTookIsCalledSentAndWasCalledDelivered) {
  using enum RecipientState;
  EXPECT_EQ(name_of(delivered), "sent");
  EXPECT_EQ(parse_recipient_state("delivered"), delivered);
  for (const RecipientState state : {pending, delivered, refused, suppressed})
    EXPECT_EQ(parse_recipient_state(name_of(state)), state);
  EXPECT_EQ(parse_recipient_state("lost"), pending);
}

}  // namespace
}  // namespace postino::outbox
