#include "engine/cancellation.h"

#include <memory>

namespace postino::engine {

void Cancellation::add(std::size_t action, const store::Error& error) {
  cancelled_ = true;
  store::CancellationReason& reason = reasons_[action];
  switch (error.type) {
    case store::ErrorType::conditional_check_failed:
      reason.code = "ConditionalCheckFailed";
      if (error.details) reason.item = error.details->item;
      break;
    case store::ErrorType::provisioned_throughput_exceeded:
      reason.code = "ProvisionedThroughputExceeded";
      break;
    case store::ErrorType::throttling:
      reason.code = "ThrottlingError";
      break;
    default:
      if (has_validation_error_) return;
      has_validation_error_ = true;
      reason.code = "ValidationError";
  }
  reason.message = error.message;
}

store::Error Cancellation::error() && {
  std::string codes;
  for (const store::CancellationReason& reason : reasons_) {
    if (!codes.empty()) codes += ", ";
    codes += reason.code;
  }
  store::Error error(store::ErrorType::transaction_canceled,
                     "Transaction cancelled, please refer cancellation reasons for specific reasons [" + codes + "]");
  auto details = std::make_shared<store::ErrorDetails>();
  details->reasons = std::move(reasons_);
  error.details = std::move(details);
  return error;
}

}  // namespace postino::engine
