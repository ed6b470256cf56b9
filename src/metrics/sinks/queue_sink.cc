#include "metrics/sinks/queue_sink.h"

#include <algorithm>

#include "metrics/sinks/change_json.h"

namespace postino::metrics {

namespace {

constexpr std::size_t longest_name = 200;

}  // namespace

Outcome<void> QueueSink::deliver(std::span<const store::StreamRecord> records, Checkpoint&) {
  std::vector<broker::Message> messages;
  messages.reserve(records.size());
  for (const store::StreamRecord& record : records) {
    broker::Message message;
    // Brokers take no longer ids; the queue is of one table.
    const std::string name = store::name_of(record);
    const std::size_t room = broker::longest_message_text - name.size() - 1;
    message.id = table().substr(0, std::min(longest_name, room)) + "-" + name;
    message.format = broker::Format::json;
    append_change(message.body, table(), record);
    messages.push_back(std::move(message));
  }
  const broker::ProduceReport report =
      broker_.produce(queue_, broker::Messages::of(std::move(messages)), broker::ProduceOptions());
  if (report.complete()) return {};
  if (!report.failure) return trouble(Trouble::temporary, "the broker has not confirmed all messages");
  using enum broker::FailureKind;
  // Of these the message is the cause, and not the broker: too large, mostly.
  const bool is_refused = report.failure->kind == rejected || report.failure->kind == invalid;
  return trouble(is_refused ? Trouble::record : Trouble::temporary, report.failure->message);
}

}  // namespace postino::metrics
