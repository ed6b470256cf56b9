// What a store answers when it cannot do what was asked: DynamoDB's exceptions as values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"

namespace postino::store {

enum class ErrorType {
  validation,
  conditional_check_failed,
  resource_not_found,
  resource_in_use,
  backup_in_use,
  backup_not_found,
  continuous_backups_unavailable,
  point_in_time_recovery_unavailable,
  export_conflict,
  export_not_found,
  import_conflict,
  import_not_found,
  invalid_export_time,
  invalid_restore_time,
  table_already_exists,  // what restores say instead of resource_in_use
  table_in_use,          // likewise, of a table that is being created or deleted
  table_not_found,       // what backups and point-in-time recovery say instead of resource_not_found
  limit_exceeded,
  duplicate_item,
  transaction_canceled,
  transaction_conflict,
  transaction_in_progress,
  idempotent_parameter_mismatch,
  item_collection_size_limit_exceeded,
  provisioned_throughput_exceeded,
  request_limit_exceeded,
  throttling,
  trimmed_data_access,
  expired_iterator,
  access_denied,
  policy_not_found,
  global_table_not_found,
  service_unavailable,    // the store takes no writes now: nothing was done
  internal_server_error,  // of a write: it is not known whether it was done
};

// The exception's name, for example "ConditionalCheckFailedException".
std::string_view error_name(ErrorType type);

// Why one action of a cancelled transaction failed; code "None" for those that did not.
struct CancellationReason {
  std::string code = "None";
  std::string message;
  std::optional<item::Item> item;
  base::Rule rule = base::Rule::other;
};

// What a reason, or an error of one statement among several, is called: "ConditionalCheckFailed", "ValidationError".
std::string cancellation_code(ErrorType type);

// What a throttled request ran out of, for example "TableReadProvisionedThroughputExceeded", and the ARN of where.
struct ThrottlingReason {
  std::string reason;
  std::string resource;
  friend bool operator==(const ThrottlingReason&, const ThrottlingReason&) = default;
};

struct ErrorDetails {
  std::optional<item::Item> item;  // the item a failed condition saw, when the request asked for it
  std::vector<CancellationReason> reasons;
  std::vector<ThrottlingReason> throttling_reasons;
  std::string table = {};  // that is not there, where the message does not name it
};

struct Error {
  ErrorType type = ErrorType::validation;
  std::string message;
  std::shared_ptr<const ErrorDetails> details;  // most errors have none
  base::Rule rule = base::Rule::other;          // of a validation error
  bool is_explained = false;  // the message says in words what is wrong: the exception's name would add nothing

  Error() = default;
  Error(ErrorType error_type, std::string text) : type(error_type), message(std::move(text)) {}
  // Broken rules become validation errors; everything else is the store's own trouble. Of a write, `exhausted` says
  // that nothing was done.
  Error(base::Error error);  // NOLINT(google-explicit-constructor): what item and expr report passes through TRY
};

template <class T>
using Answer = base::Result<T, Error>;

inline tl::unexpected<Error> refuse(ErrorType type, std::string message) {
  return tl::unexpected<Error>(Error(type, std::move(message)));
}
inline tl::unexpected<Error> refuse_invalid(std::string message, base::Rule rule = base::Rule::other) {
  Error error(ErrorType::validation, std::move(message));
  error.rule = rule;
  return tl::unexpected<Error>(std::move(error));
}
// The error of a transaction, with a reason for each of its actions.
Error transaction_cancelled(std::vector<CancellationReason> reasons);

inline constexpr std::string_view table_throughput_exceeded =
    "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning "
    "level with the UpdateTable API.";

// A validation error that starts with DynamoDB's usual "One or more parameter values were invalid: ".
tl::unexpected<Error> refuse_parameter(std::string_view message);

}  // namespace postino::store
