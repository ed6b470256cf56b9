#include "expr/check.h"

#include "expr/path.h"
#include "expr/syntax/functions.h"
#include "expr/syntax/wording.h"

namespace postino::expr {

base::Result<void> check_operand_count(const Node& function, std::string_view expression) {
  const FunctionTraits& traits = traits_of(function.function);
  if (function.count == traits.operands) return {};
  return refuse(expression, "Incorrect number of operands for operator or function; operator or function: " +
                                std::string(traits.name) + ", number of operands: " + std::to_string(function.count));
}

tl::unexpected<base::Error> refuse_operand_type(std::string_view expression, std::string_view operation,
                                                std::string_view type) {
  return refuse(expression, "Incorrect operand type for operator or function; operator or function: " +
                                std::string(operation) + ", operand type: " + std::string(type));
}

tl::unexpected<base::Error> refuse_missing_path(std::string_view expression, std::string_view function) {
  return refuse(expression,
                "Operator or function requires a document path; operator or function: " + std::string(function));
}

tl::unexpected<base::Error> refuse_undefined_name(std::string_view expression, std::string_view name) {
  return refuse(expression, "An expression attribute name used in the document path is not defined; attribute name: " +
                                std::string(name));
}

tl::unexpected<base::Error> refuse_undefined_value(std::string_view expression, std::string_view value) {
  return refuse(expression, "An expression attribute value used in expression is not defined; attribute value: " +
                                std::string(value));
}

base::Result<void> check_names_defined(const Scope& scope, std::string_view expression) {
  for (std::size_t slot = 0; slot < scope.names.size(); ++slot)
    if (scope.names[slot].data() == nullptr) return refuse_undefined_name(expression, scope.tree.names[slot].text);
  return {};
}

base::Result<void> check_projection(const ProjectionTree& tree, const Scope& scope) {
  TRY_VOID(check_names_defined(scope, projection_expression));
  return check_disjoint(scope, tree.paths, projection_expression);
}

}  // namespace postino::expr
