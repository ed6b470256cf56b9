// Which trouble is told in the log, so that the log says what an operator has to know, and little more. The users write
// the lines: they know the words.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"

namespace postino::net {

// Trouble that lasts, and comes again: it is told when it begins and when it is over, however many attempts meet it.
// Safe to use from any thread.
class LastingTrouble {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds pause{60};  // between two beginnings that are told, at least

  // What came of an attempt. True when this is to be told: the beginning, which is not told before the pause is over
  // but later if the trouble lasts as long, and the end of what was told.
  [[nodiscard]] bool fails(const std::string& why, Instant now = std::chrono::steady_clock::now());
  [[nodiscard]] bool works();

  bool is_there() const { return is_there_; }
  std::optional<std::string> cause() const;  // of the last attempt; nullopt when it worked

 private:
  std::atomic<bool> is_there_ = false;
  mutable std::mutex mutex_;
  std::string why_;
  bool is_told_ = false;
  std::optional<Instant> told_at_;
};

// Trouble that comes in thousands: one of each kind is told each minute, with the number of those that were not. Safe
// to use from any thread.
class RepeatedTrouble {
 public:
  static constexpr base::Milliseconds pause{60'000};
  static constexpr std::size_t most_kinds = 100;  // further ones count as one

  // The clock must outlive it.
  explicit RepeatedTrouble(const base::Clock& clock) : clock_(clock) {}

  // Is this one to be told? Then it is how many have not been told since the last one that was.
  std::optional<std::uint64_t> admit(const std::string& kind);

 private:
  struct Kind {
    base::Milliseconds told_at;
    std::uint64_t untold = 0;
  };

  const base::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Kind> kinds_;
};

}  // namespace postino::net
