#include "wire/protocol/legacy_input.h"

#include <algorithm>
#include <set>

#include "item/size.h"

namespace postino::wire {

namespace {

using store::refuse_invalid;
using store::refuse_parameter;
using Values = std::vector<const ValueInput*>;

std::string_view wire_word(Comparison comparison) { return word_for(comparison); }

bool has_valid_count(Comparison comparison, std::size_t count) {
  switch (comparison) {
    case Comparison::null:
    case Comparison::not_null:
      return count == 0;
    case Comparison::in:
      return count > 0;
    case Comparison::between:
      return count == 2;
    default:
      return count == 1;
  }
}

bool accepts(Comparison comparison, item::Type type) {
  const bool ordered = type == item::Type::string || type == item::Type::number || type == item::Type::binary;
  switch (comparison) {
    case Comparison::equal:
    case Comparison::not_equal:
      return true;
    case Comparison::begins_with:
      return type == item::Type::string || type == item::Type::binary;
    default:
      return ordered;
  }
}

bool is_above(const item::AttributeValue& a, const item::AttributeValue& b) {
  if (const auto* text = a.get_if<std::string>()) return *text > b.as<std::string>();
  if (const auto* number = a.get_if<item::Number>()) return *number > b.as<item::Number>();
  return a.as<item::Binary>() > b.as<item::Binary>();
}

store::Answer<void> check_operand_count(Comparison comparison, const Values& values) {
  for (const ValueInput* value : values)
    if (value->fault) return refuse_invalid(*value->fault);
  const std::string word(wire_word(comparison));
  if (!has_valid_count(comparison, values.size()))
    return refuse_parameter("Invalid number of argument(s) for the " + word + " ComparisonOperator");
  if (values.empty()) return {};
  const item::Type type = values.front()->value.type();
  for (const ValueInput* value : values)
    if (value->value.type() != type)
      return refuse_parameter("AttributeValues inside AttributeValueList must be of same type");
  if (!accepts(comparison, type))
    return refuse_parameter("ComparisonOperator " + word + " is not valid for " + std::string(item::type_name(type)) +
                            " AttributeValue type");
  if (comparison == Comparison::between && is_above(values[0]->value, values[1]->value))
    return refuse_invalid(
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound");
  return {};
}

Values values_of(const ConditionInput& condition) {
  Values values;
  if (condition.values)
    for (const ValueInput& value : *condition.values) values.push_back(&value);
  else if (condition.value)
    values.push_back(&*condition.value);
  return values;
}

std::string join(const std::vector<std::string>& terms, std::string_view separator) {
  std::string text;
  for (const std::string& term : terms) {
    if (!text.empty()) text += separator;
    text += term;
  }
  return text;
}

store::Answer<std::string_view> separator_for(std::size_t count, std::optional<ConditionalOperator> conditional) {
  if (conditional && count < 2)
    return refuse_invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements");
  return conditional == ConditionalOperator::disjunction ? " OR " : " AND ";
}

// What the parameters say need not keep to the limits of expressions.
std::optional<store::ConditionExpression> translated_condition(std::optional<std::string> text, expr::Kind kind) {
  if (!text) return std::nullopt;
  auto parsed = expr::parse_translated_condition(*text, kind);
  return store::ConditionExpression(*std::move(text), std::move(parsed));
}

// One clause of an update: "SET a, b".
struct Clause {
  std::string_view word;
  std::vector<std::string> terms;
};

store::Answer<void> check_update(const AttributeUpdateInput& update, AttributeAction action) {
  if (!update.value) {
    if (action != AttributeAction::remove)
      return refuse_parameter("Only DELETE action is allowed when no attribute value is specified");
    return {};
  }
  if (update.value->fault) return refuse_invalid(*update.value->fault);
  const item::Type type = update.value->value.type();
  const std::string type_text(item::type_name(type));
  const bool is_set =
      type == item::Type::string_set || type == item::Type::number_set || type == item::Type::binary_set;
  if (action == AttributeAction::remove && !is_set)
    return refuse_parameter("DELETE action with value is not supported for the type " + type_text);
  if (action == AttributeAction::add && !is_set && type != item::Type::number && type != item::Type::list)
    return refuse_parameter("ADD action is not supported for the type " + type_text);
  return {};
}

}  // namespace

void check_conditions(store::Constraints& constraints, std::string_view path,
                      const std::optional<Conditions>& conditions, bool operator_required) {
  if (!conditions) return;
  for (const auto& [attribute, condition] : *conditions) {
    if (!operator_required && !condition.comparison) continue;
    std::string member(path);
    member.append(".").append(attribute).append(".member.comparisonOperator");
    require_word<Comparison>(constraints, member, condition.comparison);
  }
}

void check_attribute_updates(store::Constraints& constraints, const std::optional<AttributeUpdates>& updates) {
  if (!updates) return;
  for (const auto& [attribute, update] : *updates)
    check_word<AttributeAction>(constraints, "attributeUpdates." + attribute + ".member.action", update.action);
}

void check_attributes_to_get(store::Constraints& constraints, std::string_view path,
                             const std::optional<std::vector<std::string>>& names) {
  constexpr std::size_t max_names = 255;
  if (!names) return;
  constraints.check_count(path, names->size(), 1, max_names, store::list_text(*names));
}

// The user may combine KeyConditions with a FilterExpression, and so may have taken a placeholder already.
std::string LegacyTranslator::name(const std::string& attribute) {
  if (!placeholders_.names) placeholders_.names.emplace();
  std::string placeholder;
  do placeholder = "#_" + std::to_string(count_++);
  while (!placeholders_.names->emplace(placeholder, attribute).second);
  return placeholder;
}

std::string LegacyTranslator::value(const item::AttributeValue& value) {
  if (!placeholders_.values) placeholders_.values.emplace();
  std::string placeholder;
  do placeholder = ":_" + std::to_string(count_++);
  while (placeholders_.values->contains(placeholder));
  placeholders_.values->set(placeholder, value);
  return placeholder;
}

std::string LegacyTranslator::comparison(const std::string& attribute, Comparison comparison, const Values& values) {
  const std::string path = name(attribute);
  const auto compare = [&](std::string_view sign) {
    return path + " " + std::string(sign) + " " + value(values.front()->value);
  };
  const auto call = [&](std::string_view function) {
    return std::string(function) + "(" + path + ", " + value(values.front()->value) + ")";
  };
  switch (comparison) {
    case Comparison::equal:
      return compare("=");
    case Comparison::not_equal:
      return compare("<>");
    case Comparison::less:
      return compare("<");
    case Comparison::less_equal:
      return compare("<=");
    case Comparison::greater:
      return compare(">");
    case Comparison::greater_equal:
      return compare(">=");
    case Comparison::null:
      return "attribute_not_exists(" + path + ")";
    case Comparison::not_null:
      return "attribute_exists(" + path + ")";
    case Comparison::contains:
      return call("contains");
    case Comparison::not_contains:
      return "attribute_exists(" + path + ") AND NOT " + call("contains");
    case Comparison::begins_with:
      return call("begins_with");
    case Comparison::between:
      return path + " BETWEEN " + value(values[0]->value) + " AND " + value(values[1]->value);
    case Comparison::in:
      break;
  }
  std::vector<std::string> operands;
  for (const ValueInput* each : values) operands.push_back(value(each->value));
  return path + " IN (" + join(operands, ", ") + ")";
}

store::Answer<std::string> LegacyTranslator::condition(const std::string& attribute, const ConditionInput& condition) {
  const auto word = value_of<Comparison>(*condition.comparison);
  const Values values = values_of(condition);
  TRY_VOID(check_operand_count(*word, values));
  return comparison(attribute, *word, values);
}

store::Answer<std::string> LegacyTranslator::expectation(const std::string& attribute,
                                                         const ConditionInput& condition) {
  const std::string suffix = " for Attribute: " + attribute;
  if (condition.value && condition.values)
    return refuse_parameter("Value and AttributeValueList cannot be used together" + suffix);
  if (condition.comparison) {
    const auto word = value_of<Comparison>(*condition.comparison);
    if (condition.exists) return refuse_parameter("Exists and ComparisonOperator cannot be used together" + suffix);
    if (*word != Comparison::null && *word != Comparison::not_null && !condition.values && !condition.value)
      return refuse_parameter(
          "Value or AttributeValueList must be used with ComparisonOperator: " + *condition.comparison + suffix);
    return this->condition(attribute, condition);
  }
  if (condition.values)
    return refuse_parameter("AttributeValueList can only be used with a ComparisonOperator" + suffix);
  if (condition.exists == false) {
    if (condition.value) return refuse_parameter("Value cannot be used when Exists is false" + suffix);
    return comparison(attribute, Comparison::null, {});
  }
  if (!condition.value)
    return refuse_parameter(std::string("Value must be provided when Exists is ") +
                            (condition.exists ? "true" : "null") + suffix);
  if (condition.value->fault) return refuse_invalid(*condition.value->fault);
  return comparison(attribute, Comparison::equal, {&*condition.value});
}

store::Answer<std::optional<store::ConditionExpression>> LegacyTranslator::expected(
    const Conditions& conditions, std::optional<ConditionalOperator> conditional) {
  TRY(std::optional<std::string> text, joined(conditions, conditional, &LegacyTranslator::expectation));
  return translated_condition(std::move(text), expr::Kind::condition);
}

store::Answer<std::optional<store::ConditionExpression>> LegacyTranslator::filter(
    const Conditions& conditions, std::optional<ConditionalOperator> conditional) {
  TRY(std::optional<std::string> text, joined(conditions, conditional, &LegacyTranslator::condition));
  return translated_condition(std::move(text), expr::Kind::filter);
}

store::Answer<std::optional<std::string>> LegacyTranslator::joined(const Conditions& conditions,
                                                                   std::optional<ConditionalOperator> conditional,
                                                                   Term term_of) {
  TRY(const std::string_view separator, separator_for(conditions.size(), conditional));
  std::vector<std::string> terms;
  for (const auto& [attribute, input] : conditions) {
    TRY_VOID(item::check_attribute_name(attribute));
    TRY(std::string term, (this->*term_of)(attribute, input));
    terms.push_back(std::move(term));
  }
  if (terms.empty()) return std::nullopt;
  return join(terms, separator);
}

store::Answer<std::string> LegacyTranslator::key_conditions(const Conditions& conditions, std::size_t max_count) {
  std::vector<std::string> terms;
  for (const auto& [attribute, input] : conditions) {
    TRY_VOID(item::check_attribute_name(attribute));
    TRY(std::string term, condition(attribute, input));
    const auto word = *value_of<Comparison>(*input.comparison);
    if (word == Comparison::null || word == Comparison::not_null || word == Comparison::not_equal ||
        word == Comparison::in || word == Comparison::contains || word == Comparison::not_contains)
      return refuse_invalid("Attempted conditional constraint is not an indexable operation");
    terms.push_back(std::move(term));
  }
  if (terms.empty() || terms.size() > max_count) return refuse_invalid(std::string(key_condition_count));
  return join(terms, " AND ");
}

store::Answer<std::optional<store::UpdateExpression>> LegacyTranslator::updates(const AttributeUpdates& updates) {
  Clause set{"SET", {}};
  Clause remove{"REMOVE", {}};
  Clause add{"ADD", {}};
  Clause subtract{"DELETE", {}};
  for (const auto& [attribute, update] : updates) {
    TRY_VOID(item::check_attribute_name(attribute));
    const auto action = update.action ? *value_of<AttributeAction>(*update.action) : AttributeAction::put;
    TRY_VOID(check_update(update, action));
    const std::string path = name(attribute);
    if (!update.value) {
      remove.terms.push_back(path);
    } else if (action == AttributeAction::put) {
      set.terms.push_back(path + " = " + value(update.value->value));
    } else if (action == AttributeAction::remove) {
      subtract.terms.push_back(path + " " + value(update.value->value));
    } else if (update.value->value.type() == item::Type::list) {
      const std::string missing = "if_not_exists(" + path + ", " + value(item::List()) + ")";
      set.terms.push_back(path + " = list_append(" + missing + ", " + value(update.value->value) + ")");
    } else {
      add.terms.push_back(path + " " + value(update.value->value));
    }
  }
  std::vector<std::string> clauses;
  for (const Clause* clause : {&set, &remove, &add, &subtract})
    if (!clause->terms.empty()) clauses.push_back(std::string(clause->word) + " " + join(clause->terms, ", "));
  if (clauses.empty()) return std::nullopt;
  std::string text = join(clauses, " ");
  auto parsed = expr::parse_translated_update(text);
  return store::UpdateExpression(std::move(text), std::move(parsed));
}

store::Answer<std::string> LegacyTranslator::attributes_to_get(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  std::vector<std::string> paths;
  for (const std::string& each : names) {
    TRY_VOID(item::check_attribute_name(each));
    if (!seen.insert(each).second) return refuse_parameter("Duplicate value in attribute name: " + each);
    paths.push_back(name(each));
  }
  return join(paths, ", ");
}

}  // namespace postino::wire
