// Each comparison or function is checked on its own, in source order: placeholders, operand counts, distinct operands,
// types.
#include <optional>

#include "base/base64.h"
#include "expr/check.h"
#include "expr/evaluate.h"
#include "expr/expression.h"
#include "expr/path.h"
#include "expr/syntax/functions.h"
#include "expr/syntax/wording.h"
#include "item/json_codec.h"

namespace postino::expr {
namespace {

using item::Type;

bool has_order(Type type) { return type == Type::string || type == Type::number || type == Type::binary; }

class ConditionCheck {
 public:
  ConditionCheck(const ConditionTree& tree, const Scope& scope)
      : tree_(tree), scope_(scope), expression_(expression_name(tree.kind)) {}

  base::Result<void> check(const Node& node) const {
    if (node.kind != NodeKind::logical_and && node.kind != NodeKind::logical_or && node.kind != NodeKind::logical_not)
      return check_leaf(node);
    for (std::size_t i = 0; i < node.count; ++i) TRY_VOID(check(tree_.child(node, i)));
    return {};
  }

 private:
  base::Result<void> check_leaf(const Node& leaf) const {
    TRY_VOID(each(leaf, &ConditionCheck::check_defined));
    TRY_VOID(each(leaf, &ConditionCheck::check_count));
    TRY_VOID(each(leaf, &ConditionCheck::check_distinct));
    return each(leaf, &ConditionCheck::check_types);
  }

  using Rule = base::Result<void> (ConditionCheck::*)(const Node&) const;

  // Operands before what they are operands of: the innermost fault is reported.
  base::Result<void> each(const Node& node, Rule rule) const {
    for (std::size_t i = 0; i < tree_.child_count(node); ++i) TRY_VOID(each(tree_.child(node, i), rule));
    return (this->*rule)(node);
  }

  base::Result<void> check_defined(const Node& node) const {
    if (node.kind == NodeKind::path) {
      for (const PathElement element : tree_.elements_of(node.path()))
        if (!element.is_index && scope_.name_of(element).data() == nullptr)
          return refuse_undefined_name(expression_, tree_.names[element.number].text);
    }
    if (node.kind == NodeKind::value && scope_.value_of(node) == nullptr)
      return refuse_undefined_value(expression_, tree_.values[node.first]);
    return {};
  }

  base::Result<void> check_count(const Node& node) const {
    if (node.kind != NodeKind::function) return {};
    return check_operand_count(node, expression_);
  }

  base::Result<void> check_distinct(const Node& node) const {
    if (tree_.child_count(node) < 2) return {};
    const Node& first = tree_.child(node, 0);
    if (first.kind != NodeKind::path) return {};
    for (std::size_t i = 1; i < node.count; ++i) {
      const Node& other = tree_.child(node, i);
      if (other.kind != NodeKind::path || compare(scope_, first.path(), other.path()) != 0) continue;
      return refuse(expression_,
                    "The first operand must be distinct from the remaining operands for this operator or function; "
                    "operator: " +
                        std::string(operation_of(node)) + ", first operand: " + describe(scope_, first.path()));
    }
    return {};
  }

  base::Result<void> check_types(const Node& node) const {
    switch (node.kind) {
      case NodeKind::comparison:
        if (node.comparator == Comparator::equal || node.comparator == Comparator::not_equal) return {};
        return check_operands(node, has_order);
      case NodeKind::between:
        TRY_VOID(check_operands(node, has_order));
        return check_bounds(tree_.child(node, 1), tree_.child(node, 2));
      case NodeKind::function:
        return check_function(node);
      default:
        return {};
    }
  }

  base::Result<void> check_function(const Node& node) const {
    switch (node.function) {
      case Function::attribute_exists:
      case Function::attribute_not_exists:
        return check_path(node);
      case Function::attribute_type:
        if (tree_.child(node, 0).kind != NodeKind::value) TRY_VOID(check_path(node));
        return check_type_name(tree_.child(node, 1));
      case Function::begins_with:
        return check_operands(node, [](Type type) { return type == Type::string || type == Type::binary; });
      case Function::size:
        return check_operands(
            node, [](Type type) { return type != Type::number && type != Type::boolean && type != Type::null; });
      default:
        return {};
    }
  }

  base::Result<void> check_path(const Node& node) const {
    if (tree_.child(node, 0).kind == NodeKind::path) return {};
    return refuse_missing_path(expression_, operation_of(node));
  }

  template <class Allowed>
  base::Result<void> check_operands(const Node& node, Allowed allowed) const {
    for (std::size_t i = 0; i < node.count; ++i) {
      const auto type = known_type(tree_.child(node, i));
      if (type && !allowed(*type)) return refuse_operand_type(expression_, operation_of(node), item::type_name(*type));
    }
    return {};
  }

  base::Result<void> check_type_name(const Node& operand) const {
    static constexpr std::string_view all_types = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}";
    const auto type = known_type(operand);
    if (!type) return refuse_operand_type(expression_, "attribute_type", all_types);
    if (*type != Type::string) return refuse_operand_type(expression_, "attribute_type", item::type_name(*type));
    const std::string& name = scope_.value_of(operand)->as<std::string>();
    for (auto candidate = Type::string; candidate <= Type::map; candidate = next(candidate))
      if (item::type_name(candidate) == name) return {};
    return refuse(expression_,
                  "Invalid attribute type name found; type: " + name + ", valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}");
  }

  base::Result<void> check_bounds(const Node& lower_node, const Node& upper_node) const {
    if (lower_node.kind != NodeKind::value || upper_node.kind != NodeKind::value) return {};
    const item::AttributeValue& lower = *scope_.value_of(lower_node);
    const item::AttributeValue& upper = *scope_.value_of(upper_node);
    std::string_view rule;
    if (lower.type() != upper.type()) {
      rule = "same data type for lower and upper bounds";
    } else if (compares(lower, Comparator::greater, upper)) {
      rule = "upper bound to be greater than or equal to lower bound";
    } else {
      return {};
    }
    return refuse(expression_, "The BETWEEN operator requires " + std::string(rule) + "; lower bound operand: " +
                                   describe_literal(lower) + ", upper bound operand: " + describe_literal(upper));
  }

  // The type of an operand, as far as it does not depend on the item.
  std::optional<Type> known_type(const Node& operand) const {
    if (operand.kind == NodeKind::value) return scope_.value_of(operand)->type();
    if (operand.kind == NodeKind::function) return Type::number;  // size() is the only function that is an operand
    return std::nullopt;
  }

  static Type next(Type type) { return static_cast<Type>(static_cast<int>(type) + 1); }

  static std::string_view operation_of(const Node& node) {
    if (node.kind == NodeKind::comparison) return name_of(node.comparator);
    if (node.kind == NodeKind::function) return traits_of(node.function).name;
    return node.kind == NodeKind::between ? "BETWEEN" : "IN";
  }

  const ConditionTree& tree_;
  const Scope& scope_;
  std::string_view expression_;
};

}  // namespace

std::string describe_literal(const item::AttributeValue& value) {
  std::string text = "AttributeValue: {" + std::string(item::type_name(value.type())) + ":";
  if (const auto* string = value.get_if<std::string>()) text += *string;
  if (const auto* number = value.get_if<item::Number>()) number->append_to(text);
  if (const auto* binary = value.get_if<item::Binary>()) text += base::to_base64(binary->bytes);
  return text + "}";
}

base::Result<void> check_condition(const ConditionTree& tree, const Scope& scope) {
  return ConditionCheck(tree, scope).check(tree.nodes[tree.root]);
}

}  // namespace postino::expr
