#include "app/server/spool_upkeep.h"

#include "base/log.h"

namespace postino::app {

namespace {

constexpr base::Milliseconds between_spool_looks = std::chrono::seconds(1);
constexpr base::Milliseconds between_sweeps = std::chrono::hours(6);
constexpr base::Milliseconds after_failed_sweep = std::chrono::minutes(1);

}  // namespace

SpoolUpkeep::SpoolUpkeep(outbox::KeptSpool& spool, outbox::Ledger& ledger, const outbox::Policy& policy,
                         const base::Clock& clock)
    : spool_(spool), ledger_(ledger), policy_(policy), clock_(clock) {
  if (!threads_.try_start([this] { run(); }))
    base::log_error("outbox", "the system has no thread for the upkeep of the spool");
}

SpoolUpkeep::~SpoolUpkeep() {
  is_ending_ = true;
  pause_.end();
  threads_.join();
}

void SpoolUpkeep::run() {
  base::name_thread("spool-upkeep");
  base::lower_thread_priority();
  while (!is_ending_) {
    spool_.look_after_problem();
    if (!sweep()) pause_.wait(between_spool_looks);
  }
}

bool SpoolUpkeep::sweep() {
  const base::Milliseconds now = clock_.monotonic();
  if (now < next_sweep_ || now.count() >= allowed_until_ || is_ending_) return false;
  const base::TimePoint time = clock_.now();
  const auto is_needed = [&](const std::string& id) {
    return is_ending_ || outbox::is_needed(ledger_, id, policy_, time);
  };
  const auto more = spool_.sweep_some(time, is_needed);
  if (more && *more) return true;
  next_sweep_ = now + (more ? between_sweeps : after_failed_sweep);
  if (!more)
    base::log_warning("outbox", "expired contents could not be removed from the spool",
                      {{"error", more.error().message}});
  return false;
}

}  // namespace postino::app
