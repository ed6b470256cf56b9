#include "objects/large_item_projection.h"

#include <algorithm>

namespace postino::objects {

LargeItemStore::Projected LargeItemStore::Projected::extend(const KeyedTable& table,
                                                            std::optional<store::ProjectionExpression>& projection,
                                                            expr::Placeholders& placeholders) {
  Projected projected;
  if (!projection) return projected;
  const auto parsed = expr::cached_projection(projection->text());
  if (!parsed) return projected;
  expr::Binder binder(placeholders);
  auto bound = binder.bind(*parsed);
  if (!bound) return projected;

  std::vector<std::string> wanted;
  for (const std::string_view name : bound->attributes()) wanted.emplace_back(name);
  const auto is_wanted = [&](const std::string& name) { return std::ranges::find(wanted, name) != wanted.end(); };
  std::string text = projection->text();
  for (const store::AttributeDefinition& key : table.keys) {
    if (is_wanted(key.name)) continue;
    // A key may be called like a reserved word.
    const std::string placeholder = "#postino_key" + std::to_string(projected.added_.size());
    if (!placeholders.names) placeholders.names.emplace();
    placeholders.names->insert_or_assign(placeholder, key.name);
    text.append(", ").append(placeholder);
    projected.added_.push_back(key.name);
  }
  for (const std::string& name : large_data_attributes())
    if (!is_wanted(name)) text.append(", ").append(name);
  projected.shows_names_ = is_wanted(std::string(large_data_names));
  projection.emplace(std::move(text));
  projected.bound_ = *std::move(bound);
  return projected;
}

item::Item LargeItemStore::Projected::of_whole(item::Item item) const {
  if (!bound_) {
    finish(item);
    return item;
  }
  item::Item shown = bound_->project(item);
  for (const std::string_view name : {large_data_fault, large_data_names})
    if (const item::AttributeValue* value = item.find(name); value != nullptr && item.contains(large_data_fault))
      shown.set(std::string(name), *value);
  finish(shown);
  return shown;
}

void LargeItemStore::Projected::finish(item::Item& item) const {
  for (const std::string& name : added_) item.erase(name);
  const bool shows_names = shows_names_ || item.contains(large_data_fault);
  for (const std::string& name : large_data_attributes())
    if (name != large_data_fault && !(shows_names && name == large_data_names)) item.erase(name);
}

}  // namespace postino::objects
