#include "store/error.h"

#include <array>

namespace postino::store {

std::string_view error_name(ErrorType type) {
  static constexpr std::array names = {
      std::string_view("ValidationException"),
      std::string_view("ConditionalCheckFailedException"),
      std::string_view("ResourceNotFoundException"),
      std::string_view("ResourceInUseException"),
      std::string_view("BackupInUseException"),
      std::string_view("BackupNotFoundException"),
      std::string_view("ContinuousBackupsUnavailableException"),
      std::string_view("PointInTimeRecoveryUnavailableException"),
      std::string_view("ExportConflictException"),
      std::string_view("ExportNotFoundException"),
      std::string_view("ImportConflictException"),
      std::string_view("ImportNotFoundException"),
      std::string_view("InvalidExportTimeException"),
      std::string_view("InvalidRestoreTimeException"),
      std::string_view("TableAlreadyExistsException"),
      std::string_view("TableInUseException"),
      std::string_view("TableNotFoundException"),
      std::string_view("LimitExceededException"),
      std::string_view("DuplicateItemException"),
      std::string_view("TransactionCanceledException"),
      std::string_view("TransactionConflictException"),
      std::string_view("TransactionInProgressException"),
      std::string_view("IdempotentParameterMismatchException"),
      std::string_view("ItemCollectionSizeLimitExceededException"),
      std::string_view("ProvisionedThroughputExceededException"),
      std::string_view("RequestLimitExceeded"),
      std::string_view("ThrottlingException"),
      std::string_view("TrimmedDataAccessException"),
      std::string_view("ExpiredIteratorException"),
      std::string_view("AccessDeniedException"),
      std::string_view("PolicyNotFoundException"),
      std::string_view("GlobalTableNotFoundException"),
      std::string_view("ServiceUnavailable"),
      std::string_view("InternalServerError"),
  };
  static_assert(names.size() == static_cast<std::size_t>(ErrorType::internal_server_error) + 1);
  return names[static_cast<std::size_t>(type)];
}

namespace {

ErrorType type_of(base::ErrorCode code) {
  if (code == base::ErrorCode::invalid || code == base::ErrorCode::malformed) return ErrorType::validation;
  return code == base::ErrorCode::exhausted ? ErrorType::service_unavailable : ErrorType::internal_server_error;
}

}  // namespace

Error::Error(base::Error error) : type(type_of(error.code)), message(std::move(error.message)), rule(error.rule) {}

std::string cancellation_code(ErrorType type) {
  if (type == ErrorType::validation) return "ValidationError";
  if (type == ErrorType::throttling) return "ThrottlingError";
  constexpr std::string_view suffix = "Exception";
  std::string name(error_name(type));
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

Error transaction_cancelled(std::vector<CancellationReason> reasons) {
  std::string codes;
  for (const CancellationReason& reason : reasons) codes.append(codes.empty() ? "" : ", ").append(reason.code);
  Error error(ErrorType::transaction_canceled,
              "Transaction cancelled, please refer cancellation reasons for specific reasons [" + codes + "]");
  auto details = std::make_shared<ErrorDetails>();
  details->reasons = std::move(reasons);
  error.details = std::move(details);
  return error;
}

tl::unexpected<Error> refuse_parameter(std::string_view message) {
  return refuse_invalid("One or more parameter values were invalid: " + std::string(message));
}

}  // namespace postino::store
