#include "partiql/syntax/columns.h"

#include <set>

namespace postino::partiql {

namespace {

const item::AttributeValue* find(const Path& path, const item::Item& item) {
  const item::AttributeValue* value = item.find(path.front().name);
  for (std::size_t i = 1; i < path.size() && value != nullptr; ++i) {
    if (path[i].index) {
      const auto* list = value->get_if<item::List>();
      value = list != nullptr && *path[i].index < list->size() ? &(*list)[*path[i].index] : nullptr;
    } else {
      const auto* map = value->get_if<item::Map>();
      value = map != nullptr ? map->find(path[i].name) : nullptr;
    }
  }
  return value;
}

}  // namespace

std::string column_name(const Path& path) {
  std::string name;
  for (const PathStep& step : path) {
    if (step.index)
      name.append("[").append(std::to_string(*step.index)).append("]");
    else
      name = step.name;
  }
  return name;
}

std::optional<std::string> repeated_column(const std::vector<Column>& columns) {
  std::set<std::string_view> names;
  for (const Column& column : columns)
    if (!names.insert(column.name).second) return column.name;
  return std::nullopt;
}

item::Item take_columns(const std::vector<Column>& columns, const item::Item& item) {
  std::vector<item::Attribute> row;
  for (const Column& column : columns)
    if (const item::AttributeValue* value = find(column.path, item)) row.push_back({column.name, *value});
  return item::Item(std::move(row));
}

}  // namespace postino::partiql
