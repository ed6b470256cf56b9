// Keeps the leases of e-mails that are being worked on, for as long as that takes.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "outbox/ledger/ledger.h"

namespace postino::outbox {

// Safe to call from any thread.
class Leases {
 public:
  // Everything given must outlive it.
  Leases(Ledger& ledger, const Policy& policy, const base::Clock& clock)
      : ledger_(ledger), policy_(policy), clock_(clock) {}
  ~Leases() { stop(); }

  void start();
  void stop();

  void hold(const Email& email);
  // Only of this version: the e-mail may have moved on and be held again, by another pipeline.
  void drop(const Email& email);

  // May its worker go on? Not when the lease may be over, because it could not be renewed or time was lost.
  bool holds(const Email& email) const;

  // Renews those that have used up a third of their lease. Leases that are lost are dropped: the ledger will refuse
  // what their workers bring.
  void renew_once();

 private:
  void run();

  Ledger& ledger_;
  const Policy& policy_;
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Email> held_;  // what the renewal needs of them; due_at is the end of the lease
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace postino::outbox
