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

}  // namespace postino::partiql
