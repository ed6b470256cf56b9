// Trouble with others in the log: a line for each kind and each recovery, however often it happens, and without the
// addresses of people.
#pragma once

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
