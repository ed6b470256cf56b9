// What the API did, for /metrics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "wire/protocol/reply.h"

namespace postino::wire {

// Counts without locks; only errors, which are few, take one.
class Statistics {
 public:
  explicit Statistics(std::size_t operations);

  void count(std::size_t operation, const Reply& reply, std::chrono::steady_clock::duration time);
  // A request that never became an operation.
  void count_refused(const std::string& error);

  // Appends them in Prometheus' text format.
  void append_to(std::string& out) const;

 private:
  static constexpr std::size_t bucket_count = 14;
  static const std::array<double, bucket_count> bounds;  // in seconds

  struct Counters {
    std::atomic<std::uint64_t> succeeded = 0;
    std::atomic<std::uint64_t> client_errors = 0;
    std::atomic<std::uint64_t> server_errors = 0;
    std::atomic<std::uint64_t> nanoseconds = 0;
    std::array<std::atomic<std::uint64_t>, bucket_count + 1> buckets{};
  };
  void append_requests(std::string& out) const;
  void append_times(std::string& out) const;
  void append_errors(std::string& out) const;

  const std::size_t operations_;
  std::unique_ptr<Counters[]> counters_;
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> errors_;  // by exception
};

}  // namespace postino::wire
