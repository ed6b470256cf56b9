#include "store/retry.h"

#include <algorithm>

#include "store/store.h"

namespace postino::store {

namespace {

bool busy(ErrorType type) {
  using enum ErrorType;
  return type == transaction_conflict || type == transaction_in_progress || type == provisioned_throughput_exceeded ||
         type == request_limit_exceeded || type == throttling || type == service_unavailable ||
         type == internal_server_error || type == resource_in_use;
}

bool busy(const CancellationReason& reason) {
  return reason.code == "TransactionConflict" || reason.code == "ThrottlingError" ||
         reason.code == "ProvisionedThroughputExceeded";
}

// Was the transaction cancelled by a condition, and not by others who were in its way?
bool met_a_condition(const Error& error) {
  return error.details != nullptr && std::ranges::any_of(error.details->reasons, [](const auto& reason) {
           return reason.code == "ConditionalCheckFailed";
         });
}

}  // namespace

bool worth_repeating(const Error& error) {
  if (error.type != ErrorType::transaction_canceled || error.details == nullptr) return busy(error.type);
  // A transaction that would fail again for another reason is not repeated for this one.
  const auto& reasons = error.details->reasons;
  return std::ranges::any_of(reasons, [](const auto& reason) { return busy(reason); }) &&
         std::ranges::all_of(reasons, [](const auto& reason) { return reason.code == "None" || busy(reason); });
}

Answer<TransactWriteItemsResponse> Retry::transact(Store& store, const TransactWriteItemsRequest& request) const {
  if (!store.is_shared() || request.client_request_token)
    return (*this)([&] { return store.transact_write_items(request); });
  TransactWriteItemsRequest marked = request;
  marked.client_request_token = base::make_uuid(random_);
  return (*this)([&] { return store.transact_write_items(marked); });
}

base::Error as_error(const Error& error) {
  using enum ErrorType;
  base::ErrorCode code = base::ErrorCode::io;
  if (error.type == conditional_check_failed) code = base::ErrorCode::conflict;
  if (error.type == transaction_canceled)
    code = met_a_condition(error) ? base::ErrorCode::conflict : base::ErrorCode::exhausted;
  if (error.type == provisioned_throughput_exceeded || error.type == throttling ||
      error.type == request_limit_exceeded || error.type == service_unavailable)
    code = base::ErrorCode::exhausted;
  if (error.type == resource_not_found) code = base::ErrorCode::not_found;
  if (error.type == validation) code = base::ErrorCode::invalid;
  std::string text = error.is_explained ? error.message : std::string(error_name(error.type)) + ": " + error.message;
  if (error.details != nullptr && !error.details->table.empty()) text.append(": table ").append(error.details->table);
  return {code, std::move(text)};
}

bool is_of_missing_table(const base::Error& error) {
  return error.code == base::ErrorCode::not_found &&
         error.message.starts_with(error_name(ErrorType::resource_not_found));
}

}  // namespace postino::store
