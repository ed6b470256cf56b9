// Keeps the leases of e-mails that are being worked on, for as long as that takes.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "net/trouble.h"
#include "outbox/ledger/ledger.h"
#include "outbox/work/ledger_health.h"

namespace postino::outbox {

// Safe to call from any thread.
class Leases {
 public:
  // Everything given must outlive it.
  Leases(Ledger& ledger, const Policy& policy, const base::Clock& clock)
      : ledger_(ledger), policy_(policy), clock_(clock), health_(ledger, clock) {}
  ~Leases() { stop(); }

  // How often a process that lives tries to renew the leases that need it.
  static base::Milliseconds renewal_interval(const Policy& policy) { return policy.lease / 6; }

  void start();
  void stop();

  void hold(const Email& email);
  // Only of this version: the e-mail may have moved on and be held again, by another pipeline.
  void drop(const Email& email);

  // May its worker go on? Not when the lease may be over, because it could not be renewed or time was lost. Measured by
  // the time that has passed, whatever the clock is set to.
  bool holds(const Email& email) const;
  // Does a worker of this process have it, or its outcome that is not written yet? Whether the lease is over or not.
  bool has(const Email& email) const;
  // How many such e-mails there are.
  std::size_t count() const;

  // Renews those that have used up a third of their lease. Leases that are lost are dropped: the ledger will refuse
  // what their workers bring. Those that cannot be written now are tried again with the next call.
  void renew_once();

  // Of the ledger that they are written to. Its other writers tell it of their failures, too.
  LedgerHealth& health() { return health_; }
  const LedgerHealth& health() const { return health_; }

 private:
  struct Held {
    Email email;                     // what the renewal needs of it
    base::Milliseconds valid_until;  // by the monotonic clock
  };
  void run();

  Ledger& ledger_;
  const Policy& policy_;
  const base::Clock& clock_;
  LedgerHealth health_;
  net::LastingTrouble trouble_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Held> held_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace postino::outbox
