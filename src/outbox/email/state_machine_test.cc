#include "outbox/email/state_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "outbox/email/state_machine_testing.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

smtp::SendResult result_of(std::vector<smtp::RecipientResult> recipients, smtp::Severity severity, std::string text) {
  smtp::SendResult result;
  result.severity = severity;
  result.reply = {severity == smtp::Severity::success ? 250 : 450, "", std::move(text)};
  result.recipients = std::move(recipients);
  return result;
}

smtp::RecipientResult success(std::string address) {
  return {std::move(address), smtp::Severity::success, {250, "", "250 ok"}};
}
smtp::RecipientResult temporary(std::string address) {
  return {std::move(address), smtp::Severity::temporary, {450, "", "450 busy"}};
}
smtp::RecipientResult permanent(std::string address) {
  return {std::move(address), smtp::Severity::permanent, {550, "", "550 no such user"}};
}

class StateMachineTest : public testing::Test {
 protected:
  static Policy policy() {
    Policy policy;
    policy.max_attempts = 5;
    policy.max_callback_attempts = 3;
    return policy;
  }
  // It must be legal.
  static Change changed(const Email& email, Event event, base::TimePoint now, const Policy& policy) {
    static base::SeededRandom random(1);
    auto change = decide(email, std::move(event), policy, now, random.next());
    EXPECT_TRUE(change) << change.error().message;
    return change ? *std::move(change) : Change();
  }
  static base::Result<Change> tried(const Email& email, Event event) {
    return decide(email, std::move(event), policy(), start);
  }
  // What must hold of every end of work: legal, from the e-mail as it was claimed, and no worker's any more.
  static void check(const Change& move, const Email& claimed) {
    EXPECT_EQ(move.before, claimed);
    EXPECT_EQ(move.after.owner, "");
    EXPECT_EQ(move.after.id, claimed.id);
    EXPECT_EQ(move.after.version, claimed.version + static_cast<std::int64_t>(move.lines.size()));
    State from = claimed.state;
    std::int64_t version = claimed.version;
    for (const NewLine& line : move.lines) {
      const State to = *parse_state(line.entry.status);
      EXPECT_TRUE(may_follow(from, to)) << line.entry.status;
      EXPECT_EQ(line.entry.version, ++version);
      EXPECT_EQ(line.entry.at, move.after.updated_at);
      from = to;
    }
    EXPECT_EQ(from, move.after.state);
  }
  static std::vector<std::string> states(const Change& change) {
    std::vector<std::string> names;
    for (const NewLine& line : change.lines) names.push_back(line.entry.status);
    return names;
  }

  const Policy policy_ = policy();
};

TEST_F(StateMachineTest, ABuiltMessageIsReadyAtOnceOrWhenItIsScheduled) {
  Email email = email_in(State::intaking);
  Change move = changed(email, event::MessageBuilt{"bytes"}, start + seconds(1), policy_);
  check(move, email);
  EXPECT_EQ(move.after.state, State::ready);
  EXPECT_EQ(move.message, "bytes");
  EXPECT_EQ(move.after.due_at, start + seconds(1));
  EXPECT_EQ(move.after.reason, "");

  email.send_at = start + hours(5);
  EXPECT_EQ(changed(email, event::MessageBuilt{""}, start, policy_).after.due_at, start + hours(5));
  email.send_at = start - hours(5);
  EXPECT_EQ(changed(email, event::MessageBuilt{""}, start, policy_).after.due_at, start)
      << "a time that is over means now";
}

TEST_F(StateMachineTest, WorkThatNeedsNoClaimPassesItsStateOnTheWay) {
  const Email email = email_in(State::accepted);
  for (const Change& move : {changed(email, event::MessageBuilt{"bytes"}, start, policy_),
                             changed(email, event::PayloadRejected{"why"}, start, policy_),
                             changed(email, event::IntakeFailed{"why"}, start, policy_)}) {
    EXPECT_EQ(move.before, email);
    EXPECT_THAT(states(move), ElementsAre("INTAKING", name_of(move.after.state)));
    EXPECT_EQ(move.lines[0].entry.reason, "") << "nothing is to be said about it";
    EXPECT_TRUE(may_follow(State::intaking, move.after.state)) << name_of(move.after.state);
  }
  EXPECT_THAT(states(changed(email_in(State::intaking), event::MessageBuilt{"bytes"}, start, policy_)),
              ElementsAre("READY"));
}

