#include "app/store/store_metrics.h"

#include <array>
#include <charconv>
#include <string_view>

#include "base/metrics_text.h"

namespace postino::app {

namespace {

struct RemoteMetric {
  std::string_view name;
  std::string_view help;
  std::string (*value)(const remote::RemoteCounts& counts);
};

std::string units_text(double units) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), units);
  return {text.data(), written.ptr};
}

constexpr RemoteMetric remote_metrics[] = {
    {"postino_store_requests_total", "Calls of the store, by operation and table.",
     [](const remote::RemoteCounts& counts) { return std::to_string(counts.calls); }},
    {"postino_store_retries_total", "Attempts beyond the first, by operation and table.",
     [](const remote::RemoteCounts& counts) {
       return std::to_string(counts.attempts > counts.calls ? counts.attempts - counts.calls : 0);
     }},
    {"postino_store_throttled_total",
     "Attempts that the store refused because they were too many, by operation and table.",
     [](const remote::RemoteCounts& counts) { return std::to_string(counts.throttled); }},
    {"postino_store_failures_total", "Calls that the store did not answer, or not in time, by operation and table.",
     [](const remote::RemoteCounts& counts) { return std::to_string(counts.failed); }},
    {"postino_store_read_units_total", "Read units that calls consumed, by operation and table.",
     [](const remote::RemoteCounts& counts) { return units_text(counts.read_units); }},
    {"postino_store_write_units_total", "Write units that calls consumed, by operation and table.",
     [](const remote::RemoteCounts& counts) { return units_text(counts.write_units); }},
};

}  // namespace

void append_remote_metrics(std::string& out, const std::vector<remote::RemoteCounts>& counts) {
  for (const RemoteMetric& metric : remote_metrics) {
    base::append_metric_head(out, metric.name, "counter", metric.help);
    for (const remote::RemoteCounts& each : counts)
      out.append(metric.name)
          .append("{operation=\"")
          .append(each.operation)
          .append("\",table=\"")
          .append(each.table)
          .append("\"} ")
          .append(metric.value(each))
          .append("\n");
  }
}

void append_store_metrics(std::string& out, const engine::WriteHealth& health, const engine::WriteCounts& counts) {
  constexpr std::string_view name = "postino_store_writes_refused";
  base::append_metric_head(out, name, "gauge", "1 while the store refuses writes for this reason.");
  const auto add = [&](std::string_view reason, engine::WriteRefusal refusal) {
    out.append(name).append("{reason=\"").append(reason).append("\"} ");
    out.append(health.refusal == refusal ? "1\n" : "0\n");
  };
  add("disk_full", engine::WriteRefusal::disk_full);
  add("disk_failed", engine::WriteRefusal::disk_failed);
  base::append_metric(out, "postino_store_free_bytes", "gauge", "Free space on the disk of the data directory.",
                      std::to_string(health.free_bytes));
  base::append_metric(out, "postino_store_reserve_bytes", "gauge", "Free space below which writes are refused.",
                      std::to_string(health.reserve_bytes));
  base::append_metric(out, "postino_store_commits_total", "counter", "Commits that the store has written to its log.",
                      std::to_string(counts.commits));
  base::append_metric(out, "postino_store_keys_written_total", "counter",
                      "Keys that these commits put or removed: items, index entries and what belongs to them.",
                      std::to_string(counts.keys));
  base::append_metric(out, "postino_store_log_bytes_total", "counter", "Bytes that these commits wrote to the log.",
                      std::to_string(counts.bytes));
}

}  // namespace postino::app
