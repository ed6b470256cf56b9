// The words that DynamoDB uses in messages about expressions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "expr/syntax/syntax_tree.h"

namespace postino::expr {

inline constexpr std::string_view update_expression = "UpdateExpression";
inline constexpr std::string_view projection_expression = "ProjectionExpression";

// ConditionExpression, FilterExpression or KeyConditionExpression.
std::string_view expression_name(Kind kind);

std::string_view name_of(Comparator comparator);
// SET, REMOVE, ADD or DELETE.
std::string_view name_of(Section section);

// An error that says which expression is invalid.
tl::unexpected<base::Error> refuse(std::string_view expression, std::string_view message);

}  // namespace postino::expr
