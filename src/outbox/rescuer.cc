#include "outbox/rescuer.h"

#include "base/log.h"

namespace postino::outbox {

bool Rescuer::run_once() {
  const base::TimePoint now = clock_.now();
  const auto expired = ledger_.find_expired(now, max_ledger_batch);
  if (!expired) {
    base::log_warning("outbox", "expired leases could not be looked for", {{"error", expired.error().message}});
    return false;
  }
  std::vector<Move> moves;
  for (const Email& email : *expired) moves.push_back(course_.rescued(email, now));
  const std::vector<MoveOutcome> outcomes = ledger_.move(std::move(moves));
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].status == MoveStatus::done) on_rescued_((*expired)[i], outcomes[i].email);
  return expired->size() == max_ledger_batch;
}

}  // namespace postino::outbox