TEST_F(StateMachineTest, AnInvalidPayloadIsToldToTheCaller) {
  const Email email = email_in(State::intaking);
  const Change move = changed(email, event::PayloadRejected{"to is required"}, start + seconds(1), policy_);
  check(move, email);
  EXPECT_EQ(move.after.state, State::invalid);
  EXPECT_EQ(move.after.reason, "to is required");
  EXPECT_EQ(move.after.settled_at, start + seconds(1));
  EXPECT_EQ(move.after.due_at, start + seconds(1)) << "the callback is due";
  EXPECT_FALSE(move.after.internal_reason);
}

TEST_F(StateMachineTest, WithoutAUrlThereIsNoCallback) {
  Email email = email_in(State::processing);
  email.callback_url.clear();
  EXPECT_EQ(
      changed(email,
              event::SendingAttempted{{}, result_of({success("ann@example.com")}, smtp::Severity::success, "250 ok")},
              start, policy_)
          .after.due_at,
      std::nullopt);
  Policy with_default = policy();
  with_default.default_callback_url = "https://example.org/all";
  EXPECT_EQ(callback_url_of(email, with_default), "https://example.org/all");
  EXPECT_EQ(callback_url_of(email_in(State::processing), with_default), "https://example.com/hook")
      << "its own goes first";
  EXPECT_EQ(
      changed(email,
              event::SendingAttempted{{}, result_of({permanent("ann@example.com")}, smtp::Severity::permanent, "x")},
              start, with_default)
          .after.due_at,
      start);
}

TEST_F(StateMachineTest, TroubleOfOurOwnAtIntakeIsTriedAgainLaterAndKeepsTheReason) {
  Email email = email_in(State::accepted);
  email.owner.clear();
  email.reached[static_cast<std::size_t>(State::intaking)] = 2;  // this is the third time: the ceiling is 20 s
  const Change move = changed(email, event::IntakeFailed{"the disk is full"}, start, policy_);
  check(move, email);
  EXPECT_EQ(move.after.state, State::accepted);
  EXPECT_EQ(move.after.reason, "as before");
  EXPECT_EQ(move.lines.back().entry.reason, "the disk is full");
  EXPECT_GE(move.after.due_at, start + seconds(10));
  EXPECT_LT(move.after.due_at, start + seconds(20));
}

TEST_F(StateMachineTest, SuccessIsSent) {
  Email email = email_in(State::processing, {"ann@example.com", "bob@example.com"});
  email.outcome_unknown = true;  // as the ledger has it once the end was sent
  email.callback_attempts = 2;   // of an earlier outcome
  const Change move = changed(
      email,
      event::SendingAttempted{
          {},
          result_of({success("ann@example.com"), success("bob@example.com")}, smtp::Severity::success, "250 queued")},
      start + seconds(2), policy_);
  check(move, email);
  EXPECT_EQ(move.after.state, State::sent);
  EXPECT_EQ(move.after.reason, "250 queued");
  EXPECT_EQ(move.after.settled_at, start + seconds(2));
  EXPECT_EQ(move.after.due_at, start + seconds(2));
  EXPECT_FALSE(move.after.outcome_unknown);
  EXPECT_EQ(move.after.callback_attempts, 0);
  for (const Recipient& recipient : move.after.recipients) EXPECT_EQ(recipient.state, RecipientState::delivered);
}

TEST_F(StateMachineTest, ARefusalOfAllIsFailedWithTheServersWords) {
  const Email email = email_in(State::processing, {"ann@example.com", "bob@example.com"});
  const Change move = changed(
      email,
      event::SendingAttempted{
          {},
          result_of({permanent("ann@example.com"), permanent("bob@example.com")}, smtp::Severity::permanent, "554 no")},
      start, policy_);
  check(move, email);
  EXPECT_EQ(move.after.state, State::failed);
  EXPECT_EQ(move.after.reason, "550 no such user");
  EXPECT_FALSE(move.after.internal_reason);
  EXPECT_EQ(move.after.recipients[1].state, RecipientState::refused);
}

