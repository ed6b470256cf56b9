#include "broker/broker.h"

namespace postino::broker {

namespace {

constexpr std::size_t most_messages = 10'000'000;
constexpr std::size_t largest_window = 100'000;
constexpr Milliseconds longest_call = std::chrono::hours(24);

}  // namespace

Messages Messages::of(std::vector<Message> list) {
  const std::size_t count = list.size();
  return {count, [list = std::move(list)](std::size_t position) { return list[position]; }};
}

Result<void> check(const Messages& messages, const ProduceOptions& options) {
  if (messages.count > most_messages) return refuse_invalid("the number of messages must be at most 10,000,000");
  if (options.first > messages.count) return refuse_invalid("the first position is beyond the last message");
  if (options.window < 1 || options.window > largest_window)
    return refuse_invalid("the window must be from 1 to 100,000");
  if (options.connections < 1 || options.connections > ProduceOptions::most_connections)
    return refuse_invalid("the number of connections must be from 1 to " +
                          std::to_string(ProduceOptions::most_connections));
  if (options.reconnects < 0) return refuse_invalid("the number of reconnects must not be negative");
  if (options.delay && (*options.delay < Milliseconds(0) || *options.delay > ProduceOptions::longest_delay))
    return refuse_invalid("the delay must be from 0 to 365 days");
  if (options.time_limit < Milliseconds(1) || options.time_limit > longest_call)
    return refuse_invalid("the time limit must be from 1 ms to 24 h");
  return {};
}

Result<void> check(const ReceiveOptions& options) {
  if (options.max_messages < 1 || options.max_messages > most_messages)
    return refuse_invalid("the number of messages must be from 1 to 10,000,000");
  if (options.max_bytes < 1) return refuse_invalid("the number of bytes must be at least 1");
  for (const Milliseconds time : {options.wait, options.linger})
    if (time < Milliseconds(0) || time > longest_call) return refuse_invalid("times must be from 0 to 24 h");
  return {};
}

}  // namespace postino::broker
