// The parameters from before expressions: Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter,
// ConditionalOperator and AttributesToGet. They become expressions with placeholders of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/constraints.h"
#include "store/error.h"
#include "store/expression.h"
#include "wire/protocol/enums.h"
#include "wire/protocol/input.h"

namespace postino::wire {

// A condition on one attribute, of KeyConditions and filters; Expected has two members more.
struct ConditionInput {
  std::optional<std::vector<ValueInput>> values;
  std::optional<std::string> comparison;
  std::optional<bool> exists;
  std::optional<ValueInput> value;
};
template <>
struct Shape<ConditionInput> {
  static constexpr std::string_view name = "Condition";
  using T = ConditionInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::values>("AttributeValueList"),
      member<T, &T::comparison>("ComparisonOperator"),
      member<T, &T::exists>("Exists"),
      member<T, &T::value>("Value"),
  });
};
using Conditions = Entries<ConditionInput>;
// Of KeyConditions, where no index has a key of more attributes.
inline constexpr std::size_t usual_key_conditions = 2;
inline constexpr std::string_view key_condition_count = "Conditions can be of length 1 or 2 only";
// What conditions are called in Expected.
inline constexpr std::string_view expectation_name = "ExpectedAttributeValue";

struct AttributeUpdateInput {
  std::optional<std::string> action;
  std::optional<ValueInput> value;
};
template <>
struct Shape<AttributeUpdateInput> {
  static constexpr std::string_view name = "AttributeValueUpdate";
  using T = AttributeUpdateInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::action>("Action"),
      member<T, &T::value>("Value"),
  });
};
using AttributeUpdates = Entries<AttributeUpdateInput>;

// What every condition must look like. Those of filters and keys need an operator, those of Expected do not.
void check_conditions(store::Constraints& constraints, std::string_view path,
                      const std::optional<Conditions>& conditions, bool operator_required);
void check_attribute_updates(store::Constraints& constraints, const std::optional<AttributeUpdates>& updates);
void check_attributes_to_get(store::Constraints& constraints, std::string_view path,
                             const std::optional<std::vector<std::string>>& names);

// Builds expressions out of old parameters, and the placeholders that these need into `placeholders`.
class LegacyTranslator {
 public:
  explicit LegacyTranslator(expr::Placeholders& placeholders) : placeholders_(placeholders) {}

  // No text for no conditions.
  store::Answer<std::optional<store::ConditionExpression>> expected(const Conditions& conditions,
                                                                    std::optional<ConditionalOperator> conditional);
  store::Answer<std::optional<store::ConditionExpression>> filter(const Conditions& conditions,
                                                                  std::optional<ConditionalOperator> conditional);
  // `max_count`: as many as the key may have attributes.
  store::Answer<std::string> key_conditions(const Conditions& conditions, std::size_t max_count);
  store::Answer<std::optional<store::UpdateExpression>> updates(const AttributeUpdates& updates);
  store::Answer<std::string> attributes_to_get(const std::vector<std::string>& names);

 private:
  using Term = store::Answer<std::string> (LegacyTranslator::*)(const std::string& attribute,
                                                                const ConditionInput& condition);
  store::Answer<std::optional<std::string>> joined(const Conditions& conditions,
                                                   std::optional<ConditionalOperator> conditional, Term term_of);
  store::Answer<std::string> condition(const std::string& attribute, const ConditionInput& condition);
  store::Answer<std::string> expectation(const std::string& attribute, const ConditionInput& condition);
  std::string comparison(const std::string& attribute, Comparison comparison,
                         const std::vector<const ValueInput*>& values);
  std::string name(const std::string& attribute);
  std::string value(const item::AttributeValue& value);

  expr::Placeholders& placeholders_;
  int count_ = 0;
};

}  // namespace postino::wire
