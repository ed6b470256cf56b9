// What was asked of the service, and what it took.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/capacity.h"
#include "store/traffic.h"

namespace postino::remote {

struct RemoteCounts {
  std::string operation;  // "PutItem"
  std::string table;      // of batches and transactions: the first; empty where there is none
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;
  std::uint64_t throttled = 0;  // of the attempts
  // Calls that the service did not answer, or not in time; and what it did not do of what the program needs, because
  // it throttled, did not allow it, or did not have the table.
  std::uint64_t failed = 0;
  std::uint64_t refused_writes = 0;  // whose condition did not hold: their units are not told
  double read_units = 0;             // consumed, of whichever table it is
  double write_units = 0;
};

// Safe to use from any thread.
class CallCounts {
 public:
  static constexpr std::size_t most_entries = 2'000;  // tables beyond it are counted as one, "others"

  // The observer, which may be null, learns of the units of tables and indexes, without their keys: the service does
  // not say whose they are. To be called before anything is counted.
  void set_observer(std::shared_ptr<store::TrafficObserver> observer) { observer_ = std::move(observer); }

  void count(std::string_view operation, const std::string& table, const std::function<void(RemoteCounts&)>& change);
  // Units of each table.
  void count_units(std::string_view operation, const std::vector<store::ConsumedCapacity>& consumed, bool is_write);
  void count_stream_read() const;
  std::vector<RemoteCounts> all() const;

 private:
  void observe(const store::ConsumedCapacity& consumed, store::TrafficKind kind);
  store::TrafficMeter& meter(const std::string& table, const std::string& index, bool is_global);

  std::shared_ptr<store::TrafficObserver> observer_;  // may be null
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, RemoteCounts> counts_;  // by operation and table
  std::map<std::pair<std::string, std::string>, std::shared_ptr<store::TrafficMeter>> meters_;  // by table and index
};

}  // namespace postino::remote
