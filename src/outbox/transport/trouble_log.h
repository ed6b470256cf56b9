// Trouble with others in the log: a line for each kind and each recovery, however often it happens, and without the
// addresses of people.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace postino::outbox {

// What servers write into their replies, without addresses: "550 <(address)>: user unknown".
std::string without_addresses(std::string_view text);

// Whether somebody whom this process needs does what is asked, as the last attempt found it. Safe to use from any
// thread.
class PartnerHealth {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds pause{60};  // between two outages that are told, at least

  // "the mail server" and "mail.example:25".
  PartnerHealth(std::string what, std::string name) : what_(std::move(what)), name_(std::move(name)) {}

  // What came of an attempt. The beginning and the end of an outage are told; the next one is not told before the pause
  // is over, if it lasts as long.
  void works();
  void fails(const std::string& why, Instant now);

  bool is_up() const { return !is_down_; }
  const std::string& name() const { return name_; }
  // "the mail server mail.example:25 could not be used at the last attempt: connection refused"
  std::optional<std::string> problem() const;

 private:
  const std::string what_;
  const std::string name_;
  std::atomic<bool> is_down_ = false;
  mutable std::mutex mutex_;
  std::string why_;
  bool is_told_ = false;
  std::optional<Instant> told_at_;
};

// Events of one kind that may come in thousands: one is told each minute, with the number of those that were not. Safe
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

}  // namespace postino::outbox
