#include "access/policy/condition.h"

#include <algorithm>
#include <optional>

#include "access/policy/value_forms.h"
#include "base/base64.h"
#include "base/text.h"

namespace postino::access {

namespace {

using Match = Pattern::Match;

Match answer(bool matches) { return matches ? Match::yes : Match::no; }

base::Result<ConditionValue> parse_value(Comparison comparison, const std::string& text, bool variables) {
  switch (comparison) {
    case Comparison::text:
    case Comparison::text_ignoring_case:
    case Comparison::text_like: {
      TRY(Pattern pattern,
          Pattern::parse(text, {.wildcards = comparison == Comparison::text_like, .variables = variables}));
      return pattern;
    }
    case Comparison::number_equal:
    case Comparison::number_less:
    case Comparison::number_less_equal:
    case Comparison::number_greater:
    case Comparison::number_greater_equal: {
      const auto number = item::Number::parse(text);
      if (!number) return base::invalid("must be a number of up to 38 digits");
      return *number;
    }
    case Comparison::date_equal:
    case Comparison::date_less:
    case Comparison::date_less_equal:
    case Comparison::date_greater:
    case Comparison::date_greater_equal: {
      const auto time = parse_moment(text);
      if (!time) return base::invalid("must be a date such as 2026-11-15T09:30:00Z, or a number of seconds since 1970");
      return *time;
    }
    case Comparison::boolean:
    case Comparison::absent: {
      if (text != "true" && text != "false") return base::invalid("must be true or false");
      return ConditionValue(text == "true");
    }
    case Comparison::binary: {
      auto bytes = base::from_base64(text);
      if (!bytes) return base::invalid("must be base64");
      return ConditionValue(*std::move(bytes));
    }
    case Comparison::arn: {
      TRY(ArnPattern pattern, ArnPattern::parse(text, variables));
      return pattern;
    }
    case Comparison::network: {
      const auto network = net::Network::parse(text);
      if (!network) return base::invalid("must be an IP address or a network such as 203.0.113.0/24");
      return *network;
    }
  }
  return base::invalid("is of no known form");
}

template <class T>
bool compare(const T& request, const T& policy, Comparison equal, Comparison used) {
  switch (static_cast<int>(used) - static_cast<int>(equal)) {
    case 0:
      return request == policy;
    case 1:
      return request < policy;
    case 2:
      return request <= policy;
    case 3:
      return request > policy;
    default:
      return request >= policy;
  }
}

// A value of the request in the form of an operator: it may be read once and compared with many.
class RequestValue {
 public:
  RequestValue(const std::string& text, Comparison comparison) : text_(text), comparison_(comparison) {
    if (comparison >= Comparison::number_equal && comparison <= Comparison::number_greater_equal) {
      if (const auto number = item::Number::parse(text)) number_ = *number;
    } else if (comparison >= Comparison::date_equal && comparison <= Comparison::date_greater_equal) {
      time_ = parse_moment(text);
    } else if (comparison == Comparison::binary) {
      if (auto bytes = base::from_base64(text)) bytes_ = *std::move(bytes);
    }
  }

  Match match(const ConditionValue& value, const Context& context) const {
    if (const auto* pattern = std::get_if<Pattern>(&value))
      return comparison_ == Comparison::text_ignoring_case ? pattern->match_ignoring_case(text_, context)
                                                           : pattern->match(text_, context);
    if (const auto* arn = std::get_if<ArnPattern>(&value)) return arn->match(text_, context);
    if (const auto* number = std::get_if<item::Number>(&value))
      return answer(number_ && compare(*number_, *number, Comparison::number_equal, comparison_));
    if (const auto* time = std::get_if<base::TimePoint>(&value))
      return answer(time_ && compare(*time_, *time, Comparison::date_equal, comparison_));
    if (const auto* boolean = std::get_if<bool>(&value))
      return answer(base::equal_ignoring_case(text_, *boolean ? "true" : "false"));
    if (const auto* bytes = std::get_if<std::string>(&value)) return answer(bytes_ && *bytes_ == *bytes);
    if (const auto* network = std::get_if<net::Network>(&value)) return answer(network->contains(text_));
    return Match::no;
  }

 private:
  const std::string& text_;
  const Comparison comparison_;
  std::optional<item::Number> number_;
  std::optional<base::TimePoint> time_;
  std::optional<std::string> bytes_;
};

}  // namespace

base::Result<Condition> Condition::make(std::string_view operator_name, std::string_view key,
                                        std::vector<std::string> values, bool variables) {
  Condition condition;
  condition.operator_name_ = operator_name;
  TRY(condition.operator_, Operator::parse(operator_name));
  TRY(condition.key_, KeyReference::parse(key));
  const Operator& used = condition.operator_;
  if (has_several_values(condition.key_.key) && used.quantifier == Quantifier::none &&
      used.comparison != Comparison::absent)
    return base::invalid(
        "needs ForAllValues: or ForAnyValue: in front of the operator, because a request can have "
        "several values of this key");
  for (const std::string& text : values) {
    auto value = parse_value(used.comparison, text, variables);
    if (!value) return base::invalid("the value \"" + text + "\" " + value.error().message);
    condition.values_.push_back(*std::move(value));
  }
  condition.texts_ = std::move(values);
  return condition;
}

void Condition::add_keys(ContextKeySet& keys) const {
  keys.set(static_cast<std::size_t>(key_.key));
  for (const ConditionValue& each : values_) {
    if (const auto* pattern = std::get_if<Pattern>(&each)) pattern->add_keys(keys);
    if (const auto* arn = std::get_if<ArnPattern>(&each)) arn->add_keys(keys);
  }
}

// Of one value of the request.
Condition::Outcome Condition::outcome_of(const std::string& value, const Context& context) const {
  const RequestValue request(value, operator_.comparison);
  bool unknown = false;
  for (const ConditionValue& each : values_) {
    const Match match = request.match(each, context);
    if (match == Match::yes) return operator_.negated ? Outcome::failed : Outcome::met;
    unknown = unknown || match == Match::unknown;
  }
  if (!operator_.negated) return Outcome::failed;
  return unknown ? Outcome::unknown : Outcome::met;
}

Condition::Outcome Condition::evaluate(const Context& context) const {
  const auto values = context.values(key_);
  if (operator_.comparison == Comparison::absent) {
    const bool met = std::ranges::any_of(
        values_, [&](const ConditionValue& each) { return std::get<bool>(each) == values.empty(); });
    return met ? Outcome::met : Outcome::failed;
  }
  const bool all = operator_.quantifier == Quantifier::for_all_values;
  if (values.empty()) {
    const bool any = operator_.quantifier == Quantifier::for_any_value;
    return all || operator_.if_exists || (operator_.negated && !any) ? Outcome::met : Outcome::failed;
  }
  // Keys with one value need not say of how many it must be true.
  bool unknown = false;
  for (const std::string& value : values) {
    const Outcome outcome = outcome_of(value, context);
    if (all && outcome == Outcome::failed) return Outcome::failed;
    if (!all && outcome == Outcome::met) return Outcome::met;
    unknown = unknown || outcome == Outcome::unknown;
  }
  if (unknown) return Outcome::unknown;
  return all ? Outcome::met : Outcome::failed;
}

}  // namespace postino::access
