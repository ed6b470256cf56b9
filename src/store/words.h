// The words of DynamoDB's protocol for the enumerations of the store, in the order in which DynamoDB lists them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "store/item_operations.h"
#include "store/stream.h"
#include "store/table_operations.h"

namespace postino::store {

template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};

// The table of an enumeration's words.
template <class Enum>
struct Words;

// In this namespace; other modules have some for enumerations of their own.
#define POSTINO_WORDS(Enum, ...)                                          \
  template <>                                                             \
  struct Words<Enum> {                                                    \
    static constexpr auto all = std::to_array<Word<Enum>>({__VA_ARGS__}); \
  }

POSTINO_WORDS(ReturnConsumedCapacity, {"INDEXES", ReturnConsumedCapacity::indexes},
              {"TOTAL", ReturnConsumedCapacity::total}, {"NONE", ReturnConsumedCapacity::none});
POSTINO_WORDS(ReturnValues, {"ALL_NEW", ReturnValues::all_new}, {"UPDATED_OLD", ReturnValues::updated_old},
              {"ALL_OLD", ReturnValues::all_old}, {"NONE", ReturnValues::none},
              {"UPDATED_NEW", ReturnValues::updated_new});
POSTINO_WORDS(Select, {"SPECIFIC_ATTRIBUTES", Select::specific_attributes}, {"COUNT", Select::count},
              {"ALL_ATTRIBUTES", Select::all_attributes},
              {"ALL_PROJECTED_ATTRIBUTES", Select::all_projected_attributes});
POSTINO_WORDS(item::Type, {"B", item::Type::binary}, {"N", item::Type::number}, {"S", item::Type::string});
POSTINO_WORDS(KeyRole, {"HASH", KeyRole::hash}, {"RANGE", KeyRole::range});
POSTINO_WORDS(ProjectionType, {"ALL", ProjectionType::all}, {"INCLUDE", ProjectionType::include},
              {"KEYS_ONLY", ProjectionType::keys_only});
POSTINO_WORDS(BillingMode, {"PROVISIONED", BillingMode::provisioned},
              {"PAY_PER_REQUEST", BillingMode::pay_per_request});
POSTINO_WORDS(TableClass, {"STANDARD", TableClass::standard},
              {"STANDARD_INFREQUENT_ACCESS", TableClass::standard_infrequent_access});
POSTINO_WORDS(TableStatus, {"CREATING", TableStatus::creating}, {"UPDATING", TableStatus::updating},
              {"DELETING", TableStatus::deleting}, {"ACTIVE", TableStatus::active});
POSTINO_WORDS(IndexStatus, {"CREATING", IndexStatus::creating}, {"UPDATING", IndexStatus::updating},
              {"DELETING", IndexStatus::deleting}, {"ACTIVE", IndexStatus::active});
POSTINO_WORDS(StreamViewType, {"NEW_IMAGE", StreamViewType::new_image}, {"OLD_IMAGE", StreamViewType::old_image},
              {"NEW_AND_OLD_IMAGES", StreamViewType::new_and_old_images}, {"KEYS_ONLY", StreamViewType::keys_only});
POSTINO_WORDS(StreamStatus, {"ENABLING", StreamStatus::enabling}, {"ENABLED", StreamStatus::enabled},
              {"DISABLING", StreamStatus::disabling}, {"DISABLED", StreamStatus::disabled});
POSTINO_WORDS(TimeToLiveStatus, {"ENABLING", TimeToLiveStatus::enabling}, {"ENABLED", TimeToLiveStatus::enabled},
              {"DISABLING", TimeToLiveStatus::disabling}, {"DISABLED", TimeToLiveStatus::disabled});
POSTINO_WORDS(BackupType, {"USER", BackupType::user}, {"SYSTEM", BackupType::system});
POSTINO_WORDS(BackupStatus, {"CREATING", BackupStatus::creating}, {"DELETED", BackupStatus::deleted},
              {"AVAILABLE", BackupStatus::available});
POSTINO_WORDS(InsightsMode, {"ACCESSED_AND_THROTTLED_KEYS", InsightsMode::accessed_and_throttled_keys},
              {"THROTTLED_KEYS", InsightsMode::throttled_keys});
POSTINO_WORDS(IteratorType, {"TRIM_HORIZON", IteratorType::trim_horizon}, {"LATEST", IteratorType::latest},
              {"AT_SEQUENCE_NUMBER", IteratorType::at_sequence_number},
              {"AFTER_SEQUENCE_NUMBER", IteratorType::after_sequence_number});
POSTINO_WORDS(ChangeType, {"INSERT", ChangeType::insert}, {"MODIFY", ChangeType::modify},
              {"REMOVE", ChangeType::remove});

template <class Enum>
constexpr std::string_view word_for(Enum value) {
  for (const auto& word : Words<Enum>::all)
    if (word.value == value) return word.text;
  return {};
}

template <class Enum>
constexpr std::optional<Enum> value_of(std::string_view text) {
  for (const auto& word : Words<Enum>::all)
    if (word.text == text) return word.value;
  return std::nullopt;
}

}  // namespace postino::store
