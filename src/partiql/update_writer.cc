#include "partiql/update_writer.h"

#include <optional>

#include "base/text.h"
#include "partiql/syntax/wording.h"

namespace postino::partiql {

namespace {

using item::AttributeValue;

bool is_set(item::Type type) {
  return type == item::Type::string_set || type == item::Type::number_set || type == item::Type::binary_set;
}

std::string unsupported_in_update(std::string_view symbol) {
  return "Unsupported operator in Update Expression. Operator: " + std::string(symbol);
}

std::string_view operator_of(const Expression& expression) {
  switch (expression.kind) {
    case ExpressionKind::logical_and:
      return "AND";
    case ExpressionKind::logical_or:
      return "OR";
    case ExpressionKind::logical_not:
      return "NOT";
    case ExpressionKind::between:
      return "BETWEEN";
    case ExpressionKind::in:
      return "IN";
    case ExpressionKind::is:
      return "IS";
    default:
      return symbol_of(expression.operation);
  }
}

// A sum of attributes and one constant.
struct Sum {
  struct Term {
    const Path* path = nullptr;
    bool negative = false;
  };
  std::vector<Term> terms;
  std::optional<item::Number> constant;
};

class UpdateWriter {
 public:
  UpdateWriter(const Parameters& parameters, Substitutions& substitutions)
      : parameters_(parameters), substitutions_(substitutions) {}

  base::Result<std::string> write(const std::vector<UpdateAction>& actions) {
    for (const UpdateAction& action : actions) TRY_VOID(write(action));
    std::string text = set_;
    for (const std::string* section : {&remove_, &add_, &delete_})
      if (!section->empty()) text.append(text.empty() ? "" : " ").append(*section);
    return text;
  }

 private:
  base::Result<void> write(const UpdateAction& action) {
    const std::string target = substitutions_.path(action.target);
    if (!action.value) {
      append(remove_, "REMOVE ", target);
      return {};
    }
    const Expression& value = *action.value;
    if (value.kind == ExpressionKind::function && (value.name == "set_add" || value.name == "set_delete")) {
      TRY(const std::string operand, write_set_operand(action));
      if (value.name == "set_add")
        append(add_, "ADD ", target + " " + operand);
      else
        append(delete_, "DELETE ", target + " " + operand);
      return {};
    }
    TRY(const std::string text, write_value(value));
    append(set_, "SET ", target + " = " + text);
    return {};
  }

  static void append(std::string& section, std::string_view word, std::string_view clause) {
    section.append(section.empty() ? word : ", ").append(clause);
  }

  base::Result<std::string> write_set_operand(const UpdateAction& action) {
    const Expression& call = *action.value;
    const std::string name = base::upper_case(call.name);
    if (call.operands.size() != 2)
      return base::invalid(located(name + " must have exactly two arguments", call.position));
    const Expression& first = call.operands[0];
    if (first.kind != ExpressionKind::path || first.path != action.target)
      return base::invalid(
          located("The first argument to " + name + " must equal the assignment value", call.position));
    const AttributeValue* operand = constant_of(call.operands[1], parameters_);
    if (operand == nullptr || !is_set(operand->type()))
      return base::invalid(
          located("The second argument to " + name + " must be a value with type SET", first.position));
    return substitutions_.value(*operand);
  }

  base::Result<std::string> write_value(const Expression& value) {
    if (const AttributeValue* constant = constant_of(value, parameters_)) return substitutions_.value(*constant);
    switch (value.kind) {
      case ExpressionKind::path:
        return substitutions_.path(value.path);
      case ExpressionKind::function:
        return write_function(value);
      case ExpressionKind::arithmetic:
        return write_arithmetic(value);
      case ExpressionKind::missing:
        return base::invalid("MISSING must be compared using IS operator");
      default:
        return base::invalid(unsupported_in_update(operator_of(value)));
    }
  }

