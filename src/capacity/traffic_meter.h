// Counts the traffic of one table or index: units in all and by the minute, the keys that get the most, the largest
// items. Its memory has a limit, whatever the keys are.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "capacity/heavy_hitters.h"
#include "store/traffic.h"

namespace postino::capacity {

// Seconds that never go back, since some moment in the past. It is asked for each request, so it must cost next to
// nothing; it need not be exact.
using SecondCount = std::function<std::int64_t()>;
std::int64_t coarse_seconds();

// Items this large or larger are told of. DynamoDB takes none above 400 KB.
inline constexpr std::size_t large_item_bytes = 350 * 1'024;

struct LargeItem {
  std::string key;  // DynamoDB's JSON
  std::size_t bytes = 0;
};

// What was counted, in halves of a unit.
struct TrafficCounts {
  std::uint64_t reads = 0;  // items, and pages of queries and scans
  std::uint64_t writes = 0;
  std::uint64_t failed_writes = 0;  // among them
  std::uint64_t read_halves = 0;
  std::uint64_t scan_halves = 0;  // of these, of scans
  std::uint64_t write_halves = 0;
  std::uint64_t backfill_halves = 0;             // of writes that filled it as a new index; not among the others
  std::uint64_t busiest_minute_read_halves = 0;  // since it counts
  std::uint64_t busiest_minute_write_halves = 0;
  std::vector<HeavyHitters::Key> read_keys;  // those that got the most for certain first, in halves of a unit
  std::vector<HeavyHitters::Key> written_keys;
  std::vector<LargeItem> large_items;  // the largest first
};

// Any thread. A partition is always counted in the same part, so that what it gets within a second is known; the parts
// have locks of their own.
class Meter final : public store::TrafficMeter {
 public:
  static constexpr std::size_t most_large_items = 10;

  // Without `keeps_keys` it counts units alone.
  Meter(store::TrafficSource source, SecondCount second, bool keeps_keys = true);

  void count(const store::Traffic& traffic) override;

  const store::TrafficSource& source() const { return source_; }
  TrafficCounts counts() const;
  void restart();

 private:
  static constexpr std::size_t part_count = 8;

  struct Minute {
    std::int64_t number = -1;
    std::uint64_t read_halves = 0;
    std::uint64_t write_halves = 0;
  };

  struct alignas(64) Part {
    mutable std::mutex mutex;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t failed_writes = 0;
    std::uint64_t read_halves = 0;
    std::uint64_t scan_halves = 0;
    std::uint64_t write_halves = 0;
    std::uint64_t backfill_halves = 0;
    Minute minute;  // the last in which it was counted
    HeavyHitters read_keys;
    HeavyHitters written_keys;
  };

  void add(Part& part, const store::Traffic& traffic, std::int64_t second) const;
  // Compares the minute that has ended with the busiest one. Who counts first in a minute calls it before.
  void begin_minute(std::int64_t number);
  Minute sum_of_minute(std::int64_t number) const;
  void note_large_item(const store::Traffic& traffic);
  static void add_to(TrafficCounts& counts, const Part& part);

  const store::TrafficSource source_;
  const SecondCount second_;
  const bool keeps_keys_;
  std::array<Part, part_count> parts_;
  std::atomic<std::int64_t> minute_ = -1;  // that parts count in
  mutable std::mutex busiest_mutex_;
  Minute busiest_;  // of those that have ended: the most of each, perhaps of two minutes
  mutable std::mutex large_items_mutex_;
  std::vector<LargeItem> large_items_;
};

}  // namespace postino::capacity
