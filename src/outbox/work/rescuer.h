// Picks up e-mails whose workers are gone: their lease has ended and was not renewed.
#pragma once

#include <functional>
#include <optional>

#include "outbox/ledger/ledger.h"

namespace postino::outbox {

class Rescuer {
 public:
  using OnRescued = std::function<void(const Email& before, const Email& after)>;
  // While the ledger could not be reached no lease could be renewed either: workers that live have `after_trouble` to
  // do it. The same after a look that began much later than `looks_every` after the one before: the ledger may have
  // kept all callers waiting, or this process was not running.
  Rescuer(Ledger& ledger, const Policy& policy, const base::Clock& clock, OnRescued on_rescued,
          base::Milliseconds after_trouble = base::Milliseconds(0),
          base::Milliseconds looks_every = base::Milliseconds(0))
      : ledger_(ledger),
        policy_(policy),
        clock_(clock),
        on_rescued_(std::move(on_rescued)),
        after_trouble_(after_trouble),
        looks_every_(looks_every) {}

  // True when there may be more.
  bool run_once();

 private:
  Ledger& ledger_;
  const Policy& policy_;
  const base::Clock& clock_;
  const OnRescued on_rescued_;
  const base::Milliseconds after_trouble_;
  const base::Milliseconds looks_every_;
  bool is_in_trouble_ = false;
  base::TimePoint not_before_;
  std::optional<base::TimePoint> looked_;  // when the last look began
};

}  // namespace postino::outbox
