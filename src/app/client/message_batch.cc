#include "app/client/message_batch.h"

#include <algorithm>

#include "json/writer.h"
#include "messages/request.h"

namespace postino::app {

namespace {

constexpr std::size_t most_written = messages::RequestLimits::templates;
constexpr std::size_t most_produced = 10'000;  // of one call, repeated ones counted: it should be done in a few seconds
// A batch ends before it has more, unless one message has more by itself.
constexpr std::size_t usual_message_batch_bytes = 8 << 20;

// All of them, to be repeated: when they are few and small.
bool can_be_written_at_once(const MessageList& list) {
  std::size_t bytes = 0;
  for (const std::string& message : list.messages) bytes += message.size();
  return list.messages.size() <= most_written && bytes <= usual_message_batch_bytes;
}

// Those from `first` on that go together into a request.
std::size_t run_length(const MessageList& list, std::size_t first) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < most_written && first + count < list.total) {
    bytes += list.messages[(first + count) % list.messages.size()].size();
    if (count > 0 && bytes > usual_message_batch_bytes) break;
    ++count;
  }
  return count;
}

// Some messages of the list as a JSON array; after the last comes the first again.
std::string written_messages(const MessageList& list, std::size_t first, std::size_t count) {
  std::string text;
  json::Writer json(text);
  json.begin_array();
  for (std::size_t i = 0; i < count; ++i) json.raw(list.messages[(first + i) % list.messages.size()]);
  json.end_array();
  return text;
}

OperationCall production_call(const MessageList& list, const std::string& key, std::size_t count,
                              std::string messages) {
  OperationCall call("produceMessages");
  RequestObject& body = call.body();
  body.set_text("idempotencyKey", key);
  if (!list.connection.empty()) body.set_text("connection", list.connection);
  body.set_text("target.queueName", list.queue);
  if (!list.reply_to.empty()) body.set_text("target.replyToQueue", list.reply_to);
  body.set_number("settings.totalMessages", static_cast<std::int64_t>(count));
  for (const auto& [field, json] : list.settings) body.set_json(field, json);
  body.set_json("messages", std::move(messages));
  return call;
}

}  // namespace

MessageBatch batch_at(const MessageList& list, std::size_t first, const std::string& key) {
  const std::size_t left = list.total - first;
  const std::size_t all = list.messages.size();
  const bool repeated = can_be_written_at_once(list);
  // Whole turns, so that the next batch begins with the first message again.
  const std::size_t count =
      repeated ? std::min(left, all * std::max<std::size_t>(most_produced / all, 1)) : run_length(list, first);
  const std::string own_key = count == list.total ? key : key + "-" + std::to_string(first);
  const std::size_t written = repeated ? std::min(all, count) : count;
  return {count, own_key, production_call(list, own_key, count, written_messages(list, first, written))};
}

}  // namespace postino::app
