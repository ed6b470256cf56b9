#include "app/client/message_batch.h"

#include <algorithm>

#include "json/writer.h"

namespace postino::app {

namespace {

constexpr std::size_t most_written = 1'000;    // messages that the API takes in one request
constexpr std::size_t most_produced = 10'000;  // of one call, repeated ones counted: it should be done in a few seconds
constexpr std::size_t usual_message_batch_bytes =
    8 << 20;  // a batch ends before it has more, unless one message has more by itself

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

std::string production_body(const MessageList& list, const MessageBatch& batch, std::size_t written) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("idempotencyKey").string(batch.key);
  if (!list.connection.empty()) json.key("connection").string(list.connection);
  json.key("target").begin_object();
  json.key("queueName").string(list.queue);
  if (!list.reply_to.empty()) json.key("replyToQueue").string(list.reply_to);
  json.end_object();
  json.key("settings").begin_object();
  json.key("totalMessages").integer(static_cast<std::int64_t>(batch.count));
  text.append(list.settings.empty() ? "" : "," + list.settings);
  json.end_object();
  json.key("messages").begin_array();
  for (std::size_t i = 0; i < written; ++i) json.raw(list.messages[(batch.first + i) % list.messages.size()]);
  json.end_array();
  json.end_object();
  return text;
}

}  // namespace

MessageBatch batch_at(const MessageList& list, std::size_t first, const std::string& key) {
  MessageBatch batch{.first = first};
  const std::size_t left = list.total - first;
  const std::size_t all = list.messages.size();
  const bool repeated = can_be_written_at_once(list);
  // Whole turns, so that the next batch begins with the first message again.
  batch.count =
      repeated ? std::min(left, all * std::max<std::size_t>(most_produced / all, 1)) : run_length(list, first);
  batch.key = batch.count == list.total ? key : key + "-" + std::to_string(first);
  batch.body = production_body(list, batch, repeated ? std::min(all, batch.count) : batch.count);
  return batch;
}

}  // namespace postino::app
