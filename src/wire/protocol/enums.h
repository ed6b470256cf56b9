// The words of the protocol for enumerations: those of parameters that only the wire has, and what checks all of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/constraints.h"
#include "store/words.h"

namespace postino::wire {

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
enum class InsightsAction { enable, disable };

}  // namespace postino::wire

namespace postino::store {

POSTINO_WORDS(wire::ConditionalOperator, {"OR", wire::ConditionalOperator::disjunction},
              {"AND", wire::ConditionalOperator::conjunction});
POSTINO_WORDS(wire::CollectionMetrics, {"SIZE", wire::CollectionMetrics::size},
              {"NONE", wire::CollectionMetrics::none});
POSTINO_WORDS(wire::FailureReturn, {"ALL_OLD", wire::FailureReturn::all_old}, {"NONE", wire::FailureReturn::none});
POSTINO_WORDS(wire::Comparison, {"IN", wire::Comparison::in}, {"NULL", wire::Comparison::null},
              {"BETWEEN", wire::Comparison::between}, {"LT", wire::Comparison::less},
              {"NOT_CONTAINS", wire::Comparison::not_contains}, {"EQ", wire::Comparison::equal},
              {"GT", wire::Comparison::greater}, {"NOT_NULL", wire::Comparison::not_null},
              {"NE", wire::Comparison::not_equal}, {"LE", wire::Comparison::less_equal},
              {"BEGINS_WITH", wire::Comparison::begins_with}, {"GE", wire::Comparison::greater_equal},
              {"CONTAINS", wire::Comparison::contains});
POSTINO_WORDS(wire::AttributeAction, {"ADD", wire::AttributeAction::add}, {"PUT", wire::AttributeAction::put},
              {"DELETE", wire::AttributeAction::remove});
POSTINO_WORDS(wire::InsightsAction, {"ENABLE", wire::InsightsAction::enable},
              {"DISABLE", wire::InsightsAction::disable});
POSTINO_WORDS(wire::ShardFilterType, {"CHILD_SHARDS", wire::ShardFilterType::child_shards});

}  // namespace postino::store

namespace postino::wire {

using store::value_of;
using store::word_for;
using store::Words;

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
