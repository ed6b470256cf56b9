// A waiting e-mail that an operator wants to be tried now; and e-mails that were sent to some of their recipients.
#include <gtest/gtest.h>

#include "outbox/email/state_machine.h"

namespace postino::outbox {
namespace {

using std::chrono::minutes;

constexpr base::TimePoint retry_time{base::Milliseconds(1'794'735'000'000)};

Email waiting_in(State state) {
  Email email;
  email.id = "e1";
  email.state = state;
  email.version = 4;
  email.due_at = retry_time + minutes(30);
  return email;
}

TEST(Retry, WhatWaitsForItsNextAttemptIsDueAtOnce) {
  for (const State state : {State::accepted, State::ready}) {
    const auto change = decide(waiting_in(state), event::Retried{}, {}, retry_time);
    ASSERT_TRUE(change) << change.error().message;
    EXPECT_EQ(change->after.due_at, retry_time);
    EXPECT_EQ(change->after.state, state);
    EXPECT_EQ(change->after.version, 4);
    EXPECT_TRUE(change->lines.empty());
  }
}

TEST(Retry, WhatIsDueKeepsItsTurn) {
  Email email = waiting_in(State::ready);
  email.due_at = retry_time - minutes(5);
  EXPECT_EQ(decide(email, event::Retried{}, {}, retry_time)->after.due_at, retry_time - minutes(5));
}

TEST(Retry, ATimeThatTheCallerHasSetIsKept) {
  Email email = waiting_in(State::ready);
  email.send_at = retry_time + minutes(30);
  const auto refused = decide(email, event::Retried{}, {}, retry_time);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::conflict);
  EXPECT_EQ(refused.error().message, "e-mail e1 is not to be sent before 2026-11-15T10:00:00.000Z");
  EXPECT_TRUE(decide(email, event::Retried{}, {}, retry_time + minutes(30)));
}

TEST(Retry, IsForNoOtherState) {
  for (const State state : all_states()) {
    if (state == State::accepted || state == State::ready) continue;
    EXPECT_FALSE(decide(waiting_in(state), event::Retried{}, {}, retry_time)) << name_of(state);
  }
}

TEST(PartlySent, MeansSomeRecipientsAndNotAll) {
  Email email = waiting_in(State::sent);
  email.recipients = {{"ada@example.org", RecipientState::delivered, ""}, {"bob@example.org", {}, ""}};
  for (const RecipientState other :
       {RecipientState::pending, RecipientState::refused, RecipientState::suppressed, RecipientState::delivered}) {
    email.recipients[1].state = other;
    for (const State state : all_states()) {
      email.state = state;
      const bool is_sent = state == State::sent || state == State::calling_sent || state == State::sent_acknowledged;
      EXPECT_EQ(is_partly_sent(email), is_sent && other != RecipientState::delivered)
          << name_of(state) << " " << name_of(other);
    }
  }
}

}  // namespace
}  // namespace postino::outbox
