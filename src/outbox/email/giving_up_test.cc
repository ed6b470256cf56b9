// When an e-mail that fails for now is given up: not by the clock alone.
#include <gtest/gtest.h>

#include "outbox/email/state_machine.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class GivingUpTest : public testing::Test {
 protected:
  static constexpr base::TimePoint accepted_at{base::Milliseconds(1'794'735'000'000)};

  GivingUpTest() {
    email_.id = "e1";
    email_.state = State::processing;
    email_.version = 4;
    email_.created_at = accepted_at;
    email_.updated_at = accepted_at;
    email_.recipients = {{"ann@example.com", RecipientState::pending, ""}};
  }
  // After a temporary failure.
  State state_at_age(base::Milliseconds age) const {
    smtp::SendResult busy;
    busy.severity = smtp::Severity::temporary;
    busy.reply = {450, "", "450 busy"};
    const auto change = decide(email_, event::SendingAttempted{{}, busy}, policy_, accepted_at + age);
    EXPECT_TRUE(change) << change.error().message;
    return change ? change->after.state : State::invalid;
  }

  Policy policy_;
  Email email_;
};

TEST_F(GivingUpTest, ItIsGivenUpWhenItIsTooOld) {
  email_.attempts = 20;  // 1, 2, 4 ... 128 minutes, and 11 times 4 hours: 48 hours and a quarter
  EXPECT_EQ(state_at_age(hours(48) - seconds(1)), State::ready);
  EXPECT_EQ(state_at_age(hours(48)), State::failed);
  email_.send_at = accepted_at + hours(100);
  EXPECT_EQ(state_at_age(hours(147)), State::ready) << "from the time it was scheduled for";
  EXPECT_EQ(state_at_age(hours(148)), State::failed);
}

TEST_F(GivingUpTest, AClockThatIsAheadGivesUpNothingThatWasNotTriedForLong) {
  for (email_.attempts = 1; email_.attempts < 20; ++email_.attempts)
    EXPECT_EQ(state_at_age(hours(24 * 40)), State::ready) << email_.attempts;
  EXPECT_EQ(state_at_age(hours(24 * 40)), State::failed);
}

TEST_F(GivingUpTest, AnAttemptCountsForAMinuteHoweverShortItsWaitIs) {
  policy_.sending_delay = {seconds(20), seconds(20)};
  policy_.give_up_after = minutes(10);
  email_.attempts = 10;
  EXPECT_EQ(state_at_age(hours(24 * 40)), State::ready);
  email_.attempts = 11;
  EXPECT_EQ(state_at_age(minutes(10) - seconds(1)), State::ready);
  EXPECT_EQ(state_at_age(minutes(10)), State::failed);
}

TEST_F(GivingUpTest, SoManyAttemptsAreEnoughAtAnyAge) {
  policy_.max_attempts = 5;
  email_.attempts = 4;
  EXPECT_EQ(state_at_age(seconds(1)), State::ready);
  email_.attempts = 5;
  EXPECT_EQ(state_at_age(seconds(1)), State::failed);
}

TEST_F(GivingUpTest, WhatIsRequeuedHasItsWholeTimeAgain) {
  email_.state = State::failed;
  email_.attempts = 20;
  email_ = decide(email_, event::Requeued{"again"}, policy_, accepted_at + hours(100)).value().after;
  email_ = decide(email_, event::Claimed{"worker"}, policy_, accepted_at + hours(100)).value().after;
  EXPECT_EQ(state_at_age(hours(100)), State::ready);
}

// It may be in the spool of another server, or be restored.
TEST_F(GivingUpTest, APayloadThatIsMissingIsAwaitedForAsLong) {
  email_.state = State::intaking;
  const auto state_at_age = [&](base::Milliseconds age, bool is_missing) {
    const auto change = decide(email_, event::IntakeFailed{"nothing there", is_missing}, policy_, accepted_at + age);
    return change ? change->after.state : State::cancelled;
  };
  int& looks = email_.reached[index_of(State::intaking)];
  looks = 1;
  EXPECT_EQ(state_at_age(base::Milliseconds(0), true), State::accepted);
  EXPECT_EQ(state_at_age(hours(24 * 40), true), State::accepted) << "the clock alone gives nothing up";
  looks = 57;  // they waited 5, 10 ... 2560 seconds, which are 85 minutes and a quarter, and 46 times an hour
  EXPECT_EQ(state_at_age(hours(48), true), State::accepted);
  looks = 58;
  EXPECT_EQ(state_at_age(hours(48) - seconds(1), true), State::accepted);
  EXPECT_EQ(state_at_age(hours(48), true), State::invalid);
  EXPECT_EQ(state_at_age(hours(48), false), State::accepted) << "other trouble ends";
}

}  // namespace
}  // namespace postino::outbox
