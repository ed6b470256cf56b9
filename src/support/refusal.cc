#include "support/refusal.h"

#include "store/retry.h"

namespace postino::support {

Refusal refusal_of(const store::Error& error) {
  using enum store::ErrorType;
  const base::Error plain = store::as_error(error);
  if (plain.code == base::ErrorCode::conflict || error.type == transaction_conflict ||
      error.type == transaction_in_progress)
    return {.kind = RefusalKind::busy, .message = "others change the same records; try again"};
  if (error.type == transaction_canceled && error.details != nullptr)
    for (const store::CancellationReason& reason : error.details->reasons)
      if (reason.code == store::cancellation_code(validation))
        return {.kind = RefusalKind::invalid, .message = "the store refused it: " + reason.message};
  RefusalKind kind = RefusalKind::unavailable;
  if (error.type == validation) kind = RefusalKind::invalid;
  if (error.type == internal_server_error) kind = RefusalKind::outcome_unknown;
  return {.kind = kind, .message = "the store failed: " + plain.message};
}

Refusal refusal_of_read(const store::Error& error) {
  Refusal refusal = refusal_of(error);
  if (refusal.kind == RefusalKind::outcome_unknown) refusal.kind = RefusalKind::unavailable;
  return refusal;
}

Refusal refusal_of(const base::Error& error) {
  using enum base::ErrorCode;
  RefusalKind kind = RefusalKind::unavailable;
  if (error.code == invalid || error.code == malformed) kind = RefusalKind::invalid;
  if (error.code == corrupt) kind = RefusalKind::corrupt;
  if (error.code == io) kind = RefusalKind::outcome_unknown;
  if (error.code == conflict) kind = RefusalKind::busy;
  return {.kind = kind, .message = error.message};
}

std::vector<std::size_t> failed_conditions(const store::Error& error) {
  std::vector<std::size_t> places;
  if (error.type != store::ErrorType::transaction_canceled || error.details == nullptr) return places;
  for (std::size_t i = 0; i < error.details->reasons.size(); ++i)
    if (error.details->reasons[i].code == store::cancellation_code(store::ErrorType::conditional_check_failed))
      places.push_back(i);
  return places;
}

}  // namespace postino::support
