#include "outbox/work/ledger_health.h"

#include "base/log.h"

namespace postino::outbox {

bool LedgerHealth::check() {
  const base::Result<void> written = ledger_.try_write();
  const base::Milliseconds now = clock_.monotonic();
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    changed = is_refusing_ == written.has_value();
    is_refusing_ = !written;
    if (changed && written) trouble_ended_ = now;
  }
  if (changed && !written)
    base::log_error("outbox", "the ledger refuses writes: nothing is claimed or rescued, and outcomes wait",
                    {{"error", written.error().message}});
  else if (changed)
    base::log_info("outbox", "the ledger takes writes again");
  return written.has_value();
}

bool LedgerHealth::is_refusing() const {
  const std::lock_guard lock(mutex_);
  return is_refusing_;
}

std::optional<base::Milliseconds> LedgerHealth::time_since_trouble() const {
  const std::lock_guard lock(mutex_);
  if (is_refusing_) return base::Milliseconds(0);
  if (!trouble_ended_) return std::nullopt;
  return clock_.monotonic() - *trouble_ended_;
}

}  // namespace postino::outbox
