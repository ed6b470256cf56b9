// The words of the protocol for the enumerations of the store, in the order in which DynamoDB lists them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "store/constraints.h"
#include "store/stream.h"
#include "store/table_operations.h"
#include "store/transaction.h"

namespace postino::wire {

template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};

// The table of an enumeration's words.
template <class Enum>
struct Words;

#define POSTINO_WORDS(Enum, ...)                                          \
  template <>                                                             \
  struct Words<Enum> {                                                    \
    static constexpr auto all = std::to_array<Word<Enum>>({__VA_ARGS__}); \
  }

// Parameters that only the wire has.
enum class ConditionalOperator { disjunction, conjunction };
enum class CollectionMetrics { size, none };
enum class FailureReturn { all_old, none };
enum class Comparison {
  in,
  null,
  between,
  less,
  not_contains,
  equal,
  greater,
  not_null,
  not_equal,
  less_equal,
  begins_with,
  greater_equal,
  contains
};
enum class AttributeAction { add, put, remove };
enum class ShardFilterType { child_shards };

POSTINO_WORDS(ConditionalOperator, {"OR", ConditionalOperator::disjunction}, {"AND", ConditionalOperator::conjunction});
POSTINO_WORDS(CollectionMetrics, {"SIZE", CollectionMetrics::size}, {"NONE", CollectionMetrics::none});
POSTINO_WORDS(FailureReturn, {"ALL_OLD", FailureReturn::all_old}, {"NONE", FailureReturn::none});
POSTINO_WORDS(Comparison, {"IN", Comparison::in}, {"NULL", Comparison::null}, {"BETWEEN", Comparison::between},
              {"LT", Comparison::less}, {"NOT_CONTAINS", Comparison::not_contains}, {"EQ", Comparison::equal},
              {"GT", Comparison::greater}, {"NOT_NULL", Comparison::not_null}, {"NE", Comparison::not_equal},
              {"LE", Comparison::less_equal}, {"BEGINS_WITH", Comparison::begins_with},
              {"GE", Comparison::greater_equal}, {"CONTAINS", Comparison::contains});
POSTINO_WORDS(AttributeAction, {"ADD", AttributeAction::add}, {"PUT", AttributeAction::put},
              {"DELETE", AttributeAction::remove});
POSTINO_WORDS(ShardFilterType, {"CHILD_SHARDS", ShardFilterType::child_shards});

POSTINO_WORDS(store::ReturnConsumedCapacity, {"INDEXES", store::ReturnConsumedCapacity::indexes},
              {"TOTAL", store::ReturnConsumedCapacity::total}, {"NONE", store::ReturnConsumedCapacity::none});
POSTINO_WORDS(store::ReturnValues, {"ALL_NEW", store::ReturnValues::all_new},
              {"UPDATED_OLD", store::ReturnValues::updated_old}, {"ALL_OLD", store::ReturnValues::all_old},
              {"NONE", store::ReturnValues::none}, {"UPDATED_NEW", store::ReturnValues::updated_new});
POSTINO_WORDS(store::Select, {"SPECIFIC_ATTRIBUTES", store::Select::specific_attributes},
              {"COUNT", store::Select::count}, {"ALL_ATTRIBUTES", store::Select::all_attributes},
              {"ALL_PROJECTED_ATTRIBUTES", store::Select::all_projected_attributes});
POSTINO_WORDS(item::Type, {"B", item::Type::binary}, {"N", item::Type::number}, {"S", item::Type::string});
POSTINO_WORDS(store::KeyRole, {"HASH", store::KeyRole::hash}, {"RANGE", store::KeyRole::range});
POSTINO_WORDS(store::ProjectionType, {"ALL", store::ProjectionType::all}, {"INCLUDE", store::ProjectionType::include},
              {"KEYS_ONLY", store::ProjectionType::keys_only});
POSTINO_WORDS(store::BillingMode, {"PROVISIONED", store::BillingMode::provisioned},
              {"PAY_PER_REQUEST", store::BillingMode::pay_per_request});
POSTINO_WORDS(store::TableClass, {"STANDARD", store::TableClass::standard},
              {"STANDARD_INFREQUENT_ACCESS", store::TableClass::standard_infrequent_access});
POSTINO_WORDS(store::TableStatus, {"CREATING", store::TableStatus::creating},
              {"UPDATING", store::TableStatus::updating}, {"DELETING", store::TableStatus::deleting},
              {"ACTIVE", store::TableStatus::active});
POSTINO_WORDS(store::IndexStatus, {"CREATING", store::IndexStatus::creating},
              {"UPDATING", store::IndexStatus::updating}, {"DELETING", store::IndexStatus::deleting},
              {"ACTIVE", store::IndexStatus::active});
POSTINO_WORDS(store::StreamViewType, {"NEW_IMAGE", store::StreamViewType::new_image},
              {"OLD_IMAGE", store::StreamViewType::old_image},
              {"NEW_AND_OLD_IMAGES", store::StreamViewType::new_and_old_images},
              {"KEYS_ONLY", store::StreamViewType::keys_only});
POSTINO_WORDS(store::StreamStatus, {"ENABLING", store::StreamStatus::enabling},
              {"ENABLED", store::StreamStatus::enabled}, {"DISABLING", store::StreamStatus::disabling},
              {"DISABLED", store::StreamStatus::disabled});
POSTINO_WORDS(store::TimeToLiveStatus, {"ENABLING", store::TimeToLiveStatus::enabling},
              {"ENABLED", store::TimeToLiveStatus::enabled}, {"DISABLING", store::TimeToLiveStatus::disabling},
              {"DISABLED", store::TimeToLiveStatus::disabled});
POSTINO_WORDS(store::IteratorType, {"TRIM_HORIZON", store::IteratorType::trim_horizon},
              {"LATEST", store::IteratorType::latest}, {"AT_SEQUENCE_NUMBER", store::IteratorType::at_sequence_number},
              {"AFTER_SEQUENCE_NUMBER", store::IteratorType::after_sequence_number});
POSTINO_WORDS(store::ChangeType, {"INSERT", store::ChangeType::insert}, {"MODIFY", store::ChangeType::modify},
              {"REMOVE", store::ChangeType::remove});

#undef POSTINO_WORDS

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

// The value of a parameter that may be absent, once check_word has found no fault in it.
template <class Enum>
constexpr std::optional<Enum> value_if_given(const std::optional<std::string>& text) {
  return text ? value_of<Enum>(*text) : std::nullopt;
}

// All words as the constraint error lists them.
template <class Enum>
std::string word_list() {
  std::string list = "[";
  for (const auto& word : Words<Enum>::all) {
    if (list.size() > 1) list += ", ";
    list += word.text;
  }
  return list + "]";
}

// The value of a parameter that may be absent; a word that is none of them is a broken constraint.
template <class Enum>
std::optional<Enum> check_word(store::Constraints& constraints, std::string_view path,
                               const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto value = value_of<Enum>(*text);
  if (!value) constraints.check_one_of(path, *text, word_list<Enum>());
  return value;
}

// The same for one that must not be absent.
template <class Enum>
std::optional<Enum> require_word(store::Constraints& constraints, std::string_view path,
                                 const std::optional<std::string>& text) {
  constraints.check_not_null(path, text.has_value());
  return check_word<Enum>(constraints, path, text);
}

}  // namespace postino::wire
