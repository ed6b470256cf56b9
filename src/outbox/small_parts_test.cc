#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "outbox/caller.h"
#include "outbox/destination_limits.h"
#include "outbox/listing_cursor.h"
#include "outbox/statistics.h"
#include "outbox/webhook.h"
#include "outbox/work_queue.h"

namespace postino::outbox {
namespace {

using base::Milliseconds;
using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr base::TimePoint start{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z

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
  EXPECT_THAT(signer->headers("id", start, "{}"),
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
  email.created_at = start - seconds(60);
  email.updated_at = start + seconds(60);
  email.settled_at = start;
  return email;
}

TEST(Webhook, TellsWhatBecameOfTheEmail) {
  EXPECT_EQ(
      webhook_body(settled(State::calling_sent)),
      R"({"code":"TRAVELING","reached_at":"2026-11-15T09:30:00.250Z","message_ids":["e1"],"reason":"550 \"no\""})");
  for (const State state : {State::calling_failed, State::calling_invalid})
    EXPECT_THAT(webhook_body(settled(state)), HasSubstr(R"("code":"DISPATCH-ERROR")"));
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
  email.settled_at = start + seconds(1);  // requeued, and failed once more
  EXPECT_NE(webhook_id(email), first);
  Email other = settled(State::calling_failed);
  other.id = "e2";
  EXPECT_NE(webhook_id(other), first);
}

TEST(RetryAfter, IsANumberOfSecondsOrADate) {
  EXPECT_EQ(parse_retry_after("0", start), Milliseconds(0));
  EXPECT_EQ(parse_retry_after("120", start), seconds(120));
  EXPECT_EQ(parse_retry_after("99999999999", start), seconds(1'000'000));
  // The example of RFC 9110, 30 seconds after one of ours.
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", base::from_epoch_milliseconds(784'111'747'000)),
            seconds(30));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", start), Milliseconds(0)) << "that is over";
  for (const char* text : {"", "-1", "+5", "5s", "1.5", "5 6", "soon", "Sun, 06 Nov 1994 08:49:37 PST",
                           "Sun, 06 Nov 1994 08:49:37 GMT+1", "999999999999999999999999"})
    EXPECT_EQ(parse_retry_after(text, start), std::nullopt) << text;
}

TEST(DestinationLimits, WithoutRulesEverythingGoes) {
  DestinationLimits limits({});
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(limits.admit("a.example", "e", start), std::nullopt);
}

TEST(DestinationLimits, SoManyAtATimeForEachDestination) {
  DestinationLimits limits({.concurrency = 2});
  EXPECT_EQ(limits.admit("a.example", "1", start), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "2", start), std::nullopt);
  const auto later = limits.admit("a.example", "3", start);
  ASSERT_TRUE(later);
  EXPECT_GT(*later, start);
  EXPECT_EQ(limits.admit("b.example", "4", start), std::nullopt) << "others do not wait for it";
  limits.done("a.example");
  EXPECT_EQ(limits.admit("a.example", "3", start), std::nullopt);
  limits.done("nobody.example");
}