  base::Result<std::string> write_function(const Expression& function) {
    if (function.name != "list_append")
      return base::invalid(located("Unrecognized function: " + function.name, function.position));
    if (function.operands.size() != 2)
      return base::invalid(
          "Incorrect number of operands for operator or function; operator or function: list_append, "
          "number of operands: " +
          std::to_string(function.operands.size()));
    TRY(const std::string first, write_list_operand(function.operands[0]));
    TRY(const std::string second, write_list_operand(function.operands[1]));
    return "list_append(" + first + "," + second + ")";
  }

  base::Result<std::string> write_list_operand(const Expression& operand) {
    if (operand.kind == ExpressionKind::function && operand.name == "list_append")
      return base::invalid("The function is not allowed to be used this way in an expression; function: list_append");
    return write_value(operand);
  }

  base::Result<std::string> write_arithmetic(const Expression& expression) {
    Sum sum;
    TRY_VOID(add_to(sum, expression, false));
    const std::size_t parts = sum.terms.size() + (sum.constant ? 1 : 0);
    if (sum.terms.empty()) return substitutions_.value(*sum.constant);
    const Sum::Term& first = sum.terms[0];
    if (parts == 1 && !first.negative) return substitutions_.path(*first.path);
    if (parts == 2 && sum.constant) {
      const std::string constant = substitutions_.value(*sum.constant);
      const std::string path = substitutions_.path(*first.path);
      return first.negative ? constant + " - " + path : path + " + " + constant;
    }
    if (parts == 2 && !(first.negative && sum.terms[1].negative)) return write_two_paths(first, sum.terms[1]);
    return base::invalid(unsupported_in_update(symbol_of(expression.operation)));
  }

  std::string write_two_paths(const Sum::Term& first, const Sum::Term& second) {
    const Sum::Term& left = first.negative ? second : first;
    const Sum::Term& right = first.negative ? first : second;
    const std::string path = substitutions_.path(*left.path);
    return path + (right.negative ? " - " : " + ") + substitutions_.path(*right.path);
  }

  base::Result<void> add_to(Sum& sum, const Expression& expression, bool negative) const {
    const bool sum_or_difference = expression.operands.size() == 2 && (expression.operation == Operation::plus ||
                                                                       expression.operation == Operation::minus);
    if (!sum_or_difference) return base::invalid(unsupported_in_update(symbol_of(expression.operation)));
    for (std::size_t i = 0; i < 2; ++i) {
      const Expression& operand = expression.operands[i];
      const bool subtracted = negative != (i == 1 && expression.operation == Operation::minus);
      if (operand.kind == ExpressionKind::arithmetic) {
        TRY_VOID(add_to(sum, operand, subtracted));
      } else if (operand.kind == ExpressionKind::path) {
        sum.terms.push_back({&operand.path, subtracted});
      } else if (const AttributeValue* constant = constant_of(operand, parameters_)) {
        TRY_VOID(add_constant(sum, *constant, subtracted, symbol_of(expression.operation)));
      } else {
        return base::invalid(unsupported_in_update(
            operand.kind == ExpressionKind::function ? std::string_view(operand.name) : operator_of(operand)));
      }
    }
    return {};
  }

  static base::Result<void> add_constant(Sum& sum, const AttributeValue& constant, bool subtracted,
                                         std::string_view symbol) {
    const auto* number = constant.get_if<item::Number>();
    if (number == nullptr) return base::invalid(incorrect_operand(symbol, item::type_name(constant.type())));
    const item::Number before = sum.constant.value_or(item::Number());
    TRY(sum.constant, subtracted ? item::Number::subtract(before, *number) : item::Number::add(before, *number));
    return {};
  }

  const Parameters& parameters_;
  Substitutions& substitutions_;
  std::string set_, remove_, add_, delete_;
};

}  // namespace

base::Result<std::string> write_update(const std::vector<UpdateAction>& actions, const Parameters& parameters,
                                       Substitutions& substitutions) {
  return UpdateWriter(parameters, substitutions).write(actions);
}

}  // namespace postino::partiql
