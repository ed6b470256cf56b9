// Picks up e-mails whose workers are gone: their lease has ended and was not renewed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/trouble.h"
#include "outbox/ledger/ledger.h"
#include "outbox/work/leases.h"

namespace postino::outbox {

class Rescuer {
 public:
  using OnRescued = std::function<void(const Email& before, const Email& after)>;
  // While the ledger could not be reached, or took no writes, no lease could be renewed either: workers that live have
  // `after_trouble` to do it. The same after a look that began much later than `looks_every` after the one before: the
  // ledger may have kept all callers waiting, or this process was not running. What `own` has is not lost, whatever the
  // ledger says; it may be null.
  Rescuer(Ledger& ledger, const Policy& policy, const base::Clock& clock, OnRescued on_rescued,
          base::Milliseconds after_trouble = base::Milliseconds(0),
          base::Milliseconds looks_every = base::Milliseconds(0), Leases* own = nullptr)
      : ledger_(ledger),
        policy_(policy),
        clock_(clock),
        on_rescued_(std::move(on_rescued)),
        after_trouble_(after_trouble),
        looks_every_(looks_every),
        own_(own),
        own_health_(ledger, clock),
        health_(own != nullptr ? own->health() : own_health_) {}

  // True when some were rescued and there may be more.
  bool run_once();

 private:
  // An e-mail of a shared ledger whose lease was over, as the looks since then have found it.
  struct Seen {
    std::int64_t version = 0;
    std::optional<base::TimePoint> due_at;
    bool outcome_unknown = false;
    base::Milliseconds since{0};  // by the monotonic clock
  };

  void look_at_malformed();
  // Could every worker that lives have renewed its lease by now?
  bool is_time_to_look();
  bool must_ask_first() const;
  // How long looks must find the lease of an e-mail on a shared ledger over and unchanged.
  base::Milliseconds time_to_watch() const;
  // On a shared ledger, another program may have kept a row locked until its lease was over. The worker, in another
  // process, could not renew it and does so next. Or the clock of this process is ahead of the worker's. Leaves out
  // what has not been free and unchanged for long enough.
  std::vector<Email> without_just_seen(std::vector<Email> expired);

  Ledger& ledger_;
  const Policy& policy_;
  const base::Clock& clock_;
  const OnRescued on_rescued_;
  const base::Milliseconds after_trouble_;
  const base::Milliseconds looks_every_;
  Leases* const own_;
  net::LastingTrouble trouble_;
  LedgerHealth own_health_;  // where there are no leases
  LedgerHealth& health_;
  bool is_unreadable_ = false;
  std::map<std::string, Seen> seen_;  // by id, of the last look
  // By the monotonic clock.
  base::Milliseconds not_before_{0};
  std::optional<base::Milliseconds> looked_;  // when the last look began
  std::optional<base::Milliseconds> looked_at_malformed_;
};

}  // namespace postino::outbox
