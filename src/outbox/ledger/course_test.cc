#include "outbox/ledger/course.h"

#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::TimePoint start{base::Milliseconds(1'794'735'000'000)};

Email email_in(State state, std::vector<std::string> recipients = {"ann@example.com"}) {
  Email email;
  email.id = "e1";
  email.state = state;
  email.version = 4;
  email.created_at = start;
  email.updated_at = start;
  email.owner = "worker";
  email.due_at = start + seconds(30);
  email.reason = "as before";
  email.attempts = 1;
  email.callback_attempts = acknowledged_form(state) ? 1 : 0;
  email.callback_url = "https://example.com/hook";
  email.reached[static_cast<std::size_t>(state)] = 1;
  for (std::string& address : recipients) email.recipients.push_back({std::move(address), {}, ""});
  return email;
}

mail::SendResult result_of(std::vector<mail::RecipientResult> recipients, mail::Severity severity, std::string text) {
  mail::SendResult result;
  result.severity = severity;
  result.reply = {severity == mail::Severity::success ? 250 : 450, "", std::move(text)};
  result.recipients = std::move(recipients);
  return result;
}

mail::RecipientResult success(std::string address) {
  return {std::move(address), mail::Severity::success, {250, "", "250 ok"}};
}
mail::RecipientResult temporary(std::string address) {
  return {std::move(address), mail::Severity::temporary, {450, "", "450 busy"}};
}
mail::RecipientResult permanent(std::string address) {
  return {std::move(address), mail::Severity::permanent, {550, "", "550 no such user"}};
}

class CourseTest : public testing::Test {
 protected:
  static RetryRules rules() {
    RetryRules rules;
    rules.max_attempts = 5;
    rules.max_callback_attempts = 3;
    return rules;
  }
  // What must hold of every move: legal, from the e-mail as it was claimed, and nobody's any more.
  static void check(const Move& move, const Email& claimed) {
    EXPECT_EQ(move.before, claimed);
    EXPECT_TRUE(may_follow(move.through.value_or(claimed.state), move.after.state)) << name_of(move.after.state);
    EXPECT_TRUE(!move.through || may_follow(claimed.state, *move.through)) << name_of(move.after.state);
    EXPECT_EQ(move.after.owner, "");
    EXPECT_EQ(move.after.id, claimed.id);
  }

  base::SeededRandom random_{1};
  Course course_{rules(), random_};
};

TEST_F(CourseTest, ABuiltMessageIsReadyAtOnceOrWhenItIsScheduled) {
  Email email = email_in(State::intaking);
  Move move = course_.built(email, "bytes", start + seconds(1));
  check(move, email);
  EXPECT_EQ(move.after.state, State::ready);
  EXPECT_EQ(move.message, "bytes");
  EXPECT_EQ(move.after.due_at, start + seconds(1));
  EXPECT_EQ(move.after.reason, "");

  email.send_at = start + hours(5);
  EXPECT_EQ(course_.built(email, "", start).after.due_at, start + hours(5));
  email.send_at = start - hours(5);
  EXPECT_EQ(course_.built(email, "", start).after.due_at, start) << "a time that is over means now";
}

TEST_F(CourseTest, WorkThatNeedsNoClaimPassesItsStateOnTheWay) {
  const Email email = email_in(State::accepted);
  for (const Move& move : {course_.built(email, "bytes", start), course_.invalid(email, "why", start),
                           course_.intake_again(email, "why", start)}) {
    EXPECT_EQ(move.before, email);
    EXPECT_EQ(move.through, State::intaking);
    EXPECT_TRUE(may_follow(State::intaking, move.after.state)) << name_of(move.after.state);
  }
  EXPECT_EQ(course_.built(email_in(State::intaking), "bytes", start).through, std::nullopt);
}

TEST_F(CourseTest, AnInvalidPayloadIsToldToTheCaller) {
  const Email email = email_in(State::intaking);
  const Move move = course_.invalid(email, "to is required", start + seconds(1));
  check(move, email);
  EXPECT_EQ(move.after.state, State::invalid);
  EXPECT_EQ(move.after.reason, "to is required");
  EXPECT_EQ(move.after.settled_at, start + seconds(1));
  EXPECT_EQ(move.after.due_at, start + seconds(1)) << "the callback is due";
  EXPECT_FALSE(move.after.internal_reason);
}

TEST_F(CourseTest, WithoutAUrlThereIsNoCallback) {
  Email email = email_in(State::processing);
  email.callback_url.clear();
  EXPECT_EQ(
      course_.after_sending(email, result_of({success("ann@example.com")}, mail::Severity::success, "250 ok"), start)
          .after.due_at,
      std::nullopt);
  RetryRules with_default = rules();
  with_default.default_callback_url = "https://example.org/all";
  const Course course(with_default, random_);
  EXPECT_EQ(course.callback_url(email), "https://example.org/all");
  EXPECT_EQ(course.callback_url(email_in(State::processing)), "https://example.com/hook") << "its own goes first";
  EXPECT_EQ(course.failed(email, "x", false, start).after.due_at, start);
}

