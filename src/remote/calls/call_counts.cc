#include "remote/calls/call_counts.h"

namespace postino::remote {

namespace {

constexpr std::string_view beyond_limit = "others";

}  // namespace

void CallCounts::count(std::string_view operation, const std::string& table,
                       const std::function<void(RemoteCounts&)>& change) {
  const std::lock_guard lock(mutex_);
  auto found = counts_.find({std::string(operation), table});
  if (found == counts_.end()) {
    const std::string name = counts_.size() < most_entries ? table : std::string(beyond_limit);
    found = counts_.try_emplace({std::string(operation), name}).first;
    found->second.operation = found->first.first;
    found->second.table = found->first.second;
  }
  change(found->second);
}

void CallCounts::count_units(std::string_view operation, const std::vector<store::ConsumedCapacity>& consumed,
                             bool is_write) {
  using enum store::TrafficKind;
  const store::TrafficKind kind = is_write ? write : operation == "Scan" ? scan : read;
  for (const store::ConsumedCapacity& each : consumed) {
    count(operation, each.table_name,
          [&](RemoteCounts& counts) { (is_write ? counts.write_units : counts.read_units) += each.total; });
    if (!observer_) continue;
    observer_->count_call(operation, each.table_name, is_write ? 0 : each.total, is_write ? each.total : 0);
    observe(each, kind);
  }
}

void CallCounts::observe(const store::ConsumedCapacity& consumed, store::TrafficKind kind) {
  double of_indexes = 0;
  const auto add = [&](const std::string& index, double units, bool is_global) {
    if (units > 0) meter(consumed.table_name, index, is_global).count({.kind = kind, .units = units});
  };
  for (const auto& [name, units] : consumed.global_indexes) {
    add(name, units, true);
    of_indexes += units;
  }
  for (const auto& [name, units] : consumed.local_indexes) {
    add(name, units, false);
    of_indexes += units;
  }
  add("", consumed.total - of_indexes, false);
}

store::TrafficMeter& CallCounts::meter(const std::string& table, const std::string& index, bool is_global) {
  const std::lock_guard lock(mutex_);
  auto found = meters_.find({table, index});
  if (found == meters_.end()) {
    // Beyond the limit there is one for all, which is of no real table.
    store::TrafficSource source;
    source.table = meters_.size() < most_entries ? table : std::string(beyond_limit);
    source.index = meters_.size() < most_entries ? index : "";
    source.global = is_global && !source.index.empty();
    const std::pair key(source.table, source.index);
    found = meters_.find(key);
    if (found == meters_.end()) found = meters_.emplace(key, observer_->meter(std::move(source))).first;
  }
  return *found->second;
}

void CallCounts::count_stream_read() const {
  if (observer_) observer_->count_stream_read();
}

std::vector<RemoteCounts> CallCounts::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<RemoteCounts> all;
  for (const auto& [key, counts] : counts_) all.push_back(counts);
  return all;
}

}  // namespace postino::remote
