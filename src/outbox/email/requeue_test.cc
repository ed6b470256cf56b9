// What operators bring back to work: it starts over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "outbox/email/state_machine.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr base::TimePoint accepted_at{base::Milliseconds(1'794'735'000'000)};
constexpr base::TimePoint days_later = accepted_at + hours(24 * 5);
constexpr int attempts_of_two_days = 20;  // their waits come to 48 hours

Email email_of_long_ago(State state) {
  Email email;
  email.id = "e1";
  email.state = state;
  email.version = 4;
  email.created_at = accepted_at;
  email.updated_at = accepted_at;
  email.reason = "as before";
  email.attempts = 40;
  email.recipients = {{"ann@example.com", RecipientState::pending, ""}};
  return email;
}

Change changed_by(const Email& email, Event event, base::TimePoint now, const Policy& policy = {}) {
  auto change = decide(email, std::move(event), policy, now);
  EXPECT_TRUE(change) << change.error().message;
  return change ? *std::move(change) : Change();
}

// Claims it and fails for now.
Email tried_in_vain(const Email& email, base::TimePoint now) {
  const Email processing = changed_by(email, event::Claimed{"worker"}, now).after;
  smtp::SendResult busy;
  busy.reply = {450, "", "450 busy"};
  busy.recipients = {{"ann@example.com", smtp::Severity::temporary, busy.reply}};
  return changed_by(processing, event::SendingAttempted{{}, busy}, now).after;
}

TEST(Requeue, GivingUpCountsFromTheRequeue) {
  const Email requeued = changed_by(email_of_long_ago(State::failed), event::Requeued{"again"}, days_later).after;
  EXPECT_EQ(requeued.begun_again_at, days_later);
  Email tried = tried_in_vain(requeued, days_later + seconds(1));
  EXPECT_EQ(tried.state, State::ready) << tried.reason;
  tried.attempts = attempts_of_two_days - 1;
  EXPECT_EQ(tried_in_vain(tried, days_later + hours(48) - seconds(1)).state, State::ready);
  EXPECT_EQ(tried_in_vain(tried, days_later + hours(48)).state, State::failed);
}

TEST(Requeue, GivingUpCountsFromTheRelease) {
  Email held = email_of_long_ago(State::held);
  held.held_from = State::ready;
  const Email released = changed_by(held, event::Released{"go"}, days_later).after;
  Email tried = tried_in_vain(released, days_later + seconds(1));
  EXPECT_EQ(tried.state, State::ready) << tried.reason;
  tried.attempts = attempts_of_two_days - 1;
  EXPECT_EQ(tried_in_vain(tried, days_later + hours(48) - seconds(1)).state, State::ready);
  EXPECT_EQ(tried_in_vain(tried, days_later + hours(48)).state, State::failed);
}

TEST(Requeue, AScheduledEmailThatIsReleasedHasAllItsTimeFromItsScheduleOn) {
  Email held = email_of_long_ago(State::held);
  held.held_from = State::ready;
  held.send_at = days_later + hours(100);
  Email released = changed_by(held, event::Released{"go"}, days_later).after;
  released.attempts = attempts_of_two_days - 1;
  EXPECT_EQ(tried_in_vain(released, *held.send_at + hours(47)).state, State::ready);
  EXPECT_EQ(tried_in_vain(released, *held.send_at + hours(48)).state, State::failed);
}

TEST(Requeue, WhatAWorkerHasIsRequeuedWhenItsLeaseHasEnded) {
  Email stuck = email_of_long_ago(State::processing);
  stuck.owner = "worker";
  stuck.outcome_unknown = true;
  stuck.due_at = days_later;
  stuck.rescues = 2;  // a rescuer would hold it
  const auto refused = decide(stuck, event::Requeued{"lost"}, Policy(), days_later);
  ASSERT_FALSE(refused) << "the last moment of a lease is the worker's";
  EXPECT_EQ(refused.error().code, base::ErrorCode::conflict);
  EXPECT_EQ(refused.error().message,
            "an e-mail that is PROCESSING can be requeued only when the lease of its worker has ended");
  const Change change = changed_by(stuck, event::Requeued{"lost"}, days_later + milliseconds(1));
  EXPECT_TRUE(change.only_unrenewed);
  EXPECT_EQ(change.after.state, State::ready);
  EXPECT_EQ(change.after.owner, "");
  EXPECT_EQ(change.after.attempts, 0);
  EXPECT_EQ(change.after.rescues, 0);
  EXPECT_EQ(change.after.reason, "as before");
  EXPECT_EQ(change.lines.front().entry.reason,
            "requeued from PROCESSING: its lease had expired; outcome unknown; lost");
}

TEST(Requeue, WhatMayHaveBeenSentIsHeldIfThePolicySaysSo) {
  Policy policy;
  policy.unknown_outcome = UnknownOutcomePolicy::hold;
  Email stuck = email_of_long_ago(State::processing);
  stuck.outcome_unknown = true;
  stuck.due_at = accepted_at;
  const Change change = changed_by(stuck, event::Requeued{"lost"}, days_later, policy);
  EXPECT_EQ(change.after.state, State::held);
  EXPECT_THAT(change.after.reason, HasSubstr("outcome unknown"));
}

TEST(Requeue, ACallbackThatIsStuckIsTriedAnew) {
  Email stuck = email_of_long_ago(State::calling_sent);
  stuck.callback_attempts = 7;
  stuck.callback_url = "https://example.com/hook";
  stuck.due_at = accepted_at;
  const Email after = changed_by(stuck, event::Requeued{""}, days_later).after;
  EXPECT_EQ(after.state, State::sent);
  EXPECT_EQ(after.callback_attempts, 0);
  EXPECT_EQ(after.due_at, days_later);
  stuck.callback_url.clear();
  EXPECT_EQ(changed_by(stuck, event::LeaseEnded{}, days_later).after.due_at, std::nullopt) << "there is nobody to call";
}

}  // namespace
}  // namespace postino::outbox
