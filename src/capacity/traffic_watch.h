// Watches a store: a meter for each of its tables and indexes that is used.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "capacity/traffic_meter.h"

namespace postino::capacity {

// Any thread.
class TrafficWatch final : public store::TrafficObserver {
 public:
  static constexpr std::size_t most_meters = 256;
  static constexpr std::size_t most_operations = 1'000;  // on tables; further ones are not told apart

  // The clock must outlive it.
  explicit TrafficWatch(const base::Clock& clock, SecondCount second = coarse_seconds);

  std::shared_ptr<store::TrafficMeter> meter(store::TrafficSource source) override;
  void count_stream_read() override { stream_reads_.fetch_add(1, std::memory_order_relaxed); }

  void count_call(std::string_view operation, const std::string& table, double read_units, double write_units) override;

  struct Operation {
    std::string operation;  // "PutItem"
    std::string table;      // empty: of several
    std::uint64_t read_halves = 0;
    std::uint64_t write_halves = 0;
  };
  struct Source {
    store::TrafficSource source;
    base::TimePoint since;  // when it was first used, or the watch was restarted
    TrafficCounts counts;
  };
  struct Sighting {
    base::TimePoint since;
    base::TimePoint until;
    base::Milliseconds elapsed{};  // as time has passed, whatever was done to the clock
    std::uint64_t stream_reads = 0;
    std::vector<Source> sources;  // by table and index
    TrafficCounts others;         // of tables and indexes beyond the limit of meters, without keys
    // By operation and table, where the store tells it: the same units once more.
    std::vector<Operation> operations;
  };
  Sighting look() const;
  // Forgets what was counted.
  void restart();

 private:
  using Name = std::pair<std::string, std::string>;  // of the table and of the index
  struct Metered {
    std::shared_ptr<Meter> meter;
    base::TimePoint since;
  };

  const base::Clock& clock_;
  const SecondCount second_;
  std::atomic<std::uint64_t> stream_reads_ = 0;
  mutable std::mutex mutex_;
  std::map<Name, Metered> meters_;
  std::map<Name, Operation> operations_;  // by operation and table
  const std::shared_ptr<Meter> others_;
  base::TimePoint since_;
  base::Milliseconds began_;  // by the clock that cannot be set
};

}  // namespace postino::capacity
