#include "engine/catalog/table.h"

#include <algorithm>

namespace postino::engine {

const Index* Table::find_index(std::string_view index_name) const {
  const auto found = std::ranges::find(indexes, index_name, &Index::name);
  return found == indexes.end() ? nullptr : &*found;
}

Index* Table::find_index(std::string_view index_name) {
  return const_cast<Index*>(std::as_const(*this).find_index(index_name));
}

bool Table::has_local_indexes() const {
  return std::ranges::any_of(indexes, [](const Index& index) { return !index.global; });
}

bool Table::is_key(std::string_view attribute) const {
  return attribute == hash.name || (range && attribute == range->name);
}

void work_out_kept_attributes(Index& index, const Table& table) {
  index.kept.clear();
  if (index.projection == store::ProjectionType::all) return;
  for (const KeyPart& part : index.hash) index.kept.push_back(part.name);
  for (const KeyPart& part : index.range) index.kept.push_back(part.name);
  index.kept.push_back(table.hash.name);
  if (table.range) index.kept.push_back(table.range->name);
  for (const std::string& name : index.non_key_attributes) index.kept.push_back(name);
  std::ranges::sort(index.kept);
  const auto repeated = std::ranges::unique(index.kept);
  index.kept.erase(repeated.begin(), repeated.end());
}

store::KeySchema key_schema_of(const Table& table) {
  store::KeySchema schema = {{table.hash.name, store::KeyRole::hash}};
  if (table.range) schema.push_back({table.range->name, store::KeyRole::range});
  return schema;
}

store::KeySchema key_schema_of(const Index& index) {
  store::KeySchema schema;
  for (const KeyPart& part : index.hash) schema.push_back({part.name, store::KeyRole::hash});
  for (const KeyPart& part : index.range) schema.push_back({part.name, store::KeyRole::range});
  return schema;
}

}  // namespace postino::engine
