// Parameters that many operations have, and the rules for them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "store/capacity.h"
#include "store/constraints.h"
#include "wire/protocol/enums.h"
#include "wire/protocol/input.h"
#include "wire/protocol/json_writer.h"

namespace postino::wire {

// The table of a data operation. A name that breaks a rule is reported alone, before everything else; a missing one
// together with whatever else is missing.
store::Answer<void> check_table_name(const std::optional<std::string>& name);
// The same for operations on tables, which report a missing name alone.
inline constexpr std::string_view missing_table_name =
    "The parameter 'TableName' is required but was not present in the request";
// The name behind a table's name or ARN.
std::string table_of(std::string name_or_arn);

struct Parameter {
  std::string_view name;
  bool present = false;
};
// Expressions and the parameters from before them exclude each other. `values_of` are those expressions that can use
// attribute values.
store::Answer<void> check_styles(std::initializer_list<Parameter> expressions, std::initializer_list<Parameter> old,
                                 const std::optional<expr::Names>& names, const std::optional<ValuesInput>& values);

// Fails with the rule that a value breaks.
store::Answer<void> check_fault(const std::optional<MapInput>& map);
store::Answer<void> check_fault(const std::optional<ValuesInput>& values);

// Takes the values out of their input; their fault stays.
expr::Placeholders placeholders_of(std::optional<expr::Names> names, std::optional<ValuesInput>& values);

// What a request wants to be told beside its result.
std::optional<store::ReturnConsumedCapacity> check_consumed_capacity(store::Constraints& constraints,
                                                                     const std::optional<std::string>& word);
std::optional<CollectionMetrics> check_collection_metrics(store::Constraints& constraints,
                                                          const std::optional<std::string>& word);
// ReturnValuesOnConditionCheckFailure, once it is known to be one of its words.
bool returns_item_on_failure(const std::optional<std::string>& word);

template <class Expression>
std::optional<Expression> expression_of(std::optional<std::string> text) {
  if (!text) return std::nullopt;
  return Expression(*std::move(text));
}

// Members of answers.
void write(JsonWriter& json, const store::ConsumedCapacity& consumed, store::ReturnConsumedCapacity shown);
void write_consumed(JsonWriter& json, const std::optional<store::ConsumedCapacity>& consumed,
                    store::ReturnConsumedCapacity shown);
void write_consumed(JsonWriter& json, const std::vector<store::ConsumedCapacity>& consumed,
                    store::ReturnConsumedCapacity shown);
void write(JsonWriter& json, const store::ItemCollectionMetrics& metrics);
// The items that a transaction read, in its order; those that are not there are empty.
void write_responses(JsonWriter& json, const std::vector<std::optional<item::Item>>& items);

}  // namespace postino::wire
