// What the API did, for /metrics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/protocol/route.h"

namespace postino::api {

// Counts without locks. Safe to use from any thread.
class Statistics {
 public:
  // The routes must outlive it.
  explicit Statistics(const std::vector<Route>& routes);

  void count(const Route& route, int status, std::chrono::steady_clock::duration time);
  // A request that no route was found for.
  void count_unrouted(int status);
  // An answer that the route does not promise: a fault of ours.
  void count_undocumented() { undocumented_.fetch_add(1, std::memory_order_relaxed); }

  // Appends them in Prometheus' text format.
  void append_to(std::string& out) const;

  std::uint64_t undocumented() const { return undocumented_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t bucket_count = 14;
  static const std::array<double, bucket_count> bounds;  // in seconds

  // 2xx, 4xx and 5xx; there are no others.
  using Classes = std::array<std::atomic<std::uint64_t>, 3>;
  struct Counters {
    Classes classes{};
    std::atomic<std::uint64_t> nanoseconds = 0;
    std::array<std::atomic<std::uint64_t>, bucket_count + 1> buckets{};
  };
  void append_requests(std::string& out) const;
  void append_times(std::string& out) const;

  const std::vector<Route>& routes_;
  std::unique_ptr<Counters[]> counters_;
  Classes unrouted_{};
  std::atomic<std::uint64_t> undocumented_ = 0;
};

}  // namespace postino::api
