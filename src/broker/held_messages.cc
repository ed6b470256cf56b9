#include "broker/held_messages.h"

namespace postino::broker {

Result<void> HeldMessages::settle(const std::vector<Disposition>& dispositions) {
  if (dispositions.size() != messages().size())
    return refuse(FailureKind::invalid, "each message must have one disposition");
  if (std::exchange(is_settled_, true)) return refuse(FailureKind::invalid, "the messages were already settled");
  const Deadline deadline = std::chrono::steady_clock::now() + connector_->settings().answer_timeout;
  TRY_VOID(link_->settle(incoming_, dispositions, deadline));
  if (link_->has_loose_ends()) {
    lease_.end(deadline);
  } else {
    lease_.give_back();
  }
  return {};
}

}  // namespace postino::broker
