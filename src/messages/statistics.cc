#include "messages/statistics.h"

#include <algorithm>

#include "base/metrics_text.h"

namespace postino::messages {

namespace {

// A label's value, with what has a meaning there escaped.
void append_value(std::string& out, std::string_view text) {
  out += '"';
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') out += '\\';
    out += letter;  // queues have no line ends in their names
  }
  out += '"';
}

std::string seconds(std::uint64_t milliseconds) {
  return std::to_string(milliseconds / 1'000) + "." + std::to_string(1'000 + milliseconds % 1'000).substr(1);
}

}  // namespace

void Statistics::count(std::string_view operation, const std::string& queue, std::string_view result,
                       std::size_t messages, base::Milliseconds time) {
  const std::lock_guard lock(mutex_);
  if (queues_.size() < most_queues) queues_.insert(queue);
  std::string name = queues_.contains(queue) ? queue : "other";
  Sum& sum = sums_[{std::string(operation), std::move(name), std::string(result)}];
  ++sum.calls;
  sum.messages += messages;
  sum.milliseconds += static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}

void Statistics::append_to(std::string& out) const {
  const std::lock_guard lock(mutex_);
  const auto append = [&](std::string_view name, std::string_view help, const auto& value) {
    base::append_metric_head(out, name, "counter", help);
    for (const auto& [series, sum] : sums_) {
      const auto& [operation, queue, result] = series;
      out.append(name).append("{operation=\"").append(operation).append("\",queue=");
      append_value(out, queue);
      out.append(",result=\"").append(result).append("\"} ").append(value(sum)).append("\n");
    }
  };
  append("postino_messages_calls_total", "Calls that produce or consume messages, by operation, queue and result.",
         [](const Sum& sum) { return std::to_string(sum.calls); });
  append("postino_messages_messages_total",
         "Messages produced or consumed by these calls, by operation, queue and result.",
         [](const Sum& sum) { return std::to_string(sum.messages); });
  append("postino_messages_seconds_total", "Total time of these calls, by operation, queue and result.",
         [](const Sum& sum) { return seconds(sum.milliseconds); });
}

}  // namespace postino::messages
