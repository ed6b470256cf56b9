#include "wire/statistics.h"

#include <algorithm>

#include "base/metrics_text.h"
#include "wire/protocol/operation.h"

namespace postino::wire {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr double nanoseconds_per_second = 1e9;

std::string decimal(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string label(std::size_t operation) { return "operation=\"" + std::string(operation_at(operation).name) + "\""; }

}  // namespace

constexpr std::array<double, Statistics::bucket_count> Statistics::bounds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5};

Statistics::Statistics(std::size_t operations)
    : operations_(operations), counters_(std::make_unique<Counters[]>(operations)) {}

void Statistics::count(std::size_t operation, const Reply& reply, std::chrono::steady_clock::duration time) {
  Counters& counters = counters_[operation];
  if (reply.error.empty())
    counters.succeeded.fetch_add(1, relaxed);
  else if (reply.status >= first_server_error)
    counters.server_errors.fetch_add(1, relaxed);
  else
    counters.client_errors.fetch_add(1, relaxed);
  const double seconds = std::chrono::duration<double>(time).count();
  const auto bucket = static_cast<std::size_t>(std::ranges::lower_bound(bounds, seconds) - bounds.begin());
  counters.buckets[bucket].fetch_add(1, relaxed);
  counters.nanoseconds.fetch_add(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()), relaxed);
  if (!reply.error.empty()) count_refused(reply.error);
}

void Statistics::count_refused(const std::string& error) {
  const std::lock_guard lock(mutex_);
  ++errors_[error];
}

void Statistics::append_to(std::string& out) const {
  append_requests(out);
  append_times(out);
  append_errors(out);
}

void Statistics::append_requests(std::string& out) const {
  base::append_metric_head(out, "postino_dynamodb_requests_total", "counter",
                           "Requests to the DynamoDB API, by operation and result.");
  const auto line = [&](std::size_t operation, std::string_view result, std::uint64_t count) {
    out.append("postino_dynamodb_requests_total{").append(label(operation)).append(",result=\"").append(result);
    out.append("\"} ").append(std::to_string(count)).append("\n");
  };
  for (std::size_t i = 0; i < operations_; ++i) {
    line(i, "ok", counters_[i].succeeded.load(relaxed));
    line(i, "client_error", counters_[i].client_errors.load(relaxed));
    line(i, "server_error", counters_[i].server_errors.load(relaxed));
  }
}

void Statistics::append_times(std::string& out) const {
  constexpr std::string_view name = "postino_dynamodb_request_seconds";
  base::append_metric_head(out, name, "histogram",
                           "Time from receiving a whole request to its response in the DynamoDB API, by operation.");
  for (std::size_t i = 0; i < operations_; ++i) {
    const Counters& counters = counters_[i];
    std::uint64_t total = 0;
    for (std::size_t bucket = 0; bucket <= bucket_count; ++bucket) {
      total += counters.buckets[bucket].load(relaxed);
      out.append(name).append("_bucket{").append(label(i)).append(",le=\"");
      out.append(bucket < bucket_count ? decimal(bounds[bucket]) : "+Inf");
      out.append("\"} ").append(std::to_string(total)).append("\n");
    }
    const double seconds = static_cast<double>(counters.nanoseconds.load(relaxed)) / nanoseconds_per_second;
    out.append(name).append("_sum{").append(label(i)).append("} ").append(std::to_string(seconds)).append("\n");
    out.append(name).append("_count{").append(label(i)).append("} ").append(std::to_string(total)).append("\n");
  }
}

void Statistics::append_errors(std::string& out) const {
  base::append_metric_head(out, "postino_dynamodb_errors_total", "counter",
                           "Error responses of the DynamoDB API, by type of error.");
  const std::lock_guard lock(mutex_);
  for (const auto& [error, count] : errors_)
    out.append("postino_dynamodb_errors_total{type=\"")
        .append(error)
        .append("\"} ")
        .append(std::to_string(count))
        .append("\n");
}

}  // namespace postino::wire
