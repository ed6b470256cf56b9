#include "engine/items/consumption.h"

#include <algorithm>

#include "engine/items/capacity_units.h"

namespace postino::engine {

store::ConsumedCapacity& Consumption::of(const std::string& table_name) {
  const auto found = std::ranges::find(tables_, table_name, &store::ConsumedCapacity::table_name);
  if (found != tables_.end()) return *found;
  tables_.emplace_back().table_name = table_name;
  return tables_.back();
}

void Consumption::add(const Table& table, const Index* index, double units) {
  if (enforced_) enforcement::take(table, index, access_, units, allowance_);
  if (mode_ == store::ReturnConsumedCapacity::none) return;
  store::ConsumedCapacity& capacity = of(table.name);
  capacity.total += units;
  if (index == nullptr)
    capacity.table += units;
  else
    (index->global ? capacity.global_indexes : capacity.local_indexes)[index->name] += units;
}

void Consumption::add_write(const Table& table, const StoredItemPointer& before, const StoredItemPointer& after,
                            const std::vector<IndexEffect>& effects, double factor) {
  if (!active()) return;
  add(table, nullptr, factor * write_units(std::max(before ? before->size : 0, after ? after->size : 0)));
  for (const IndexEffect& effect : effects) add(table, effect.index, factor * effect.write_units);
}

void Consumption::mark_transactional_write() {
  for (store::ConsumedCapacity& capacity : tables_) capacity.transactional_write = true;
}

void Consumption::mark_transactional_read() {
  for (store::ConsumedCapacity& capacity : tables_) capacity.transactional_read = true;
}

std::vector<store::ConsumedCapacity> Consumption::all() && { return std::move(tables_); }

std::optional<store::ConsumedCapacity> Consumption::one() && {
  if (tables_.empty()) return std::nullopt;
  return std::move(tables_.front());
}

}  // namespace postino::engine
