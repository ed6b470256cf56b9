#include "capacity_model.h"

#include <cmath>

#include "item/size.h"

namespace postino::model {

namespace {

double write_units(std::size_t bytes) { return std::max(1.0, std::ceil(static_cast<double>(bytes) / 1024)); }

std::size_t size_or_zero(const std::optional<item::Item>& item) { return item ? item::size_of(*item) : 0; }

std::optional<item::Item> entry_of(const ModelTable& table, const ModelIndex& index,
                                   const std::optional<item::Item>& item) {
  if (!item || !table.is_indexed(index, *item)) return std::nullopt;
  return table.entry_of(&index, *item);
}

double index_units(const ModelTable& table, const ModelIndex& index, const Effect& effect) {
  const auto before = entry_of(table, index, effect.before);
  const auto after = entry_of(table, index, effect.after);
  if (before == after) return 0;
  if (!before || !after) return write_units(size_or_zero(before ? before : after));
  for (const std::string& name : index.keys())
    if (!(*before->find(name) == *after->find(name)))
      return write_units(size_or_zero(before)) + write_units(size_or_zero(after));
  return write_units(std::max(size_or_zero(before), size_or_zero(after)));
}

std::string capacity_text(const store::ConsumedCapacity& capacity) {
  std::string text =
      capacity.table_name + " total " + std::to_string(capacity.total) + " table " + std::to_string(capacity.table);
  for (const auto& [name, units] : capacity.global_indexes) text += " " + name + " " + std::to_string(units);
  for (const auto& [name, units] : capacity.local_indexes) text += " " + name + " " + std::to_string(units);
  return text;
}

}  // namespace

void CapacityModel::add_write(const ModelTable& table, const Effect& effect) {
  store::ConsumedCapacity& capacity = tables_[table.name];
  capacity.table_name = table.name;
  const double units = factor_ * write_units(std::max(size_or_zero(effect.before), size_or_zero(effect.after)));
  capacity.table += units;
  capacity.total += units;
  for (const ModelIndex& index : table.indexes) {
    if (index.filling) unknown_[table.name] = true;
    const double spent = factor_ * index_units(table, index, effect);
    if (spent == 0) continue;
    (index.global ? capacity.global_indexes : capacity.local_indexes)[index.name] += spent;
    capacity.total += spent;
  }
}

void CapacityModel::add_read(const ModelTable& table, const std::optional<item::Item>& item, bool consistent) {
  store::ConsumedCapacity& capacity = tables_[table.name];
  capacity.table_name = table.name;
  const double blocks = std::max(1.0, std::ceil(static_cast<double>(size_or_zero(item)) / 4096));
  const double units = factor_ * (consistent ? blocks : blocks / 2);
  capacity.table += units;
  capacity.total += units;
}

std::string CapacityModel::difference(const std::vector<store::ConsumedCapacity>& reported) const {
  if (reported.size() != tables_.size())
    return "capacity of " + std::to_string(reported.size()) + " tables instead of " + std::to_string(tables_.size());
  for (const store::ConsumedCapacity& capacity : reported) {
    const auto expected = tables_.find(capacity.table_name);
    if (expected == tables_.end()) return "capacity of a table that was not asked: " + capacity.table_name;
    if (unknown_.contains(capacity.table_name)) continue;
    if (capacity_text(capacity) != capacity_text(expected->second))
      return "capacity " + capacity_text(capacity) + " instead of " + capacity_text(expected->second);
  }
  return {};
}

}  // namespace postino::model
