// A key condition is a condition of a very simple form. Its conjuncts are examined from left to right, the operands of
// each likewise, and the first thing that is out of place is reported.
#include <algorithm>

#include "expr/evaluate.h"
#include "expr/expression.h"
#include "expr/scope.h"
#include "expr/syntax/functions.h"
#include "expr/syntax/wording.h"

namespace postino::expr {
namespace {

tl::unexpected<base::Error> refuse_operator(std::string_view name) {
  return base::invalid("Invalid operator used in KeyConditionExpression: " + std::string(name));
}
tl::unexpected<base::Error> refuse_condition(std::string_view reason) {
  return base::invalid("Invalid condition in KeyConditionExpression: " + std::string(reason));
}

KeyOperator operator_of(Comparator comparator, bool reversed) {
  switch (comparator) {
    case Comparator::less:
      return reversed ? KeyOperator::greater : KeyOperator::less;
    case Comparator::less_equal:
      return reversed ? KeyOperator::greater_equal : KeyOperator::less_equal;
    case Comparator::greater:
      return reversed ? KeyOperator::less : KeyOperator::greater;
    case Comparator::greater_equal:
      return reversed ? KeyOperator::less_equal : KeyOperator::greater_equal;
    default:
      return KeyOperator::equal;
  }
}

class KeyConditionReader {
 public:
  explicit KeyConditionReader(const Scope& scope) : scope_(scope) {}

  base::Result<void> read(const Node& node) {
    switch (node.kind) {
      case NodeKind::logical_and:
        for (std::size_t i = 0; i < node.count; ++i) TRY_VOID(read(scope_.tree.child(node, i)));
        return {};
      case NodeKind::logical_or:
        return refuse_operator("OR");
      case NodeKind::logical_not:
        return refuse_operator("NOT");
      case NodeKind::in:
        return refuse_operator("IN");
      case NodeKind::comparison:
        return read_comparison(node);
      case NodeKind::between:
        return read_with_key_first(node, "BETWEEN", KeyOperator::between);
      default:
        if (node.function != Function::begins_with) return refuse_operator(traits_of(node.function).name);
        return read_with_key_first(node, "begins_with", KeyOperator::begins_with);
    }
  }

  std::vector<KeyConjunct> take() { return std::move(conjuncts_); }

 private:
  base::Result<void> read_comparison(const Node& node) {
    if (node.comparator == Comparator::not_equal) return refuse_operator("<>");
    KeyConjunct conjunct;
    TRY_VOID(read_operands(node, conjunct));
    const bool reversed = scope_.tree.child(node, 0).kind == NodeKind::value;
    conjunct.op = operator_of(node.comparator, reversed);
    return add(conjunct);
  }

  base::Result<void> read_with_key_first(const Node& node, std::string_view name, KeyOperator op) {
    if (scope_.tree.child(node, 0).kind == NodeKind::value)
      return refuse_condition(std::string(name) + " operator must have the key attribute as its first operand");
    KeyConjunct conjunct;
    conjunct.op = op;
    TRY_VOID(read_operands(node, conjunct));
    return add(conjunct);
  }

  base::Result<void> read_operands(const Node& node, KeyConjunct& conjunct) const {
    bool found_attribute = false;
    for (std::size_t i = 0; i < node.count; ++i) {
      const Node& operand = scope_.tree.child(node, i);
      if (operand.kind == NodeKind::function)
        return base::invalid("KeyConditionExpressions cannot contain nested operations");
      if (operand.kind == NodeKind::value) {
        (conjunct.value == nullptr ? conjunct.value : conjunct.upper) = scope_.value_of(operand);
        continue;
      }
      if (found_attribute) return refuse_condition("Multiple attribute names used in one condition");
      if (operand.count > 1)
        return base::invalid("KeyConditionExpressions cannot have conditions on nested attributes");
      found_attribute = true;
      conjunct.attribute = scope_.top_level_name(operand.path());
    }
    if (!found_attribute) return refuse_condition("No key attribute specified");
    return {};
  }

  base::Result<void> add(const KeyConjunct& conjunct) {
    if (std::ranges::find(conjuncts_, conjunct.attribute, &KeyConjunct::attribute) != conjuncts_.end())
      return base::invalid("KeyConditionExpressions must only contain one condition per key");
    conjuncts_.push_back(conjunct);
    return {};
  }

  const Scope& scope_;
  std::vector<KeyConjunct> conjuncts_;
};

}  // namespace

bool fulfils(const item::AttributeValue& value, const KeyConjunct& conjunct) {
  switch (conjunct.op) {
    case KeyOperator::equal:
      return compares(value, Comparator::equal, *conjunct.value);
    case KeyOperator::less:
      return compares(value, Comparator::less, *conjunct.value);
    case KeyOperator::less_equal:
      return compares(value, Comparator::less_equal, *conjunct.value);
    case KeyOperator::greater:
      return compares(value, Comparator::greater, *conjunct.value);
    case KeyOperator::greater_equal:
      return compares(value, Comparator::greater_equal, *conjunct.value);
    case KeyOperator::between:
      return compares(value, Comparator::greater_equal, *conjunct.value) &&
             compares(value, Comparator::less_equal, *conjunct.upper);
    case KeyOperator::begins_with:
      break;
  }
  return begins_with(value, *conjunct.value);
}

base::Result<std::vector<KeyConjunct>> Binder::bind_key_condition(const Condition& condition) {
  TRY(const BoundCondition bound, bind(condition));
  const Scope scope{*condition, bound.names_, bound.values_};
  KeyConditionReader reader(scope);
  TRY_VOID(reader.read(condition->nodes[condition->root]));
  return reader.take();
}

}  // namespace postino::expr
