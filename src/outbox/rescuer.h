// Picks up e-mails whose workers are gone: their lease has ended and nobody renewed it.
#pragma once

#include <functional>

#include "outbox/course.h"
#include "outbox/ledger.h"

namespace postino::outbox {

class Rescuer {
 public:
  using OnRescued = std::function<void(const Email& before, const Email& after)>;
  // While the ledger could not be reached no lease could be renewed either: those who live have `after_trouble` to do
  // it.
  Rescuer(Ledger& ledger, const Course& course, const base::Clock& clock, OnRescued on_rescued,
          base::Milliseconds after_trouble = base::Milliseconds(0))
      : ledger_(ledger),
        course_(course),
        clock_(clock),
        on_rescued_(std::move(on_rescued)),
        after_trouble_(after_trouble) {}

  // True when there may be more.
  bool run_once();

 private:
  Ledger& ledger_;
  const Course& course_;
  const base::Clock& clock_;
  const OnRescued on_rescued_;
  const base::Milliseconds after_trouble_;
  bool is_in_trouble_ = false;
  base::TimePoint not_before_;
};

}  // namespace postino::outbox
