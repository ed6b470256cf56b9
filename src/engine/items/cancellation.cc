#include "engine/items/cancellation.h"

#include <utility>

namespace postino::engine {

void Cancellation::add(std::size_t action, const store::Error& error) {
  cancelled_ = true;
  store::CancellationReason& reason = reasons_[action];
  const bool always_told = error.type == store::ErrorType::conditional_check_failed ||
                           error.type == store::ErrorType::provisioned_throughput_exceeded ||
                           error.type == store::ErrorType::throttling ||
                           error.type == store::ErrorType::item_collection_size_limit_exceeded;
  if (!always_told && std::exchange(has_validation_error_, true)) return;
  reason.code = store::cancellation_code(always_told ? error.type : store::ErrorType::validation);
  if (error.type == store::ErrorType::conditional_check_failed && error.details) reason.item = error.details->item;
  reason.message = error.message;
  reason.rule = error.rule;
}

store::Error Cancellation::error() && { return store::transaction_cancelled(std::move(reasons_)); }

}  // namespace postino::engine
