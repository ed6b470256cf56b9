// The operators of conditions, by their names.
#include <algorithm>
#include <array>

#include "access/policy/condition.h"

namespace postino::access {

namespace {

struct NamedOperator {
  std::string_view name;
  Comparison comparison;
  bool negated = false;
};

constexpr auto named_operators = std::to_array<NamedOperator>({
    {"StringEquals", Comparison::text},
    {"StringNotEquals", Comparison::text, true},
    {"StringEqualsIgnoreCase", Comparison::text_ignoring_case},
    {"StringNotEqualsIgnoreCase", Comparison::text_ignoring_case, true},
    {"StringLike", Comparison::text_like},
    {"StringNotLike", Comparison::text_like, true},
    {"NumericEquals", Comparison::number_equal},
    {"NumericNotEquals", Comparison::number_equal, true},
    {"NumericLessThan", Comparison::number_less},
    {"NumericLessThanEquals", Comparison::number_less_equal},
    {"NumericGreaterThan", Comparison::number_greater},
    {"NumericGreaterThanEquals", Comparison::number_greater_equal},
    {"DateEquals", Comparison::date_equal},
    {"DateNotEquals", Comparison::date_equal, true},
    {"DateLessThan", Comparison::date_less},
    {"DateLessThanEquals", Comparison::date_less_equal},
    {"DateGreaterThan", Comparison::date_greater},
    {"DateGreaterThanEquals", Comparison::date_greater_equal},
    {"Bool", Comparison::boolean},
    {"BinaryEquals", Comparison::binary},
    {"ArnEquals", Comparison::arn},
    {"ArnNotEquals", Comparison::arn, true},
    {"ArnLike", Comparison::arn},
    {"ArnNotLike", Comparison::arn, true},
    {"IpAddress", Comparison::network},
    {"NotIpAddress", Comparison::network, true},
    {"Null", Comparison::absent},
});

constexpr std::string_view all_prefix = "ForAllValues:";
constexpr std::string_view any_prefix = "ForAnyValue:";
constexpr std::string_view exists_suffix = "IfExists";

}  // namespace

base::Result<Operator> Operator::parse(std::string_view text) {
  Operator result;
  std::string_view name = text;
  if (name.starts_with(all_prefix)) result.quantifier = Quantifier::for_all_values;
  if (name.starts_with(any_prefix)) result.quantifier = Quantifier::for_any_value;
  if (result.quantifier == Quantifier::for_all_values) name.remove_prefix(all_prefix.size());
  if (result.quantifier == Quantifier::for_any_value) name.remove_prefix(any_prefix.size());
  if (name.ends_with(exists_suffix)) {
    result.if_exists = true;
    name.remove_suffix(exists_suffix.size());
  }
  const auto* found = std::ranges::find(named_operators, name, &NamedOperator::name);
  if (found == named_operators.end()) return base::invalid("is no operator of conditions");
  if (found->comparison == Comparison::absent && (result.if_exists || result.quantifier != Quantifier::none))
    return base::invalid("is no operator: Null stands by itself");
  result.comparison = found->comparison;
  result.negated = found->negated;
  return result;
}

}  // namespace postino::access
