// Attempts after which nobody knows whether the mail server took the message: that is remembered, and decided by what
// happened, not by what is said about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "outbox/email/state_machine.h"

namespace postino::outbox {
namespace {

class UnknownOutcomeTest : public testing::Test {
 protected:
  static constexpr base::TimePoint start{base::Milliseconds(1'794'735'000'000)};

  static Email sending() {
    Email email;
    email.id = "e1";
    email.state = State::processing;
    email.version = 4;
    email.created_at = start;
    email.updated_at = start;
    email.owner = "worker";
    email.due_at = start;
    email.attempts = 1;
    email.recipients = {{"ann@example.com", RecipientState::pending, ""}};
    return email;
  }
  static smtp::SendResult connection_lost() {
    smtp::SendResult result;
    result.severity = smtp::Severity::temporary;
    result.reply = {0, "", "the connection broke"};
    result.outcome_unknown = true;
    return result;
  }
  static smtp::SendResult refused(const std::string& words) {
    smtp::SendResult result;
    result.severity = smtp::Severity::permanent;
    result.reply = {550, "", words};
    result.recipients = {{"ann@example.com", smtp::Severity::permanent, {550, "", words}}};
    return result;
  }
  // It must be legal.
  Email after(const Email& email, Event event) const {
    const auto change = decide(email, std::move(event), policy_, start);
    EXPECT_TRUE(change) << change.error().message;
    return change ? change->after : Email();
  }

  Policy policy_;
};

TEST_F(UnknownOutcomeTest, IsRememberedWhateverHappensLater) {
  const Email waiting = after(sending(), event::SendingAttempted{{}, connection_lost()});
  EXPECT_EQ(waiting.state, State::ready);
  EXPECT_TRUE(may_have_gone_out(waiting));
  const Email failed = after(after(waiting, event::Claimed{"next"}), event::SendingAttempted{{}, refused("550 no")});
  EXPECT_EQ(failed.state, State::failed);
  EXPECT_TRUE(may_have_gone_out(failed));
  EXPECT_TRUE(may_have_gone_out(after(waiting, event::Cancelled{"not wanted"})));
}

TEST_F(UnknownOutcomeTest, IsRememberedAfterAnOperatorReleasedIt) {
  policy_.unknown_outcome = UnknownOutcomePolicy::hold;
  const Email held = after(sending(), event::SendingAttempted{{}, connection_lost()});
  EXPECT_EQ(held.state, State::held);
  EXPECT_TRUE(may_have_gone_out(after(held, event::Released{"looked at it"})));
}

TEST_F(UnknownOutcomeTest, OfALostWorkerIsRemembered) {
  Email lost = sending();
  lost.outcome_unknown = true;
  EXPECT_TRUE(may_have_gone_out(after(lost, event::LeaseEnded{})));
  lost.rescues = policy_.max_rescues - 1;
  const Email held = after(lost, event::LeaseEnded{});
  EXPECT_EQ(held.state, State::held);
  EXPECT_TRUE(may_have_gone_out(after(held, event::Released{"looked at it"})));
  lost.outcome_unknown = false;
  EXPECT_FALSE(may_have_gone_out(after(lost, event::LeaseEnded{})));
}

TEST_F(UnknownOutcomeTest, IsNotMadeByTheWordsOfAMailServer) {
  const Email failed = after(sending(), event::SendingAttempted{{}, refused("550 outcome unknown")});
  EXPECT_THAT(failed.reason, testing::HasSubstr("outcome unknown"));
  EXPECT_FALSE(may_have_gone_out(failed));
}

}  // namespace
}  // namespace postino::outbox
