#include "partiql/condition_writer.h"

#include <array>
#include <utility>

#include "expr/expression.h"
#include "partiql/syntax/wording.h"

namespace postino::partiql {

namespace {

using Binding = ConditionText::Binding;

base::Result<ConditionText> sized(ConditionText text) {
  if (text.text.size() <= expr::max_expression_size) return text;
  return base::invalid("Expression size has exceeded the maximum allowed size; expression size: " +
                       std::to_string(text.text.size()));
}

std::string grouped(const ConditionText& part, Binding outer) {
  return part.binding < outer ? "(" + part.text + ")" : part.text;
}

base::Result<ConditionText> joined(const std::vector<ConditionText>& parts, std::string_view word, Binding binding) {
  if (parts.size() == 1) return parts.front();
  ConditionText result{"", binding};
  for (const ConditionText& part : parts) {
    if (!result.text.empty()) result.text.append(word);
    result.text += grouped(part, binding);
    if (result.text.size() > expr::max_expression_size) break;
  }
  return sized(std::move(result));
}

bool is_condition(const Expression& expression) {
  switch (expression.kind) {
    case ExpressionKind::logical_and:
    case ExpressionKind::logical_or:
    case ExpressionKind::logical_not:
    case ExpressionKind::comparison:
    case ExpressionKind::between:
    case ExpressionKind::in:
    case ExpressionKind::is:
      return true;
    case ExpressionKind::function: {
      const auto function = expr::find_function(expression.name);
      return function && expr::traits_of(*function).use == expr::FunctionUse::condition;
    }
    default:
      return false;
  }
}

std::string unsupported_in_condition(std::string_view symbol) {
  return "Unsupported operator in Condition Expression. Operator: " + std::string(symbol);
}

// The names of IS for what attribute_type calls by its own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> tested_types = {{
    {"NULL", "NULL"},
    {"BOOLEAN", "BOOL"},
    {"BOOL", "BOOL"},
    {"BLOB", "B"},
    {"STRING", "S"},
    {"NUMERIC", "N"},
    {"STRUCT", "M"},
    {"TUPLE", "M"},
    {"LIST", "L"},
}};

}  // namespace

base::Result<ConditionText> all_of(const std::vector<ConditionText>& parts) {
  return joined(parts, " AND ", Binding::conjunction);
}

base::Result<ConditionText> any_of(const std::vector<ConditionText>& parts) {
  return joined(parts, " OR ", Binding::disjunction);
}

base::Result<ConditionText> none_of(const ConditionText& part) {
  return sized({"NOT " + grouped(part, Binding::leaf), Binding::negation});
}

base::Result<ConditionText> ConditionWriter::write(const Expression& condition) {
  switch (condition.kind) {
    case ExpressionKind::logical_and:
    case ExpressionKind::logical_or: {
      std::vector<ConditionText> parts;
      for (const Expression& operand : condition.operands) {
        TRY(ConditionText part, write(operand));
        parts.push_back(std::move(part));
      }
      return condition.kind == ExpressionKind::logical_and ? all_of(parts) : any_of(parts);
    }
    case ExpressionKind::logical_not: {
      TRY(const ConditionText operand, write(condition.operands[0]));
      return none_of(operand);
    }
    case ExpressionKind::comparison:
      return write_comparison(condition);
    case ExpressionKind::between:
      return write_between(condition);
    case ExpressionKind::in:
      return write_in(condition);
    case ExpressionKind::is:
      return write_is(condition);
    case ExpressionKind::function: {
      TRY(std::string text, write_function(condition));
      return ConditionText{std::move(text)};
    }
    case ExpressionKind::arithmetic:
      return base::invalid(unsupported_in_condition(symbol_of(condition.operation)));
    default:
      return base::invalid("WHERE clause must contain an expression that resolves to a boolean");
  }
}

base::Result<ConditionText> ConditionWriter::write_comparison(const Expression& comparison) {
  const Expression& left = comparison.operands[0];
  const Expression& right = comparison.operands[1];
  const std::string_view symbol = symbol_of(comparison.operation);
  const bool equality = comparison.operation == Operation::equal;
  if (is_condition(left) || is_condition(right)) {
    if (!equality && comparison.operation != Operation::not_equal)
      return base::invalid(incorrect_operand(symbol, "BOOL"));
    TRY(ConditionText same, write_equality(left, right));
    if (equality) return same;
    return none_of(same);
  }
  TRY(const std::string first, write_operand(left));
  TRY(const std::string second, write_operand(right));
  return sized({first + " " + std::string(symbol) + " " + second});
}

base::Result<ConditionText> ConditionWriter::write_equality(const Expression& left, const Expression& right) {
  if (is_condition(left)) return write_truth_equality(left, right);
  if (is_condition(right)) return write_truth_equality(right, left);
  TRY(const std::string first, write_operand(left));
  TRY(const std::string second, write_operand(right));
  return sized({first + " = " + second});
}

