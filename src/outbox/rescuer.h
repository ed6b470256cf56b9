// Picks up e-mails whose workers are gone: their lease has ended and nobody renewed it.
#pragma once

#include <functional>

#include "outbox/course.h"
#include "outbox/ledger.h"

namespace postino::outbox {

class Rescuer {
 public:
  using OnRescued = std::function<void(const Email& before, const Email& after)>;
  Rescuer(Ledger& ledger, const Course& course, const base::Clock& clock, OnRescued on_rescued)
      : ledger_(ledger), course_(course), clock_(clock), on_rescued_(std::move(on_rescued)) {}

  // True when there may be more.
  bool run_once();

 private:
  Ledger& ledger_;
  const Course& course_;
  const base::Clock& clock_;
  const OnRescued on_rescued_;
};

}  // namespace postino::outbox
