#include "outbox/accept_once.h"

namespace postino::outbox {

base::Result<void> accept_once(Outbox& outbox, const Payload& payload, const std::string& tenant) {
  TRY(const AcceptAnswer answer, outbox.accept({payload}, tenant, std::nullopt, {}));
  if (answer.status == AcceptStatus::no_room)
    return base::fail(base::ErrorCode::exhausted, "there is no room in memory for the e-mail");
  if (answer.status == AcceptStatus::unknown)
    return base::fail(base::ErrorCode::io, "the outbox failed while the e-mail was written");
  const AcceptOutcome& outcome = answer.outcomes.front();
  if (!outcome.error) return {};
  if (*outcome.error == AcceptError::duplicated_id) {
    const auto there = outbox.show(payload.id, tenant);
    if (there && there->email.tenant == tenant && there->email.tags == payload.tags) return {};
    // Those of other tenants are not found.
    if (!there && there.error().code != base::ErrorCode::not_found) return base::propagate(there.error());
    return base::fail(base::ErrorCode::corrupt, "the outbox has another e-mail with the id " + payload.id);
  }
  return base::fail(*outcome.error == AcceptError::unknown ? base::ErrorCode::io : base::ErrorCode::exhausted,
                    outcome.message);
}

}  // namespace postino::outbox
