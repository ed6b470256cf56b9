// The parsed form of a request's expressions, from the request itself or from the cache.
#pragma once

#include "store/expression.h"

namespace postino::engine {

inline base::Result<expr::Condition> parsed(const store::ConditionExpression& expression, expr::Kind kind) {
  if (expression.parsed()) return expression.parsed();
  return expr::cached_condition(expression.text(), kind);
}

inline base::Result<expr::Update> parsed(const store::UpdateExpression& expression) {
  if (expression.parsed()) return expression.parsed();
  return expr::cached_update(expression.text());
}

inline base::Result<expr::Projection> parsed(const store::ProjectionExpression& expression) {
  if (expression.parsed()) return expression.parsed();
  return expr::cached_projection(expression.text());
}

}  // namespace postino::engine
