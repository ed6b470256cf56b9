// How many e-mails the ledger has, and how long they have been waiting.
//
// A thread of its own asks the ledger. So readers wait a moment at most, even when the ledger does not
// answer: then the figures are those of the last answer, and say how old they are.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "outbox/ledger/ledger.h"

namespace postino::outbox {

// Safe to call from any thread.
class LedgerFigures {
 public:
  // Both must outlive it. `patience` is how long a caller waits for an answer of the ledger.
  LedgerFigures(Ledger& ledger, const base::Clock& clock, std::chrono::milliseconds patience)
      : ledger_(ledger), clock_(clock), patience_(patience) {}

  // In Prometheus' text format. Asks the ledger before; nothing, if it has never answered.
  void append_to(std::string& out);

  // Returns when the ledger has answered what it was asked; from now on it is not asked.
  void stop() { asking_.stop(); }

 private:
  using Steady = std::chrono::steady_clock;

  static constexpr std::size_t pipeline_count = 3;

  struct Figures {
    Counts counts{};
    std::array<base::Milliseconds, pipeline_count> ages{};  // of the oldest due e-mail; 0 if none is due
    Steady::time_point read;
  };

  void look();
  base::Result<Figures> read();
  // Until the look that is under way has ended, but no longer than a look may take.
  void await_look(std::unique_lock<std::mutex>& lock);

  Ledger& ledger_;
  const base::Clock& clock_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable looked_;
  std::optional<Figures> figures_;                // of the last look that succeeded
  std::optional<Steady::time_point> look_began_;  // while one is under way
  base::ThreadPool asking_{1, 1};                 // the last member: its thread uses the others
};

}  // namespace postino::outbox
