// Answers of the message service, as they are stored and given out.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "broker/broker.h"
#include "json/writer.h"
#include "messages/request.h"

namespace postino::messages {

struct AnswerHead {
  std::string_view operation;  // "PRODUCE"
  std::string key;
  std::size_t requested = 0;
  std::size_t processed = 0;
  base::TimePoint started;
  base::TimePoint completed;
  std::string connection;
  std::string queue;
};

struct ProduceOutcome {
  std::string first_id;  // of the first and the last message
  std::string last_id;
  std::size_t resumed_from = 0;  // how many an execution before this one had produced
  std::size_t sent_again = 0;    // after a connection broke: these may be there twice
};
std::string render_answer(const AnswerHead& head, const ProduceOutcome& outcome);

struct ConsumeOutcome {
  const std::vector<broker::Message>& messages;
  std::vector<bool> taken;  // of each: is it part of the answer?
  bool acknowledged = true;
};
// `most_bytes` is from largest_size_of().
std::string render_answer(const AnswerHead& head, const ConsumeOutcome& outcome, std::size_t most_bytes);
// The answer has no more bytes than this.
std::size_t largest_size_of(const AnswerHead& head, const ConsumeOutcome& outcome);

// What a message is recognised by when it comes again: its id and body. Empty for those without an id.
std::string mark_of(const broker::Message& message);
// Those of the messages in an answer.
std::multiset<std::string> marks_in(std::string_view answer);

}  // namespace postino::messages