TEST_F(CourseTest, TroubleOfOurOwnAtIntakeIsTriedAgainLaterAndKeepsTheReason) {
  Email email = email_in(State::accepted);
  email.owner.clear();
  email.reached[static_cast<std::size_t>(State::intaking)] = 2;  // this is the third time: the ceiling is 20 s
  const Move move = course_.intake_again(email, "the disk is full", start);
  check(move, email);
  EXPECT_EQ(move.after.state, State::accepted);
  EXPECT_EQ(move.after.reason, "as before");
  EXPECT_EQ(move.note, "the disk is full");
  EXPECT_GE(move.after.due_at, start + seconds(10));
  EXPECT_LT(move.after.due_at, start + seconds(20));
}

TEST_F(CourseTest, SuccessIsSent) {
  Email email = email_in(State::processing, {"ann@example.com", "bob@example.com"});
  email.outcome_unknown = true;  // as the ledger has it once the end was sent
  email.callback_attempts = 2;   // of an earlier outcome
  const Move move = course_.after_sending(
      email, result_of({success("ann@example.com"), success("bob@example.com")}, mail::Severity::success, "250 queued"),
      start + seconds(2));
  check(move, email);
  EXPECT_EQ(move.after.state, State::sent);
  EXPECT_EQ(move.after.reason, "250 queued");
  EXPECT_EQ(move.after.settled_at, start + seconds(2));
  EXPECT_EQ(move.after.due_at, start + seconds(2));
  EXPECT_FALSE(move.after.outcome_unknown);
  EXPECT_EQ(move.after.callback_attempts, 0);
  for (const Recipient& recipient : move.after.recipients) EXPECT_EQ(recipient.state, RecipientState::delivered);
}

TEST_F(CourseTest, ARefusalOfAllIsFailedWithTheServersWords) {
  const Email email = email_in(State::processing, {"ann@example.com", "bob@example.com"});
  const Move move = course_.after_sending(
      email,
      result_of({permanent("ann@example.com"), permanent("bob@example.com")}, mail::Severity::permanent, "554 no"),
      start);
  check(move, email);
  EXPECT_EQ(move.after.state, State::failed);
  EXPECT_EQ(move.after.reason, "550 no such user");
  EXPECT_FALSE(move.after.internal_reason);
  EXPECT_EQ(move.after.recipients[1].state, RecipientState::refused);
}

TEST_F(CourseTest, ARefusalOfSomeIsSentAndSaysToHowMany) {
  const Email email = email_in(State::processing, {"ann@example.com", "bob@example.com", "cid@example.com"});
  const Move move = course_.after_sending(
      email,
      result_of({success("ann@example.com"), permanent("bob@example.com"), success("cid@example.com")},
                mail::Severity::success, "250 queued"),
      start);
  EXPECT_EQ(move.after.state, State::sent);
  EXPECT_EQ(move.after.reason, "delivered to 2 of 3 recipients: 550 no such user");
}

TEST_F(CourseTest, TheSuppressedAreNamedAsTheCauseWhenNobodyWasRefused) {
  Email email = email_in(State::processing, {"ann@example.com", "bob@example.com"});
  email.recipients[1] = {"bob@example.com", RecipientState::suppressed, "bounced before"};
  const Move move =
      course_.after_sending(email, result_of({success("ann@example.com")}, mail::Severity::success, "250 ok"), start);
  EXPECT_EQ(move.after.state, State::sent);
  EXPECT_EQ(move.after.reason, "delivered to 1 of 2 recipients: bounced before");
  EXPECT_EQ(move.after.recipients[1].state, RecipientState::suppressed);
}

TEST_F(CourseTest, OnlyThoseWithoutAnAnswerAreTriedAgain) {
  const Email email = email_in(State::processing, {"ann@example.com", "bob@example.com", "cid@example.com"});
  const Move move = course_.after_sending(
      email,
      result_of({success("ann@example.com"), temporary("bob@example.com"), permanent("cid@example.com")},
                mail::Severity::success, "250 queued"),
      start);
  check(move, email);
  EXPECT_EQ(move.after.state, State::ready);
  EXPECT_EQ(move.after.settled_at, std::nullopt);
  EXPECT_EQ(move.after.recipients[0].state, RecipientState::delivered);
  EXPECT_EQ(move.after.recipients[1].state, RecipientState::pending);
  EXPECT_EQ(move.after.recipients[1].reply, "450 busy");
  EXPECT_EQ(move.after.recipients[2].state, RecipientState::refused);

  // The second time the last one gets through.
  Email second = move.after;
  second.state = State::processing;
  const Move last =
      course_.after_sending(second, result_of({success("bob@example.com")}, mail::Severity::success, "250 ok"), start);
  EXPECT_EQ(last.after.state, State::sent);
  EXPECT_EQ(last.after.reason, "delivered to 2 of 3 recipients: 550 no such user");
}

