#include "outbox/transport/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr base::TimePoint settled_time{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z

// The test vector that Standard Webhooks publishes.
TEST(Webhook, IsSignedAsStandardWebhooksSays) {
  const auto signer = WebhookSigner::create("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  ASSERT_TRUE(signer);
  EXPECT_THAT(
      signer->headers("msg_p5jXN8AQM9LWM0D4loKWxJek", base::from_epoch_milliseconds(1'614'265'330'999),
                      R"({"test": 2432232314})"),
      ElementsAre(std::pair("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"), std::pair("webhook-timestamp", "1614265330"),
                  std::pair("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")));
}

TEST(Webhook, IsNotSignedWithoutASecret) {
  const auto signer = WebhookSigner::create("");
  ASSERT_TRUE(signer);
  EXPECT_THAT(signer->headers("id", settled_time, "{}"),
              ElementsAre(std::pair("webhook-id", "id"), std::pair("webhook-timestamp", "1794735000")));
}

TEST(Webhook, SecretsHaveAForm) {
  for (const std::string& secret :
       {std::string("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), std::string("whsec_"), std::string("whsec_AAAA"),
        std::string("whsec_not base64 at all, but long enough"), "whsec_" + std::string(88, 'A')}) {
    const auto signer = WebhookSigner::create(secret);
    ASSERT_FALSE(signer) << secret;
    EXPECT_EQ(signer.error().message, "must be whsec_ and the base64 of 24 to 64 bytes");
  }
  EXPECT_TRUE(WebhookSigner::create("whsec_" + std::string(32, 'A')));
}

Email settled(State state) {
  Email email;
  email.id = "e1";
  email.state = state;
  email.reason = "550 \"no\"";
  email.created_at = settled_time - seconds(60);
  email.updated_at = settled_time + seconds(60);
  email.settled_at = settled_time;
  return email;
}

TEST(Webhook, TellsWhatBecameOfTheEmail) {
  EXPECT_EQ(
      webhook_body(settled(State::calling_sent)),
      R"({"code":"TRAVELING","reached_at":"2026-11-15T09:30:00.250Z","message_ids":["e1"],"reason":"550 \"no\""})");
  for (const State state : {State::calling_failed, State::calling_invalid})
    EXPECT_THAT(webhook_body(settled(state)), HasSubstr(R"("code":"DISPATCH-ERROR")"));
}

TEST(Webhook, HasTheTags) {
  Email email = settled(State::calling_sent);
  email.tags = {"orders", "grün"};
  EXPECT_THAT(webhook_body(email), testing::EndsWith(R"(,"tags":["orders","grün"]})"));
}

TEST(Webhook, TellsWhoDidNotGetIt) {
  Email email = settled(State::calling_sent);
  email.recipients = {{"ada@example.org", RecipientState::delivered, "250 ok"},
                      {"bob@example.org", RecipientState::refused, "550 no"}};
  EXPECT_THAT(
      webhook_body(email),
      testing::EndsWith(R"(,"partly_sent":true,"recipients":[{"address":"ada@example.org","status":"sent",)"
                        R"("reply":"250 ok"},{"address":"bob@example.org","status":"refused","reply":"550 no"}]})"));
  email.recipients[1].state = RecipientState::delivered;
  EXPECT_THAT(webhook_body(email), testing::Not(HasSubstr("partly_sent"))) << "all have it";
  email.state = State::calling_failed;
  email.recipients[0].state = email.recipients[1].state = RecipientState::refused;
  EXPECT_THAT(webhook_body(email), testing::Not(HasSubstr("partly_sent"))) << "none has it";
}

TEST(Webhook, InternalReasonsStayInside) {
  Email email = settled(State::calling_failed);
  email.internal_reason = true;
  email.reason = "cannot read /var/spool/x";
  EXPECT_THAT(webhook_body(email), HasSubstr(R"("reason":"internal error")"));
  EXPECT_THAT(webhook_body(email), testing::Not(HasSubstr("/var")));
}

TEST(Webhook, TheIdIsTheSameForEveryAttemptAtOneOutcome) {
  Email email = settled(State::calling_failed);
  const std::string first = webhook_id(email);
  email.callback_attempts = 5;
  email.updated_at += seconds(100);
  email.version += 2;
  EXPECT_EQ(webhook_id(email), first);
  email.settled_at = settled_time + seconds(1);  // requeued, and failed once more
  EXPECT_NE(webhook_id(email), first);
  Email other = settled(State::calling_failed);
  other.id = "e2";
  EXPECT_NE(webhook_id(other), first);
}

}  // namespace
}  // namespace postino::outbox
