#include "remote/calls/call_counts.h"

namespace postino::remote {

void CallCounts::count(std::string_view operation, const std::string& table,
                       const std::function<void(RemoteCounts&)>& change) {
  const std::lock_guard lock(mutex_);
  auto found = counts_.find({std::string(operation), table});
  if (found == counts_.end()) {
    const std::string name = counts_.size() < most_entries ? table : "others";
    found = counts_.try_emplace({std::string(operation), name}).first;
    found->second.operation = found->first.first;
    found->second.table = found->first.second;
  }
  change(found->second);
}

void CallCounts::count_units(std::string_view operation, const std::vector<store::ConsumedCapacity>& consumed,
                             bool is_write) {
  for (const store::ConsumedCapacity& each : consumed)
    count(operation, each.table_name,
          [&](RemoteCounts& counts) { (is_write ? counts.write_units : counts.read_units) += each.total; });
}

std::vector<RemoteCounts> CallCounts::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<RemoteCounts> all;
  for (const auto& [key, counts] : counts_) all.push_back(counts);
  return all;
}

}  // namespace postino::remote