TEST_F(StateMachineTest, ARefusalOfSomeIsSentAndSaysToHowMany) {
  const Email email = email_in(State::processing, {"ann@example.com", "bob@example.com", "cid@example.com"});
  const Change move =
      changed(email,
              event::SendingAttempted{
                  {},
                  result_of({success("ann@example.com"), permanent("bob@example.com"), success("cid@example.com")},
                            smtp::Severity::success, "250 queued")},
              start, policy_);
  EXPECT_EQ(move.after.state, State::sent);
  EXPECT_EQ(move.after.reason, "sent to 2 of 3 recipients: 550 no such user");
}

TEST_F(StateMachineTest, TheSuppressedAreNamedAsTheCauseWhenNobodyWasRefused) {
  Email email = email_in(State::processing, {"ann@example.com", "bob@example.com"});
  email.recipients[1] = {"bob@example.com", RecipientState::suppressed, "bounced before"};
  const Change move = changed(
      email, event::SendingAttempted{{}, result_of({success("ann@example.com")}, smtp::Severity::success, "250 ok")},
      start, policy_);
  EXPECT_EQ(move.after.state, State::sent);
  EXPECT_EQ(move.after.reason, "sent to 1 of 2 recipients: bounced before");
  EXPECT_EQ(move.after.recipients[1].state, RecipientState::suppressed);
}

TEST_F(StateMachineTest, OnlyThoseWithoutAnAnswerAreTriedAgain) {
  const Email email = email_in(State::processing, {"ann@example.com", "bob@example.com", "cid@example.com"});
  const Change move =
      changed(email,
              event::SendingAttempted{
                  {},
                  result_of({success("ann@example.com"), temporary("bob@example.com"), permanent("cid@example.com")},
                            smtp::Severity::success, "250 queued")},
              start, policy_);
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
  const Change last = changed(
      second, event::SendingAttempted{{}, result_of({success("bob@example.com")}, smtp::Severity::success, "250 ok")},
      start, policy_);
  EXPECT_EQ(last.after.state, State::sent);
  EXPECT_EQ(last.after.reason, "sent to 2 of 3 recipients: 550 no such user");
}

TEST_F(StateMachineTest, ATemporaryFailureIsTriedAgainWithGrowingDelays) {
  for (int attempts = 1; attempts < 5; ++attempts) {
    Email email = email_in(State::processing);
    email.attempts = attempts;
    const Change move = changed(
        email,
        event::SendingAttempted{{}, result_of({temporary("ann@example.com")}, smtp::Severity::temporary, "450 busy")},
        start, policy_);
    check(move, email);
    EXPECT_EQ(move.after.state, State::ready);
    EXPECT_EQ(move.after.reason, "450 busy");
    EXPECT_EQ(move.after.attempts, attempts) << "it counts";
    const auto ceiling = minutes(1 << (attempts - 1));
    EXPECT_GE(*move.after.due_at, start + base::Milliseconds(ceiling) / 2);
    EXPECT_LT(*move.after.due_at, start + ceiling);
  }
}

TEST_F(StateMachineTest, ABrokenSessionSaysNothingAboutTheRecipients) {
  const Email email = email_in(State::processing);
  smtp::SendResult result = result_of({permanent("ann@example.com")}, smtp::Severity::permanent, "554 go away");
  result.session_failed = true;
  const Change move = changed(email, event::SendingAttempted{{}, result}, start, policy_);
  EXPECT_EQ(move.after.state, State::ready);
  EXPECT_EQ(move.after.recipients, email.recipients);
}

TEST_F(StateMachineTest, ItIsGivenUpAfterSoManyAttempts) {
  Email email = email_in(State::processing);
  email.attempts = 5;
  const Change move = changed(
      email,
      event::SendingAttempted{{}, result_of({temporary("ann@example.com")}, smtp::Severity::temporary, "450 busy")},
      start, policy_);
  check(move, email);
  EXPECT_EQ(move.after.state, State::failed);
  EXPECT_EQ(move.after.reason, "given up after 5 attempts: 450 busy");
  EXPECT_EQ(move.after.settled_at, start);
}

