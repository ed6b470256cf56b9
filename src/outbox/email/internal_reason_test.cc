// Which reasons are for operators alone: words of ours, which name relays and files.
#include <gtest/gtest.h>

#include "outbox/email/state_machine.h"

namespace postino::outbox {
namespace {

constexpr base::TimePoint sending_time{base::Milliseconds(1'794'735'000'000)};

Email last_attempt(const Policy& policy) {
  Email email;
  email.id = "e1";
  email.state = State::processing;
  email.version = 4;
  email.created_at = sending_time;
  email.updated_at = sending_time;
  email.attempts = policy.max_attempts;
  email.recipients = {{"ann@example.com", RecipientState::pending, ""},
                      {"bob@example.com", RecipientState::pending, ""}};
  return email;
}

Email after_reply(Email email, const smtp::Reply& reply, bool session_failed, const Policy& policy) {
  smtp::SendResult result;
  result.reply = reply;
  result.session_failed = session_failed;
  for (const Recipient& recipient : email.recipients)
    result.recipients.push_back({recipient.address, smtp::Severity::temporary, reply});
  return decide(std::move(email), event::SendingAttempted{{}, result}, policy, sending_time)->after;
}

TEST(InternalReason, WordsOfOursAreForOperators) {
  const Policy policy;
  const Email failed =
      after_reply(last_attempt(policy), {0, "", "cannot connect to 127.0.0.1:25: refused"}, true, policy);
  EXPECT_EQ(failed.state, State::failed);
  EXPECT_EQ(failed.reason, "given up after 40 attempts: cannot connect to 127.0.0.1:25: refused");
  EXPECT_TRUE(failed.internal_reason);
}

TEST(InternalReason, WordsOfTheServerAreForAll) {
  const Policy policy;
  for (const bool session_failed : {true, false}) {
    const Email failed = after_reply(last_attempt(policy), {450, "4.2.0", "450 4.2.0 busy"}, session_failed, policy);
    EXPECT_EQ(failed.state, State::failed);
    EXPECT_FALSE(failed.internal_reason);
  }
}

TEST(InternalReason, WhatSomeHaveAlreadyIsSentWithAReasonForOperators) {
  const Policy policy;
  Email email = last_attempt(policy);
  email.recipients[0].state = RecipientState::delivered;
  const Email sent = after_reply(std::move(email), {0, "", "cannot connect to 127.0.0.1:25: refused"}, true, policy);
  EXPECT_EQ(sent.state, State::sent);
  EXPECT_TRUE(sent.internal_reason);
}

TEST(InternalReason, AnOutcomeThatIsNotKnownIsForOperators) {
  const Policy policy;
  smtp::SendResult result;
  result.reply = {0, "", "10.0.0.7:25 did not answer"};
  result.outcome_unknown = true;
  const Email failed = decide(last_attempt(policy), event::SendingAttempted{{}, result}, policy, sending_time)->after;
  EXPECT_EQ(failed.state, State::failed);
  EXPECT_TRUE(failed.internal_reason);
}

TEST(InternalReason, OfOtherProgramsOnlyRepliesAreForAll) {
  const Policy policy;
  Email email = last_attempt(policy);
  const auto adopted = [&](State state, const std::string& reason) {
    email.state = state;
    email.reason = reason;
    return decide(email, event::Adopted{.is_moved = true}, policy, sending_time)->after;
  };
  EXPECT_EQ(public_reason(adopted(State::failed, "dial tcp 10.0.0.5:25: connection refused")), "internal error");
  EXPECT_EQ(public_reason(adopted(State::calling_failed, "5500 files")), "internal error");
  for (const std::string reply : {"550 5.1.1 no such user", "554-first line", "450", ""})
    EXPECT_EQ(public_reason(adopted(State::failed_acknowledged, reply)), reply);
  EXPECT_EQ(public_reason(adopted(State::sent, "sent through 10.0.0.5")), "") << "what was sent is no error";
}

TEST(InternalReason, WhereAPayloadIsKeptIsForOperators) {
  const Policy policy;
  Email email = last_attempt(policy);
  email.state = State::intaking;
  const Email invalid =
      decide(email, event::PayloadRejected{"the payload is missing from the spool", true}, policy, sending_time)->after;
  EXPECT_EQ(invalid.reason, "the payload is missing from the spool");
  EXPECT_EQ(public_reason(invalid), "internal error");
}

}  // namespace
}  // namespace postino::outbox
