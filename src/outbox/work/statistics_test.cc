#include "outbox/work/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

using base::Milliseconds;
using testing::HasSubstr;

constexpr base::TimePoint accepted_time{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z

TEST(Statistics, CountsWhatHappened) {
  Statistics statistics;
  Email ready;
  ready.state = State::ready;
  ready.created_at = accepted_time;
  Email processing = ready;
  processing.state = State::processing;
  processing.attempts = 1;
  Email sent = processing;
  sent.state = State::sent;
  sent.updated_at = accepted_time + Milliseconds(200);
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
