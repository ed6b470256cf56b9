// Whether the ledger takes writes, as this process finds it. While it does not, no lease can be renewed and no outcome
// written, here or elsewhere, however well it can be read.
#pragma once

#include <mutex>
#include <optional>

#include "outbox/ledger/ledger.h"

namespace postino::outbox {

// Safe to call from any thread.
class LedgerHealth {
 public:
  // Both must outlive it.
  LedgerHealth(Ledger& ledger, const base::Clock& clock) : ledger_(ledger), clock_(clock) {}

  // Asks the ledger, after a write has failed and as long as it was refused. True when it can be written: then what
  // failed, failed for reasons of its own.
  bool check();

  bool is_refusing() const;
  // How long it has been written without trouble. nullopt: there has been none since the process began.
  std::optional<base::Milliseconds> time_since_trouble() const;

 private:
  Ledger& ledger_;
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  bool is_refusing_ = false;
  std::optional<base::Milliseconds> trouble_ended_;  // by the monotonic clock
};

}  // namespace postino::outbox