base::Result<ConditionText> ConditionWriter::write_truth_equality(const Expression& condition,
                                                                  const Expression& other) {
  TRY(const ConditionText holds, write(condition));
  if (const item::AttributeValue* value = constant_of(other, parameters_)) {
    const bool* truth = value->get_if<bool>();
    if (truth == nullptr) return constant(false);
    if (*truth) return holds;
    return none_of(holds);
  }
  TRY(const ConditionText fails, none_of(holds));
  ConditionText other_true, other_false;
  if (is_condition(other)) {
    TRY(other_true, write(other));
    TRY(other_false, none_of(other_true));
  } else {
    TRY(const std::string operand, write_operand(other));
    other_true.text = operand + " = " + substitutions_.value(true);
    other_false.text = operand + " = " + substitutions_.value(false);
  }
  TRY(const ConditionText both, all_of({holds, other_true}));
  TRY(const ConditionText neither, all_of({fails, other_false}));
  return any_of({both, neither});
}

ConditionText ConditionWriter::constant(bool truth) {
  const std::string value = substitutions_.value(truth);
  return {value + (truth ? " = " : " <> ") + value};
}

base::Result<ConditionText> ConditionWriter::write_between(const Expression& between) {
  std::string text;
  for (std::size_t i = 0; i < between.operands.size(); ++i) {
    if (is_condition(between.operands[i])) return base::invalid(incorrect_operand("BETWEEN", "BOOL"));
    TRY(const std::string operand, write_operand(between.operands[i]));
    text.append(i == 0 ? "" : i == 1 ? " BETWEEN " : " AND ").append(operand);
  }
  return sized({std::move(text)});
}

base::Result<ConditionText> ConditionWriter::write_in(const Expression& in) {
  const std::size_t count = in.operands.size() - 1;
  if (count > expr::max_in_operands) return base::invalid(too_many_operands(count));
  if (is_condition(in.operands[0])) {
    std::vector<ConditionText> parts;
    for (std::size_t i = 1; i <= count; ++i) {
      TRY(ConditionText part, write_equality(in.operands[0], in.operands[i]));
      parts.push_back(std::move(part));
    }
    return any_of(parts);
  }
  TRY(std::string text, write_operand(in.operands[0]));
  text += " IN (";
  for (std::size_t i = 1; i <= count; ++i) {
    TRY(const std::string candidate, write_operand(in.operands[i]));
    text.append(i == 1 ? "" : ",").append(candidate);
  }
  return sized({text + ")"});
}

base::Result<ConditionText> ConditionWriter::write_is(const Expression& is) {
  if (is.operands[0].kind != ExpressionKind::path)
    return base::invalid("The left hand side argument to IS must be a Variable Reference, Literal, or Path");
  const std::string path = substitutions_.path(is.operands[0].path);
  if (is.name == "MISSING") return ConditionText{"attribute_not_exists(" + path + ")"};
  for (const auto& [name, type] : tested_types)
    if (is.name == name) return ConditionText{"attribute_type(" + path + "," + substitutions_.value(type) + ")"};
  return base::invalid(located("Unsupported data type for IS operator: " + is.name +
                                   ". Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, "
                                   "STRUCT, TUPLE, LIST]",
                               is.position));
}

base::Result<std::string> ConditionWriter::write_function(const Expression& function) {
  const auto known = expr::find_function(function.name);
  if (!known || expr::traits_of(*known).use == expr::FunctionUse::update_operand)
    return base::invalid(located("Unrecognized function: " + function.name, function.position));
  if (function.operands.size() != expr::traits_of(*known).operands)
    return base::invalid("Incorrect number of operands for operator or function; operator or function: " +
                         function.name + ", number of operands: " + std::to_string(function.operands.size()));
  std::string text = function.name + "(";
  for (const Expression& operand : function.operands) {
    TRY(const std::string argument, write_operand(operand));
    text.append(text.ends_with('(') ? "" : ",").append(argument);
  }
  return text + ")";
}

base::Result<std::string> ConditionWriter::write_operand(const Expression& operand) {
  if (const item::AttributeValue* value = constant_of(operand, parameters_)) return substitutions_.value(*value);
  switch (operand.kind) {
    case ExpressionKind::path:
      return substitutions_.path(operand.path);
    case ExpressionKind::function: {
      const auto known = expr::find_function(operand.name);
      if (known && expr::traits_of(*known).use == expr::FunctionUse::condition)
        return base::invalid("The function is not allowed to be used this way in an expression; function: " +
                             operand.name);
      return write_function(operand);
    }
    case ExpressionKind::missing:
      return base::invalid("MISSING must be compared using IS operator");
    default:
      return base::invalid(unsupported_in_condition(symbol_of(operand.operation)));
  }
}

}  // namespace postino::partiql
