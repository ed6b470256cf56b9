// Looks after a spool in a bucket, on a thread of its own: each call may take its time.
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/this_thread.h"
#include "base/thread_pool.h"
#include "outbox/email/policy.h"
#include "outbox/ledger/kept_spool.h"
#include "outbox/ledger/ledger.h"

namespace postino::app {

class SpoolUpkeep {
 public:
  // Begins at once. All must outlive it.
  SpoolUpkeep(outbox::KeptSpool& spool, outbox::Ledger& ledger, const outbox::Policy& policy, const base::Clock& clock);
  ~SpoolUpkeep();

  // The clock is believed at the moment: what is too old may be removed. To be called every second or so.
  void allow_sweep() { allowed_until_ = (clock_.monotonic() + allowance).count(); }

 private:
  static constexpr base::Milliseconds allowance{10'000};

  void run();
  bool sweep();  // true when there is more to look at now

  outbox::KeptSpool& spool_;
  outbox::Ledger& ledger_;
  const outbox::Policy& policy_;
  const base::Clock& clock_;
  std::atomic<base::Milliseconds::rep> allowed_until_ = 0;  // by the monotonic clock
  base::Milliseconds next_sweep_{0};                        // the same
  base::Pause pause_;
  std::atomic<bool> is_ending_ = false;
  base::ThreadGroup threads_;  // the last member: its thread uses the others
};

}  // namespace postino::app
