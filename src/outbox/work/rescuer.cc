#include "outbox/work/rescuer.h"

#include "base/check.h"
#include "base/log.h"

namespace postino::outbox {

bool Rescuer::run_once() {
  if (is_in_trouble_) {
    // What find_expired() has told it does not tell again soon.
    if (!ledger_.oldest_due(Pipeline::send)) return false;
    is_in_trouble_ = false;
    not_before_ = clock_.now() + after_trouble_;
  }
  const base::TimePoint now = clock_.now();
  if (looked_ && now - *looked_ > looks_every_ + after_trouble_) not_before_ = now + after_trouble_;
  looked_ = now;
  if (now < not_before_) return false;
  const auto expired = ledger_.find_expired(now, max_ledger_batch);
  if (!expired) {
    is_in_trouble_ = true;
    base::log_warning("outbox", "expired leases could not be read", {{"error", expired.error().message}});
    return false;
  }
  std::vector<Change> changes;
  for (const Email& email : *expired)
    if (auto change = decide(email, event::LeaseEnded{}, policy_, now)) changes.push_back(*std::move(change));
  CHECK(changes.size() == expired->size());  // the ledger finds e-mails in working states alone
  const std::vector<MoveOutcome> outcomes = ledger_.move(std::move(changes));
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].status == MoveStatus::done) on_rescued_((*expired)[i], outcomes[i].email);
  return expired->size() == max_ledger_batch;
}

}  // namespace postino::outbox
