#include "partiql/errors.h"

#include <array>

#include "item/size.h"

namespace postino::partiql {

namespace {

constexpr std::array<std::string_view, 5> parameter_prefixes = {
    "Invalid FilterExpression: ", "Invalid ConditionExpression: ", "Invalid UpdateExpression: ",
    "Invalid ProjectionExpression: ", "Invalid KeyConditionExpression: "};

}  // namespace

store::Error reworded(store::Error error) {
  if (error.type != store::ErrorType::validation) return error;
  for (const std::string_view prefix : parameter_prefixes)
    if (error.message.starts_with(prefix)) error.message.erase(0, prefix.size());
  if (error.message == item::nesting_exceeded) error.message.resize(error.message.find(':'));
  return error;
}

store::Error write_error(store::Error error, bool inserts) {
  if (inserts && error.type == store::ErrorType::conditional_check_failed)
    return {store::ErrorType::duplicate_item, std::string(duplicate_item_message)};
  return reworded(std::move(error));
}

std::string slot_code(store::ErrorType type) {
  switch (type) {
    case store::ErrorType::validation:
      return "ValidationError";
    case store::ErrorType::throttling:
      return "ThrottlingError";
    default:
      break;
  }
  constexpr std::string_view suffix = "Exception";
  std::string name(store::error_name(type));
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

store::Error cancelled(std::vector<store::CancellationReason> reasons) {
  std::string codes;
  for (const store::CancellationReason& reason : reasons) codes.append(codes.empty() ? "" : ", ").append(reason.code);
  store::Error error(store::ErrorType::transaction_canceled,
                     "Transaction cancelled, please refer cancellation reasons for specific reasons [" + codes + "]");
  auto details = std::make_shared<store::ErrorDetails>();
  details->reasons = std::move(reasons);
  error.details = std::move(details);
  return error;
}

}  // namespace postino::partiql
