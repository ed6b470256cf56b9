#include "partiql/substitutions.h"

#include <algorithm>

#include "item/size.h"

namespace postino::partiql {

std::string Substitutions::name(std::string_view attribute) {
  const auto found = std::ranges::find(names_, attribute);
  std::string placeholder = "#" + std::to_string(found - names_.begin());
  if (found != names_.end()) return placeholder;
  names_.emplace_back(attribute);
  if (!placeholders_.names) placeholders_.names.emplace();
  placeholders_.names->emplace(placeholder, attribute);
  return placeholder;
}

std::string Substitutions::value(const item::AttributeValue& value) {
  if (!placeholders_.values) placeholders_.values.emplace();
  std::string placeholder = ":" + std::to_string(placeholders_.values->size());
  placeholders_.values->set(placeholder, value);
  return placeholder;
}

std::string Substitutions::path(const Path& path) {
  std::string text;
  for (const PathStep& step : path) {
    if (step.index)
      text.append("[").append(std::to_string(*step.index)).append("]");
    else
      text.append(text.empty() ? "" : ".").append(name(step.name));
  }
  return text;
}

base::Result<void> Substitutions::check_names() const {
  for (const std::string& name : names_) TRY_VOID(item::check_attribute_name(name));
  return {};
}

const item::AttributeValue* constant_of(const Expression& expression, const Parameters& parameters) {
  if (expression.kind == ExpressionKind::literal) return &expression.value;
  if (expression.kind == ExpressionKind::parameter) return &parameters[expression.number];
  return nullptr;
}

}  // namespace postino::partiql
