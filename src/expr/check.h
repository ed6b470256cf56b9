// The checks of a whole expression that need the request's names and values, in DynamoDB's order.
#pragma once

#include <string>

#include "base/result.h"
#include "expr/scope.h"

namespace postino::expr {

base::Result<void> check_condition(const ConditionTree& tree, const Scope& scope);
base::Result<void> check_update(const UpdateTree& tree, const Scope& scope);
base::Result<void> check_projection(const ProjectionTree& tree, const Scope& scope);

// What both conditions and updates say; `expression` is the name of the parameter.
base::Result<void> check_operand_count(const Node& function, std::string_view expression);
tl::unexpected<base::Error> refuse_operand_type(std::string_view expression, std::string_view operation,
                                                std::string_view type);
tl::unexpected<base::Error> refuse_missing_path(std::string_view expression, std::string_view function);
tl::unexpected<base::Error> refuse_undefined_name(std::string_view expression, std::string_view name);
tl::unexpected<base::Error> refuse_undefined_value(std::string_view expression, std::string_view value);

// The first name, in source order, that has no meaning.
base::Result<void> check_names_defined(const Scope& scope, std::string_view expression);

}  // namespace postino::expr
