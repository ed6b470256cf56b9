// Conditions of a statement: an operator, a key of the request's context, and the values it is compared with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "access/policy/arn.h"
#include "access/policy/context.h"
#include "access/policy/pattern.h"
#include "base/clock.h"
#include "base/result.h"
#include "item/number.h"
#include "net/address.h"

namespace postino::access {

// How two values are compared. The negative operators of policies are these, negated.
enum class Comparison : std::uint8_t {
  text,
  text_ignoring_case,
  text_like,
  number_equal,
  number_less,
  number_less_equal,
  number_greater,
  number_greater_equal,
  date_equal,
  date_less,
  date_less_equal,
  date_greater,
  date_greater_equal,
  boolean,
  binary,
  arn,
  network,
  absent,  // the operator Null
};

enum class Quantifier : std::uint8_t { none, for_all_values, for_any_value };

struct Operator {
  Comparison comparison = Comparison::text;
  bool negated = false;
  bool if_exists = false;
  Quantifier quantifier = Quantifier::none;

  // "ForAllValues:StringLikeIfExists". Fails with the rule when there is no such operator.
  static base::Result<Operator> parse(std::string_view text);
};

// A value of a policy, as its operator understands it.
using ConditionValue =
    std::variant<std::monostate, bool, item::Number, base::TimePoint, std::string, net::Network, Pattern, ArnPattern>;

class Condition {
 public:
  // Fails with the rule that a part breaks: `values` are texts, also where JSON has numbers and booleans.
  static base::Result<Condition> make(std::string_view operator_name, std::string_view key,
                                      std::vector<std::string> values, bool variables);

  enum class Outcome {
    failed,
    met,
    unknown,  // a negative one is met only because a variable stands for nothing
  };
  Outcome evaluate(const Context& context) const;

  // Adds its key, and those of its variables.
  void add_keys(ContextKeySet& keys) const;

  const KeyReference& key() const { return key_; }
  const std::string& operator_name() const { return operator_name_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  Outcome outcome_of(const std::string& value, const Context& context) const;

  std::string operator_name_;
  Operator operator_;
  KeyReference key_;
  std::vector<std::string> texts_;
  std::vector<ConditionValue> values_;
};

}  // namespace postino::access