TEST_F(CourseTest, ATemporaryFailureIsTriedAgainWithGrowingDelays) {
  for (int attempts = 1; attempts < 5; ++attempts) {
    Email email = email_in(State::processing);
    email.attempts = attempts;
    const Move move = course_.after_sending(
        email, result_of({temporary("ann@example.com")}, mail::Severity::temporary, "450 busy"), start);
    check(move, email);
    EXPECT_EQ(move.after.state, State::ready);
    EXPECT_EQ(move.after.reason, "450 busy");
    EXPECT_EQ(move.after.attempts, attempts) << "it counts";
    const auto ceiling = minutes(1 << (attempts - 1));
    EXPECT_GE(*move.after.due_at, start + base::Milliseconds(ceiling) / 2);
    EXPECT_LT(*move.after.due_at, start + ceiling);
  }
}

TEST_F(CourseTest, ABrokenSessionSaysNothingAboutTheRecipients) {
  const Email email = email_in(State::processing);
  mail::SendResult result = result_of({permanent("ann@example.com")}, mail::Severity::permanent, "554 go away");
  result.session_failed = true;
  const Move move = course_.after_sending(email, result, start);
  EXPECT_EQ(move.after.state, State::ready);
  EXPECT_EQ(move.after.recipients, email.recipients);
}

TEST_F(CourseTest, ItIsGivenUpAfterSoManyAttempts) {
  Email email = email_in(State::processing);
  email.attempts = 5;
  const Move move = course_.after_sending(
      email, result_of({temporary("ann@example.com")}, mail::Severity::temporary, "450 busy"), start);
  check(move, email);
  EXPECT_EQ(move.after.state, State::failed);
  EXPECT_EQ(move.after.reason, "given up after 5 attempts: 450 busy");
  EXPECT_EQ(move.after.settled_at, start);
}

TEST_F(CourseTest, ItIsGivenUpWhenItIsTooOld) {
  Email email = email_in(State::processing);
  const auto outcome = [&](base::Milliseconds age) {
    return course_
        .after_sending(email, result_of({temporary("ann@example.com")}, mail::Severity::temporary, "450 busy"),
                       start + age)
        .after.state;
  };
  EXPECT_EQ(outcome(hours(48) - seconds(1)), State::ready);
  EXPECT_EQ(outcome(hours(48)), State::failed);
  email.send_at = start + hours(100);
  EXPECT_EQ(outcome(hours(147)), State::ready) << "from the time it was scheduled for";
  EXPECT_EQ(outcome(hours(148)), State::failed);
}

TEST_F(CourseTest, WhoHasItMakesAGivenUpEmailSent) {
  Email email = email_in(State::processing, {"ann@example.com", "bob@example.com"});
  email.attempts = 5;
  const Move move = course_.after_sending(
      email, result_of({success("ann@example.com"), temporary("bob@example.com")}, mail::Severity::success, "250 ok"),
      start);
  check(move, email);
  EXPECT_EQ(move.after.state, State::sent);
  EXPECT_EQ(move.after.reason.substr(0, 24), "given up after 5 attempt");
  EXPECT_EQ(move.after.recipients[0].state, RecipientState::delivered);
  EXPECT_EQ(move.after.recipients[1].state, RecipientState::pending);
}

TEST_F(CourseTest, AnUnknownOutcomeIsSentAgainOrHeldByPolicy) {
  const Email email = email_in(State::processing);
  mail::SendResult result = result_of({}, mail::Severity::temporary, "the connection broke");
  result.outcome_unknown = true;
  const Move again = course_.after_sending(email, result, start);
  check(again, email);
  EXPECT_EQ(again.after.state, State::ready);
  EXPECT_EQ(again.after.reason, "outcome unknown: the connection broke");
  EXPECT_FALSE(again.after.outcome_unknown);

  RetryRules holding = rules();
  holding.unknown_outcome = UnknownOutcomePolicy::hold;
  const Move held = Course(holding, random_).after_sending(email, result, start);
  check(held, email);
  EXPECT_EQ(held.after.state, State::held);
  EXPECT_EQ(held.after.held_from, State::ready);
  EXPECT_TRUE(held.after.outcome_unknown);
  EXPECT_EQ(held.after.due_at, std::nullopt);
}

TEST_F(CourseTest, WhatWasNotTriedDoesNotCount) {
  const Email email = email_in(State::processing);
  const Move move = course_.send_later(email, "waits", start + seconds(3), false);
  check(move, email);
  EXPECT_EQ(move.after.attempts, 0);
  EXPECT_EQ(move.after.due_at, start + seconds(3));
}

