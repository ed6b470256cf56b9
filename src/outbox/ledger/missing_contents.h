// E-mails that wait because the spool does not have their contents: it may be another one than that of the server that
// has accepted them.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "net/trouble.h"

namespace postino::outbox {

// Safe to use from any thread. While nothing is missing it takes no lock.
class MissingContents {
 public:
  static constexpr base::Milliseconds remembered = std::chrono::hours(1);  // another server may have found them
  static constexpr std::size_t most_emails = 1'000;

  // The clock must outlive it.
  explicit MissingContents(const base::Clock& clock) : clock_(clock), trouble_(clock) {}

  // A worker has looked for them.
  void miss(const std::string& id, const std::string& why);
  void found(const std::string& id);

  // In words, when there are any.
  std::optional<std::string> problem();

 private:
  struct Missing {
    std::string why;
    base::Milliseconds at{0};  // by the monotonic clock
  };
  void forget_old();

  const base::Clock& clock_;
  net::RepeatedTrouble trouble_;
  std::atomic<bool> has_any_ = false;
  std::mutex mutex_;
  std::map<std::string, Missing> emails_;
};

}  // namespace postino::outbox