TEST_F(StateMachineTest, WhoHasItMakesAGivenUpEmailSent) {
  Email email = email_in(State::processing, {"ann@example.com", "bob@example.com"});
  email.attempts = 5;
  const Change move = changed(
      email,
      event::SendingAttempted{
          {}, result_of({success("ann@example.com"), temporary("bob@example.com")}, smtp::Severity::success, "250 ok")},
      start, policy_);
  check(move, email);
  EXPECT_EQ(move.after.state, State::sent);
  EXPECT_EQ(move.after.reason.substr(0, 24), "given up after 5 attempt");
  EXPECT_EQ(move.after.recipients[0].state, RecipientState::delivered);
  EXPECT_EQ(move.after.recipients[1].state, RecipientState::pending);
}

TEST_F(StateMachineTest, AnUnknownOutcomeIsSentAgainOrHeldByPolicy) {
  const Email email = email_in(State::processing);
  smtp::SendResult result = result_of({}, smtp::Severity::temporary, "the connection broke");
  result.outcome_unknown = true;
  const Change again = changed(email, event::SendingAttempted{{}, result}, start, policy_);
  check(again, email);
  EXPECT_EQ(again.after.state, State::ready);
  EXPECT_EQ(again.after.reason, "outcome unknown: the connection broke");
  EXPECT_FALSE(again.after.outcome_unknown);
  EXPECT_TRUE(may_have_gone_out(again.after));

  Policy holding = policy();
  holding.unknown_outcome = UnknownOutcomePolicy::hold;
  const Change held = changed(email, event::SendingAttempted{{}, result}, start, holding);
  check(held, email);
  EXPECT_EQ(held.after.state, State::held);
  EXPECT_EQ(held.after.held_from, State::ready);
  EXPECT_TRUE(held.after.outcome_unknown);
  EXPECT_EQ(held.after.due_at, std::nullopt);
}

TEST_F(StateMachineTest, WhatWasNotTriedDoesNotCount) {
  const Email email = email_in(State::processing);
  const Change move = changed(email, event::SendingPostponed{"waits", start + seconds(3)}, start, policy_);
  check(move, email);
  EXPECT_EQ(move.after.attempts, 0);
  EXPECT_EQ(move.after.due_at, start + seconds(3));
}

TEST_F(StateMachineTest, InternalReasonsAreMarked) {
  const Change move = changed(email_in(State::processing), event::MessageLost{{}, "the spool lost it"}, start, policy_);
  EXPECT_TRUE(move.after.internal_reason);
}

TEST_F(StateMachineTest, AnAcknowledgedCallbackEndsTheMatter) {
  for (const auto& [calling, end] : {std::pair(State::calling_sent, State::sent_acknowledged),
                                     {State::calling_failed, State::failed_acknowledged},
                                     {State::calling_invalid, State::invalid_acknowledged}}) {
    Email email = email_in(calling);
    email.callback_error = "HTTP 500";
    const Change move = changed(email, event::CallbackAcknowledged{}, start, policy_);
    check(move, email);
    EXPECT_EQ(move.after.state, end);
    EXPECT_EQ(move.after.reason, "as before") << "carried over";
    EXPECT_EQ(move.after.callback_error, "");
    EXPECT_EQ(move.after.due_at, std::nullopt);
  }
}

TEST_F(StateMachineTest, AFailedCallbackIsTriedAgain) {
  Email email = email_in(State::calling_failed);
  email.callback_attempts = 2;  // the ceiling is 10 s
  const Change move = changed(email, event::CallbackFailed{"HTTP 503", std::nullopt, false}, start, policy_);
  check(move, email);
  EXPECT_EQ(move.after.state, State::failed);
  EXPECT_EQ(move.after.reason, "as before");
  EXPECT_EQ(move.lines.back().entry.reason, "callback failed: HTTP 503");
  EXPECT_EQ(move.after.callback_error, "HTTP 503");
  EXPECT_FALSE(move.after.callback_dead);
  EXPECT_GE(*move.after.due_at, start + seconds(5));
  EXPECT_LT(*move.after.due_at, start + seconds(10));
}

