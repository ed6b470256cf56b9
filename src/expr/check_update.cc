// Names and paths first, because they say what is written; then values, the operands of ADD and DELETE, and functions.
#include "expr/check.h"
#include "expr/path.h"
#include "expr/syntax/functions.h"
#include "expr/syntax/wording.h"

namespace postino::expr {
namespace {

using item::Type;

// The long type names that only ADD and DELETE use. Sets are never refused.
std::string_view long_name(Type type) {
  switch (type) {
    case Type::string:
      return "STRING";
    case Type::number:
      return "NUMBER";
    case Type::binary:
      return "BINARY";
    case Type::list:
      return "LIST";
    case Type::map:
      return "MAP";
    default:
      return item::type_name(type);
  }
}

bool is_set(Type type) { return type == Type::string_set || type == Type::number_set || type == Type::binary_set; }

class UpdateCheck {
 public:
  UpdateCheck(const UpdateTree& tree, const Scope& scope) : tree_(tree), scope_(scope) {}

  base::Result<void> check() const {
    TRY_VOID(check_names_defined(scope_, update_expression));
    TRY_VOID(check_targets());
    TRY_VOID(check_values_defined());
    for (const Action& action : tree_.actions)
      if (action.section == Section::add || action.section == Section::erase) TRY_VOID(check_set_operand(action));
    for (const Action& action : tree_.actions)
      if (action.section == Section::set) TRY_VOID(check_value(tree_.nodes[action.operand]));
    return {};
  }

 private:
  base::Result<void> check_targets() const {
    std::vector<Path> targets;
    targets.reserve(tree_.actions.size());
    for (const Action& action : tree_.actions) targets.push_back(action.target);
    return check_disjoint(scope_, targets, update_expression);
  }

  base::Result<void> check_values_defined() const {
    for (std::size_t slot = 0; slot < scope_.values.size(); ++slot)
      if (scope_.values[slot] == nullptr) return refuse_undefined_value(update_expression, tree_.values[slot]);
    return {};
  }

  base::Result<void> check_set_operand(const Action& action) const {
    const Type type = scope_.value_of(tree_.nodes[action.operand])->type();
    if (is_set(type) || (action.section == Section::add && type == Type::number)) return {};
    return refuse(update_expression,
                  "Incorrect operand type for operator or function; operator: " + std::string(name_of(action.section)) +
                      ", operand type: " + std::string(long_name(type)) + ", typeSet: ALLOWED_FOR_ADD_OPERAND");
  }

  base::Result<void> check_value(const Node& node) const {
    for (std::size_t i = 0; i < tree_.child_count(node); ++i) TRY_VOID(check_value(tree_.child(node, i)));
    switch (node.kind) {
      case NodeKind::sum:
        return check_literals(node, "+", Type::number);
      case NodeKind::difference:
        return check_literals(node, "-", Type::number);
      case NodeKind::function:
        return check_function(node);
      default:
        return {};
    }
  }

  base::Result<void> check_function(const Node& node) const {
    TRY_VOID(check_operand_count(node, update_expression));
    const std::string_view name = traits_of(node.function).name;
    if (node.function == Function::list_append) return check_literals(node, name, Type::list);
    if (tree_.child(node, 0).kind != NodeKind::path) return refuse_missing_path(update_expression, name);
    return {};
  }

  base::Result<void> check_literals(const Node& node, std::string_view operation, Type needed) const {
    for (std::size_t i = 0; i < node.count; ++i) {
      const Node& operand = tree_.child(node, i);
      if (operand.kind != NodeKind::value) continue;
      const Type type = scope_.value_of(operand)->type();
      if (type != needed) return refuse_operand_type(update_expression, operation, item::type_name(type));
    }
    return {};
  }

  const UpdateTree& tree_;
  const Scope& scope_;
};

}  // namespace

base::Result<void> check_update(const UpdateTree& tree, const Scope& scope) { return UpdateCheck(tree, scope).check(); }

}  // namespace postino::expr
