// E-mails whose workers are lost again and again, and servers that say when to come again.
#include <gtest/gtest.h>

#include "outbox/email/state_machine.h"

namespace postino::outbox {
namespace {

constexpr base::TimePoint lost_at{base::Milliseconds(1'794'735'000'000)};  // 2026-11-15T09:30:00Z

class RescuesTest : public testing::Test {
 protected:
  static Email lost_in(State state) {
    Email email;
    email.id = "e1";
    email.state = state;
    email.version = 4;
    email.created_at = lost_at;
    email.updated_at = lost_at;
    email.owner = "worker";
    email.due_at = lost_at;
    email.reason = "as before";
    email.attempts = 1;
    email.callback_url = "https://example.com/hook";
    email.recipients = {{"ann@example.com", RecipientState::pending, ""}};
    return email;
  }
  // It must be legal.
  Change changed(const Email& email, Event event) const {
    auto change = decide(email, std::move(event), policy_, lost_at);
    EXPECT_TRUE(change) << change.error().message;
    return change ? *std::move(change) : Change();
  }

  const Policy policy_;
};

TEST_F(RescuesTest, AnEmailThatLosesItsWorkerThreeTimesInARowIsHeld) {
  for (const State state : {State::intaking, State::processing}) {
    Email email = lost_in(state);
    for (int lost = 1; lost < 3; ++lost) {
      Change rescued = changed(email, event::LeaseEnded{});
      EXPECT_EQ(rescued.after.state, rescued_form(state));
      EXPECT_EQ(rescued.after.rescues, lost);
      EXPECT_EQ(*rescued.after.due_at > lost_at, lost > 1) << "those that were lost together twice come one by one";
      email = changed(rescued.after, event::Claimed{"next"}).after;
    }
    email.outcome_unknown = true;
    const Change held = changed(email, event::LeaseEnded{});
    EXPECT_EQ(held.after.owner, "");
    EXPECT_EQ(held.after.state, State::held);
    EXPECT_EQ(held.after.reason, "its worker was lost 3 times in a row; outcome unknown");
    EXPECT_EQ(held.after.held_from, rescued_form(state));
    EXPECT_EQ(held.after.due_at, std::nullopt);
    const Change released = changed(held.after, event::Released{"try again"});
    EXPECT_EQ(released.after.state, rescued_form(state));
    EXPECT_EQ(released.after.rescues, 0);
  }
}

TEST_F(RescuesTest, ACallbackThatLosesItsWorkerThreeTimesInARowIsGivenUp) {
  Email email = lost_in(State::calling_sent);
  email.rescues = 2;
  const Change given_up = changed(email, event::LeaseEnded{});
  EXPECT_EQ(given_up.after.state, State::sent) << "what is known of it stays";
  EXPECT_TRUE(given_up.after.callback_dead);
  EXPECT_EQ(given_up.after.callback_error, "its worker was lost 3 times in a row");
  EXPECT_EQ(given_up.after.reason, "as before");
  EXPECT_EQ(changed(given_up.after, event::CallbackReplayed{}).after.rescues, 0);
}

TEST_F(RescuesTest, OnlyLossesInARowCount) {
  Email email = lost_in(State::processing);
  email.rescues = 2;
  EXPECT_EQ(changed(email, event::SendingPostponed{"later", lost_at}).after.rescues, 0);
  EXPECT_EQ(changed(email, event::SendingAttempted{}).after.rescues, 0);
  EXPECT_EQ(changed(email, event::GivenBack{}).after.rescues, 2) << "nobody has tried";
  EXPECT_EQ(changed(email, event::LeaseRenewed{}).after.rescues, 2);
}

TEST_F(RescuesTest, AnotherAttemptIsNotMadeBeforeTheTimeThatTheServerNamed) {
  const Email email = lost_in(State::processing);
  event::SendingAttempted attempted;
  attempted.result.reply = {450, "4.7.1", "450 4.7.1 try again in 5 hours"};
  for (const Recipient& recipient : email.recipients)
    attempted.result.recipients.push_back({recipient.address, smtp::Severity::temporary, attempted.result.reply});
  const Change move = changed(email, attempted);
  EXPECT_EQ(move.after.state, State::ready);
  EXPECT_EQ(move.after.due_at, lost_at + std::chrono::hours(5));
}

}  // namespace
}  // namespace postino::outbox