TEST_F(StateMachineTest, RetryAfterIsHonouredWithinReason) {
  const Email email = email_in(State::calling_sent);
  const auto wait = [&](base::Milliseconds asked) {
    return *changed(email, event::CallbackFailed{"HTTP 429", asked, false}, start, policy_).after.due_at - start;
  };
  EXPECT_EQ(wait(minutes(7)), minutes(7));
  EXPECT_GE(wait(seconds(0)), base::Milliseconds(2'500)) << "never sooner than without it";
  EXPECT_EQ(wait(hours(1'000)), hours(24));
}

TEST_F(StateMachineTest, ACallbackIsGivenUpAfterSoManyAttemptsOrWhenItIsHopeless) {
  Email email = email_in(State::calling_sent);
  EXPECT_FALSE(changed(email, event::CallbackFailed{"x", std::nullopt, false}, start, policy_).after.callback_dead);
  const Change hopeless = changed(email, event::CallbackFailed{"HTTP 410", std::nullopt, true}, start, policy_);
  check(hopeless, email);
  EXPECT_TRUE(hopeless.after.callback_dead);
  EXPECT_EQ(hopeless.after.state, State::sent);
  email.callback_attempts = 3;
  const Change dead = changed(email, event::CallbackFailed{"x", minutes(1), false}, start, policy_);
  EXPECT_TRUE(dead.after.callback_dead);
  EXPECT_EQ(dead.after.due_at, start);
}

TEST_F(StateMachineTest, RescueGoesBackToTheWaitingStateAtOnceAndKeepsTheReason) {
  for (const State state :
       {State::intaking, State::processing, State::calling_sent, State::calling_failed, State::calling_invalid}) {
    const Email email = email_in(state);
    const Change move = changed(email, event::LeaseEnded{}, start, policy_);
    check(move, email);
    EXPECT_EQ(move.after.state, rescued_form(state));
    EXPECT_EQ(move.after.due_at, start);
    EXPECT_EQ(move.after.reason, "as before");
    EXPECT_EQ(move.lines.back().entry.reason,
              "rescued from " + std::string(name_of(state)) + ": its lease had expired");
  }
}

TEST_F(StateMachineTest, RescueOfAnUnknownOutcomeFollowsThePolicy) {
  Email email = email_in(State::processing);
  email.outcome_unknown = true;
  const Change again = changed(email, event::LeaseEnded{}, start, policy_);
  EXPECT_EQ(again.after.state, State::ready);
  EXPECT_FALSE(again.after.outcome_unknown);
  EXPECT_EQ(again.lines.back().entry.reason, "rescued from PROCESSING: its lease had expired; outcome unknown");

  Policy holding = policy();
  holding.unknown_outcome = UnknownOutcomePolicy::hold;
  const Change held = changed(email, event::LeaseEnded{}, start, holding);
  check(held, email);
  EXPECT_EQ(held.after.state, State::held);
  EXPECT_EQ(held.after.held_from, State::ready);
  EXPECT_TRUE(held.after.outcome_unknown);
  EXPECT_EQ(changed(email_in(State::processing), event::LeaseEnded{}, start, holding).after.state, State::ready)
      << "what was not at its end can be sent again";
}

// Acceptance, and what follows it in the same commit.

Email draft() {
  Email email;
  email.id = "e1";
  email.callback_url = "https://example.com/hook";
  email.recipients = {{"ann@example.com", RecipientState::pending, ""}};
  return email;
}

TEST_F(StateMachineTest, ANewEmailIsAcceptedAndDueForIntake) {
  Email later = draft();
  later.send_at = start + hours(5);
  const Change change = changed(later, event::Accepted{}, start, policy_);
  EXPECT_EQ(change.after.state, State::accepted);
  EXPECT_EQ(change.after.version, 1);
  EXPECT_EQ(change.after.created_at, start);
  EXPECT_EQ(change.after.updated_at, start);
  EXPECT_EQ(change.after.due_at, start) << "intake need not wait for the time of sending";
  ASSERT_THAT(states(change), ElementsAre("ACCEPTED"));
  EXPECT_EQ(change.lines[0].entry, (HistoryEntry{"ACCEPTED", start, "", 1}));
  EXPECT_FALSE(tried(change.after, event::Accepted{})) << "once";
}

TEST_F(StateMachineTest, DirectDispatchIsTheSameWayInOneChange) {
  Change change = changed(draft(), event::Accepted{}, start, policy_);
  change = *then(std::move(change), event::MessageBuilt{"bytes"}, policy_, start);
  EXPECT_EQ(change.after.state, State::ready);
  EXPECT_EQ(change.message, "bytes");
  change = *then(std::move(change), event::Claimed{"me"}, policy_, start);
  EXPECT_THAT(states(change), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING"));
  EXPECT_EQ(change.message, "bytes");
  EXPECT_EQ(change.after.version, 4);
  EXPECT_EQ(change.after.owner, "me");
  EXPECT_EQ(change.after.due_at, start + policy_.lease);
  EXPECT_EQ(change.after.attempts, 1);
  EXPECT_TRUE(change.after.outcome_unknown);
  for (std::size_t i = 0; i < change.lines.size(); ++i) {
    EXPECT_EQ(change.lines[i].entry.version, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(change.lines[i].occurrence, 1);
  }
}

// Claims and leases.

TEST_F(StateMachineTest, AClaimLeasesAndCountsTheAttempt) {
  Email ready = email_in(State::ready);
  ready.owner.clear();
  const Change sending = changed(ready, event::Claimed{"me"}, start, policy_);
  EXPECT_EQ(sending.after.state, State::processing);
  EXPECT_EQ(sending.after.owner, "me");
  EXPECT_EQ(sending.after.due_at, start + seconds(30));
  EXPECT_EQ(sending.after.attempts, 2);
  EXPECT_EQ(sending.after.callback_attempts, 0);
  EXPECT_EQ(sending.after.reason, "") << "the last attempt's is over";
  const Change calling = changed(email_in(State::sent), event::Claimed{"me"}, start, policy_);
  EXPECT_EQ(calling.after.state, State::calling_sent);
  EXPECT_EQ(calling.after.attempts, 1);
  EXPECT_EQ(calling.after.callback_attempts, 1);
  EXPECT_EQ(calling.after.reason, "as before");
  EXPECT_FALSE(calling.after.outcome_unknown);
}

TEST_F(StateMachineTest, WhatIsClaimedForSendingCountsAsPerhapsSentUnlessItWouldBeHeld) {
  EXPECT_TRUE(changed(email_in(State::ready), event::Claimed{"me"}, start, policy_).after.outcome_unknown);
  EXPECT_FALSE(changed(email_in(State::accepted), event::Claimed{"me"}, start, policy_).after.outcome_unknown);
  Policy holding = policy();
  holding.unknown_outcome = UnknownOutcomePolicy::hold;
  EXPECT_FALSE(changed(email_in(State::ready), event::Claimed{"me"}, start, holding).after.outcome_unknown);
}

TEST_F(StateMachineTest, WhatIsGivenBackIsAsIfItHadNotBeenClaimed) {
  for (const State waiting : {State::accepted, State::ready, State::sent, State::failed, State::invalid}) {
    Email email = email_in(waiting);
    email.owner.clear();
    const Change claim = changed(email, event::Claimed{"me"}, start, policy_);
    const Change back = changed(claim.after, event::GivenBack{}, start + seconds(1), policy_);
    check(back, claim.after);
    EXPECT_EQ(back.after.state, waiting);
    EXPECT_EQ(back.after.attempts, email.attempts);
    EXPECT_EQ(back.after.callback_attempts, email.callback_attempts);
    EXPECT_EQ(back.after.due_at, start + seconds(1));
    EXPECT_FALSE(back.after.outcome_unknown);
    EXPECT_EQ(back.lines.back().entry.reason, "given back: the worker was told to stop");
  }
}

// Within a state: no line of history, no new version.
TEST_F(StateMachineTest, SomeChangesAreNoSteps) {
  const auto same = [](Change change) {
    EXPECT_THAT(change.lines, IsEmpty());
    EXPECT_EQ(change.after.version, change.before.version);
    EXPECT_EQ(change.after.state, change.before.state);
    EXPECT_EQ(change.after.updated_at, change.before.updated_at);
    return change.after;
  };
  const Email sending = email_in(State::processing);
  EXPECT_EQ(same(changed(sending, event::LeaseRenewed{}, start + hours(1), policy_)).due_at,
            start + hours(1) + policy_.lease);
  EXPECT_TRUE(same(changed(sending, event::MessageEnding{}, start, policy_)).outcome_unknown);
  Email dead = email_in(State::sent);
  dead.callback_dead = true;
  dead.callback_attempts = 3;
  const Email replayed = same(changed(dead, event::CallbackReplayed{}, start + hours(1), policy_));
  EXPECT_FALSE(replayed.callback_dead);
  EXPECT_EQ(replayed.callback_attempts, 0);
  EXPECT_EQ(replayed.due_at, start + hours(1));
}

TEST_F(StateMachineTest, OnlyACallbackThatWasGivenUpIsReplayedAndItIsNotClaimed) {
  const auto refused = tried(email_in(State::sent), event::CallbackReplayed{});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the callback of e-mail e1 was not given up");
  Email dead = email_in(State::sent);
  dead.callback_dead = true;
  EXPECT_FALSE(tried(dead, event::Claimed{"me"}));
}

// Operators.

TEST_F(StateMachineTest, WhatWaitsCanBeHeldAndReleased) {
  for (const State state : {State::accepted, State::ready}) {
    Email email = email_in(state);
    email.owner.clear();
    email.send_at = start + hours(5);
    email.internal_reason = true;
    const Change hold = changed(email, event::Held{"wait"}, start, policy_);
    EXPECT_EQ(hold.after.state, State::held);
    EXPECT_EQ(hold.after.held_from, state);
    EXPECT_EQ(hold.after.due_at, std::nullopt);
    EXPECT_EQ(hold.after.reason, "wait");
    EXPECT_FALSE(hold.after.internal_reason);
    const Change release = changed(hold.after, event::Released{"go"}, start, policy_);
    EXPECT_EQ(release.after.state, state);
    EXPECT_EQ(release.after.held_from, std::nullopt);
    EXPECT_EQ(release.after.due_at, state == State::ready ? start + hours(5) : start);
    EXPECT_EQ(release.lines.back().entry.reason, "go");
  }
}

TEST_F(StateMachineTest, WhatWasNotBegunCanBeCancelled) {
  for (const State state : {State::accepted, State::ready, State::held}) {
    const Change cancel = changed(email_in(state), event::Cancelled{"no"}, start, policy_);
    EXPECT_EQ(cancel.after.state, State::cancelled);
    EXPECT_EQ(cancel.after.due_at, std::nullopt);
  }
  const auto refused = tried(email_in(State::sent), event::Cancelled{"no"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::conflict);
  EXPECT_EQ(refused.error().message, "an e-mail that is SENT cannot be cancelled");
}

TEST_F(StateMachineTest, ARequeueBeginsAnewButForThoseWhoHaveIt) {
  Email email = email_in(State::failed_acknowledged, {"ann@example.com", "bob@example.com", "cid@example.com"});
  email.recipients[0].state = RecipientState::delivered;
  email.recipients[1] = {"bob@example.com", RecipientState::refused, "550 no"};
  email.recipients[2].state = RecipientState::suppressed;
  email.settled_at = start;
  email.callback_error = "HTTP 500";
  const Change change = changed(email, event::Requeued{"again"}, start + hours(1), policy_);
  EXPECT_EQ(change.after.state, State::ready);
  EXPECT_EQ(change.after.attempts, 0);
  EXPECT_EQ(change.after.settled_at, std::nullopt);
  EXPECT_EQ(change.after.callback_error, "");
  EXPECT_EQ(change.after.due_at, start + hours(1));
  EXPECT_EQ(change.after.recipients[0].state, RecipientState::delivered);
  EXPECT_EQ(change.after.recipients[1], (Recipient{"bob@example.com", RecipientState::pending, ""}));
  EXPECT_EQ(change.after.recipients[2].state, RecipientState::pending);
  EXPECT_EQ(changed(email_in(State::invalid), event::Requeued{""}, start, policy_).after.state, State::accepted);
}

// Suppressions, bounces, other programs, other ledgers.

TEST_F(StateMachineTest, TheSuppressedAreNotTried) {
  const Email email = email_in(State::processing, {"ann@example.com", "Bob@Example.com"});
  const std::vector<Suppression> bob = {{"bob@example.com", "complained", start}};
  const Change some = changed(
      email, event::SendingAttempted{bob, result_of({success("ann@example.com")}, smtp::Severity::success, "250 ok")},
      start, policy_);
  EXPECT_EQ(some.after.state, State::sent);
  EXPECT_EQ(some.after.reason, "sent to 1 of 2 recipients: complained");
  const std::vector<Suppression> both = {{"bob@example.com", "complained", start},
                                         {"ann@example.com", "bounced", start}};
  smtp::SendResult nothing;
  nothing.severity = smtp::Severity::permanent;
  const Change all = changed(email, event::SendingAttempted{both, nothing}, start, policy_);
  check(all, email);
  EXPECT_EQ(all.after.state, State::failed);
  EXPECT_EQ(all.after.reason, "every recipient is on the suppression list");
  EXPECT_EQ(all.after.recipients[1].state, RecipientState::suppressed);
}

TEST_F(StateMachineTest, ABounceIsALineAndNoStateUpToALimit) {
  Email email = email_in(State::sent_acknowledged);
  const Bounce bounce{"ann@example.com", "5.1.1", "no such user", true, start + hours(1)};
  const Change change = changed(email, event::Bounced{bounce}, start, policy_);
  ASSERT_THAT(change.lines, testing::SizeIs(1));
  EXPECT_EQ(change.lines[0].entry,
            (HistoryEntry{"BOUNCED", bounce.at, "ann@example.com: no such user", email.version}));
  EXPECT_EQ(change.after.version, email.version);
  EXPECT_EQ(change.after.bounces, std::vector<Bounce>{bounce});
  EXPECT_EQ(changed(change.after, event::Bounced{bounce}, start, policy_).lines[0].occurrence, 2);
  email.bounces.assign(max_bounces, bounce);
  EXPECT_THAT(changed(email, event::Bounced{bounce}, start, policy_).lines, IsEmpty());
}

TEST_F(StateMachineTest, WhatAnotherProgramWroteIsAdopted) {
  Email email = email_in(State::accepted);
  email.recipients.clear();
  Description description;
  description.sender = "bob@example.com";
  description.recipients = {{"ann@example.com", RecipientState::pending, ""}};
  EXPECT_EQ(changed(email, event::Adopted{description}, start, policy_).after.sender, "bob@example.com");
  EXPECT_TRUE(changed(email_in(State::processing), event::Adopted{}, start, policy_).after.outcome_unknown)
      << "it does not say when it begins to send";
  const Email sent = changed(email_in(State::sent), event::Adopted{.is_moved = true}, start, policy_).after;
  EXPECT_EQ(sent.due_at, std::nullopt) << "it calls back itself";
  EXPECT_EQ(sent.owner, foreign_owner);
}

TEST_F(StateMachineTest, WhatPostinoHasSentToSomeStaysSoWhenAnotherProgramCallsBack) {
  Email email = email_in(State::sent_acknowledged);
  email.settled_at = start - seconds(9);
  email.recipients = {{"ann@example.com", RecipientState::delivered, "250 ok"},
                      {"bob@example.com", RecipientState::refused, "550 no"}};
  const Email called_back = changed(email, event::Adopted{.is_moved = true}, start, policy_).after;
  EXPECT_TRUE(is_partly_sent(called_back));
  EXPECT_EQ(called_back.settled_at, email.settled_at);
  email.recipients[0].state = RecipientState::refused;  // it had failed here, and was sent there
  EXPECT_FALSE(is_partly_sent(changed(email, event::Adopted{.is_moved = true}, start, policy_).after));
}

TEST_F(StateMachineTest, ARestoredEmailKnowsHowOftenItWasWhere) {
  Email email = email_in(State::ready);
  email.reached = {};
  const Change change = changed(
      email,
      event::Restored{
          {{"ACCEPTED", start, "", 1}, {"READY", start, "", 2}, {"BOUNCED", start, "", 2}, {"READY", start, "", 3}}},
      start, policy_);
  EXPECT_EQ(change.after.reached[index_of(State::ready)], 2);
  ASSERT_THAT(change.lines, testing::SizeIs(4));
  EXPECT_EQ(change.lines[3].occurrence, 2);
  EXPECT_EQ(change.after.version, email.version);
}

TEST_F(StateMachineTest, TimeDoesNotGoBack) {
  Email email = email_in(State::processing);
  email.updated_at = start + seconds(5);  // by a process whose clock is ahead
  const Change change = changed(
      email, event::SendingAttempted{{}, result_of({success("ann@example.com")}, smtp::Severity::success, "250 ok")},
      start, policy_);
  EXPECT_EQ(change.after.updated_at, start + seconds(5));
  EXPECT_EQ(change.after.settled_at, start + seconds(5));
}

}  // namespace
}  // namespace postino::outbox