TEST_F(CourseTest, InternalReasonsAreMarked) {
  const Move move = course_.failed(email_in(State::processing), "the spool lost it", true, start);
  EXPECT_TRUE(move.after.internal_reason);
}

TEST_F(CourseTest, AnAcknowledgedCallbackEndsTheMatter) {
  for (const auto& [calling, end] : {std::pair(State::calling_sent, State::sent_acknowledged),
                                     {State::calling_failed, State::failed_acknowledged},
                                     {State::calling_invalid, State::invalid_acknowledged}}) {
    Email email = email_in(calling);
    email.callback_error = "HTTP 500";
    const Move move = course_.called_back(email, start);
    check(move, email);
    EXPECT_EQ(move.after.state, end);
    EXPECT_EQ(move.after.reason, "as before") << "carried over";
    EXPECT_EQ(move.after.callback_error, "");
    EXPECT_EQ(move.after.due_at, std::nullopt);
  }
}

TEST_F(CourseTest, AFailedCallbackIsTriedAgain) {
  Email email = email_in(State::calling_failed);
  email.callback_attempts = 2;  // the ceiling is 10 s
  const Move move = course_.callback_failed(email, "HTTP 503", std::nullopt, false, start);
  check(move, email);
  EXPECT_EQ(move.after.state, State::failed);
  EXPECT_EQ(move.after.reason, "as before");
  EXPECT_EQ(move.note, "callback failed: HTTP 503");
  EXPECT_EQ(move.after.callback_error, "HTTP 503");
  EXPECT_FALSE(move.after.callback_dead);
  EXPECT_GE(*move.after.due_at, start + seconds(5));
  EXPECT_LT(*move.after.due_at, start + seconds(10));
}

TEST_F(CourseTest, RetryAfterIsHonouredWithinReason) {
  const Email email = email_in(State::calling_sent);
  const auto wait = [&](base::Milliseconds asked) {
    return *course_.callback_failed(email, "HTTP 429", asked, false, start).after.due_at - start;
  };
  EXPECT_EQ(wait(minutes(7)), minutes(7));
  EXPECT_GE(wait(seconds(0)), base::Milliseconds(2'500)) << "never sooner than without it";
  EXPECT_EQ(wait(hours(1'000)), hours(24));
}

TEST_F(CourseTest, ACallbackIsGivenUpAfterSoManyAttemptsOrWhenItIsHopeless) {
  Email email = email_in(State::calling_sent);
  EXPECT_FALSE(course_.callback_failed(email, "x", std::nullopt, false, start).after.callback_dead);
  const Move hopeless = course_.callback_failed(email, "HTTP 410", std::nullopt, true, start);
  check(hopeless, email);
  EXPECT_TRUE(hopeless.after.callback_dead);
  EXPECT_EQ(hopeless.after.state, State::sent);
  email.callback_attempts = 3;
  const Move dead = course_.callback_failed(email, "x", minutes(1), false, start);
  EXPECT_TRUE(dead.after.callback_dead);
  EXPECT_EQ(dead.after.due_at, start);
}

TEST_F(CourseTest, RescueGoesBackToTheWaitingStateAtOnceAndKeepsTheReason) {
  for (const State state :
       {State::intaking, State::processing, State::calling_sent, State::calling_failed, State::calling_invalid}) {
    const Email email = email_in(state);
    const Move move = course_.rescued(email, start);
    check(move, email);
    EXPECT_EQ(move.after.state, rescued_form(state));
    EXPECT_EQ(move.after.due_at, start);
    EXPECT_EQ(move.after.reason, "as before");
    EXPECT_EQ(move.note, "rescued from " + std::string(name_of(state)) + ": its lease had ended");
  }
}

TEST_F(CourseTest, RescueOfAnUnknownOutcomeFollowsThePolicy) {
  Email email = email_in(State::processing);
  email.outcome_unknown = true;
  const Move again = course_.rescued(email, start);
  EXPECT_EQ(again.after.state, State::ready);
  EXPECT_FALSE(again.after.outcome_unknown);
  EXPECT_EQ(again.note, "rescued from PROCESSING: its lease had ended; outcome unknown");

  RetryRules holding = rules();
  holding.unknown_outcome = UnknownOutcomePolicy::hold;
  const Course careful(holding, random_);
  const Move held = careful.rescued(email, start);
  check(held, email);
  EXPECT_EQ(held.after.state, State::held);
  EXPECT_EQ(held.after.held_from, State::ready);
  EXPECT_TRUE(held.after.outcome_unknown);
  EXPECT_EQ(careful.rescued(email_in(State::processing), start).after.state, State::ready)
      << "what was not at its end can be sent again";
}

}  // namespace
}  // namespace postino::outbox
