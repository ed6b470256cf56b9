#include "app/store/store_metrics.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/metrics_text.h"
#include "capacity/observation.h"

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
    {"postino_store_failures_total",
     "Calls that failed: not answered, or not in time, and of tables that services need also those that were throttled "
     "to the end, not allowed, or of a table that is missing.",
     [](const remote::RemoteCounts& counts) { return std::to_string(counts.failed); }},
    {"postino_store_read_units_total", "Read units that calls consumed, by operation and table.",
     [](const remote::RemoteCounts& counts) { return units_text(counts.read_units); }},
    {"postino_store_write_units_total", "Write units that calls consumed, by operation and table.",
     [](const remote::RemoteCounts& counts) { return units_text(counts.write_units); }},
    {"postino_store_refused_writes_total",
     "Writes that were refused because a condition did not hold. They consume write units, which the store does not "
     "tell.",
     [](const remote::RemoteCounts& counts) { return std::to_string(counts.refused_writes); }},
};

double number_of(const capacity::Decimal& price) { return std::stod(price.text()); }

// What a unit costs on demand.
struct UnitPrices {
  explicit UnitPrices(const capacity::PriceBook& book)
      : read(number_of(book.standard.on_demand_read_million) / 1e6),
        write(number_of(book.standard.on_demand_write_million) / 1e6),
        stream_read(number_of(book.stream_reads_100000) / 1e5) {}

  double cost_of(const remote::RemoteCounts& counts) const {
    const double streams = counts.operation == "GetRecords" ? stream_read * static_cast<double>(counts.attempts) : 0;
    return read * counts.read_units + write * counts.write_units + streams;
  }

  double read;
  double write;
  double stream_read;
};

void append_costs(std::string& out, const std::map<std::pair<std::string, std::string>, double>& costs) {
  constexpr std::string_view name = "postino_store_cost_dollars_total";
  base::append_metric_head(out, name, "counter",
                           "What the consumed units cost on demand, by service and operation, with the prices of "
                           "--prices.");
  for (const auto& [labels, dollars] : costs)
    out.append(name)
        .append("{service=\"")
        .append(labels.first)
        .append("\",operation=\"")
        .append(labels.second)
        .append("\"} ")
        .append(units_text(dollars))
        .append("\n");
}

}  // namespace

void append_remote_metrics(std::string& out, const std::vector<remote::RemoteCounts>& counts,
                           const std::map<std::string, TableUse, std::less<>>& uses,
                           const capacity::PriceBook& prices) {
  const auto service_of = [&](const remote::RemoteCounts& each) {
    const auto use = uses.find(each.table);
    return use == uses.end() ? capacity::other_service : use->second.service;
  };
  for (const RemoteMetric& metric : remote_metrics) {
    base::append_metric_head(out, metric.name, "counter", metric.help);
    for (const remote::RemoteCounts& each : counts)
      out.append(metric.name)
          .append("{operation=\"")
          .append(each.operation)
          .append("\",service=\"")
          .append(service_of(each))
          .append("\",table=\"")
          .append(each.table)
          .append("\"} ")
          .append(metric.value(each))
          .append("\n");
  }
  if (prices.currency != "USD") return;
  const UnitPrices of_units(prices);
  std::map<std::pair<std::string, std::string>, double> costs;
  for (const remote::RemoteCounts& each : counts)
    costs[{std::string(service_of(each)), each.operation}] += of_units.cost_of(each);
  append_costs(out, costs);
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
