// What the message service did, for /metrics.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "base/clock.h"

namespace postino::messages {

// Safe to use from any thread.
class Statistics {
 public:
  // `operation` is produce or consume; `result` completed, replayed, or the name of a fault. Queues beyond the first
  // hundred share a name: callers can invent them.
  void count(std::string_view operation, const std::string& queue, std::string_view result, std::size_t messages,
             base::Milliseconds time);

  void append_to(std::string& out) const;

 private:
  static constexpr std::size_t most_queues = 100;

  struct Sum {
    std::uint64_t calls = 0;
    std::uint64_t messages = 0;
    std::uint64_t milliseconds = 0;
  };
  using Series = std::tuple<std::string, std::string, std::string>;  // operation, queue, result

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> queues_;  // that are counted by name
  std::map<Series, Sum> sums_;
};

}  // namespace postino::messages