TEST(DestinationLimits, SoManyASecondAndEachGetsATurn) {
  DestinationLimits limits({.rate = 2});
  EXPECT_EQ(limits.admit("a.example", "1", start), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "2", start), start + Milliseconds(500));
  EXPECT_EQ(limits.admit("a.example", "3", start), start + Milliseconds(1'000));
  EXPECT_EQ(limits.admit("a.example", "2", start + Milliseconds(100)), start + Milliseconds(500)) << "its turn is kept";
  EXPECT_EQ(limits.admit("a.example", "4", start + Milliseconds(500)), start + Milliseconds(1'500));
  EXPECT_EQ(limits.admit("a.example", "2", start + Milliseconds(500)), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "3", start + Milliseconds(1'200)), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "5", start + seconds(10)), std::nullopt) << "what is not used is not saved up";
  EXPECT_EQ(limits.admit("a.example", "6", start + seconds(10)), start + Milliseconds(10'500));
}

TEST(DestinationLimits, ATurnNobodyComesForEnds) {
  DestinationLimits limits({.rate = 1});
  EXPECT_EQ(limits.admit("a.example", "1", start), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "2", start), start + seconds(1));
  EXPECT_EQ(limits.admit("a.example", "3", start + seconds(100)), std::nullopt);
  EXPECT_EQ(limits.admit("a.example", "2", start + seconds(100)), start + seconds(101)) << "a new one";
}

TEST(DestinationLimits, HighRatesAreKeptToo) {
  for (const int rate : {300, 700, 3'000}) {
    DestinationLimits limits({.rate = static_cast<double>(rate)});
    int admitted = 0;
    for (int i = 0; i < 20'000; ++i)
      if (const auto turn = limits.admit("a.example", std::to_string(i), start); !turn || *turn < start + seconds(1))
        ++admitted;
    EXPECT_NEAR(admitted, rate, rate / 100 + 3);
  }
}

TEST(ListingCursor, IsReadBackAndNothingElseIs) {
  for (const std::string& position : {std::string("x"), std::string("2026-11-15T09:30:00.250Z#id"),
                                      std::string("\0\xFF\x80", 3), std::string(1'000, 'p')})
    EXPECT_EQ(read_cursor(make_cursor(position)).value_or("-"), position);
  const std::string cursor = make_cursor("position");
  std::vector<std::string> wrong = {"",
                                    "x",
                                    "00000000",
                                    cursor.substr(1),
                                    cursor + "00",
                                    cursor.substr(0, cursor.size() - 2),
                                    cursor + "g",
                                    base::upper_case(cursor),
                                    std::string(cursor.size(), 'g')};
  std::string changed = cursor;
  changed.back() = changed.back() == '0' ? '1' : '0';
  wrong.push_back(changed);
  for (const std::string& text : wrong) {
    const auto read = read_cursor(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message, "cursor must be one that an earlier page gave");
  }
}

TEST(QueueCursor, BeginsALittleBeforeWhatWasSeenAndSweepsNowAndThen) {
  using Steady = QueueCursor::Steady;
  QueueCursor cursor;
  Steady::time_point time{seconds(1'000)};
  const base::TimePoint beginning;
  EXPECT_EQ(cursor.start(time), beginning) << "first of all everything";
  cursor.found(beginning, start, time, time + Milliseconds(2));
  EXPECT_EQ(cursor.start(time + Milliseconds(3)), start - Milliseconds(100));
  cursor.found(start - Milliseconds(100), start + seconds(5), time, time);
  EXPECT_EQ(cursor.start(time + Milliseconds(4)), start + seconds(5) - Milliseconds(100));
  cursor.found(start + seconds(5) - Milliseconds(100), start, time, time);
  EXPECT_EQ(cursor.start(time + Milliseconds(4)), start + seconds(5) - Milliseconds(100)) << "never back";
  EXPECT_NE(cursor.start(time + Milliseconds(1'001)), beginning);
  EXPECT_EQ(cursor.start(time + Milliseconds(1'002)), beginning) << "a second after the last sweep ended";
}

TEST(QueueCursor, SweepsTheLessOftenTheLongerTheyTake) {
  using Steady = QueueCursor::Steady;
  QueueCursor cursor;
  const Steady::time_point time{seconds(1'000)};
  cursor.found(base::TimePoint(), start, time, time + Milliseconds(100));
  EXPECT_NE(cursor.start(time + Milliseconds(5'099)), base::TimePoint());
  EXPECT_EQ(cursor.start(time + Milliseconds(5'100)), base::TimePoint());
}

TEST(QueueCursor, ASweepThatSawOnlyThePastBeginsThereAgain) {
  using Steady = QueueCursor::Steady;
  QueueCursor cursor;
  const Steady::time_point time{seconds(1'000)};
  cursor.found(base::TimePoint(), start, time, time);
  cursor.found(base::TimePoint(), start - hours(1), time + seconds(2), time + seconds(2));
  EXPECT_EQ(cursor.start(time + seconds(2)), start - hours(1) - Milliseconds(100)) << "there is more from there on";
}

TEST(Statistics, CountsWhatHappened) {
  Statistics statistics;
  Email ready;
  ready.state = State::ready;
  ready.created_at = start;
  Email processing = ready;
  processing.state = State::processing;
  processing.attempts = 1;
  Email sent = processing;
  sent.state = State::sent;
  sent.updated_at = start + Milliseconds(200);
  statistics.moved(processing, sent);
  Email retry = processing;
  retry.state = State::ready;
  statistics.moved(processing, retry);
  retry.attempts = 0;  // given back without an attempt
  statistics.moved(processing, retry);
  Email calling = sent;
  calling.state = State::calling_sent;
  calling.callback_attempts = 1;
  Email failed_call = calling;
  failed_call.state = State::sent;
  failed_call.callback_dead = true;
  statistics.moved(calling, failed_call);
  Email given_back = sent;
  statistics.moved(calling, given_back);
  statistics.rescued(processing);
  std::string text;
  statistics.append_to(text);
  for (const char* line :
       {"postino_outbox_transitions_total{state=\"SENT\"} 3\n", "postino_outbox_transitions_total{state=\"READY\"} 2\n",
        "postino_outbox_transitions_total{state=\"HELD\"} 0\n", "postino_outbox_retries_total 1\n",
        "postino_outbox_callback_failures_total 1\n", "postino_outbox_dead_callbacks_total 1\n",
        "postino_outbox_rescues_total{state=\"PROCESSING\"} 1\n",
        "postino_outbox_accept_to_sent_seconds_bucket{le=\"0.1\"} 0\n",
        "postino_outbox_accept_to_sent_seconds_bucket{le=\"0.25\"} 1\n",
        "postino_outbox_accept_to_sent_seconds_bucket{le=\"+Inf\"} 1\n",
        "postino_outbox_accept_to_sent_seconds_sum 0.2\n", "postino_outbox_accept_to_sent_seconds_count 1\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

}  // namespace
}  // namespace postino::outbox
