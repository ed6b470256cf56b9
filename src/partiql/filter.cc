#include "partiql/filter.h"

#include "partiql/condition_writer.h"

namespace postino::partiql {

base::Result<Filter> Filter::make(const Expression& condition, const Parameters& parameters) {
  Substitutions substitutions;
  TRY(const ConditionText text, ConditionWriter(parameters, substitutions).write(condition));
  TRY_VOID(substitutions.check_names());
  TRY(const expr::Condition parsed, expr::cached_condition(text.text, expr::Kind::filter));
  Filter filter;
  filter.placeholders_ = std::make_unique<const expr::Placeholders>(std::move(substitutions).take());
  TRY(filter.bound_, expr::Binder(*filter.placeholders_).bind(parsed));
  return filter;
}

}  // namespace postino::partiql
