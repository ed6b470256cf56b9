// Parameters that many operations have, and the rules for them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "store/capacity.h"
#include "store/constraints.h"
#include "wire/input.h"
#include "wire/json_writer.h"

namespace postino::wire {

// The table of a data operation. A name that breaks a rule is reported alone, before everything else; a missing one
// together with whatever else is missing.
store::Answer<void> check_table_name(const std::optional<std::string>& name);
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

expr::Placeholders placeholders_of(std::optional<expr::Names> names, std::optional<ValuesInput> values);

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

}  // namespace postino::wire
