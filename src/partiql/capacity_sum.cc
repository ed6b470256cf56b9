#include "partiql/capacity_sum.h"

#include <algorithm>

namespace postino::partiql {

void CapacitySum::add(const std::optional<store::ConsumedCapacity>& consumed) {
  if (!consumed) return;
  const auto known = std::ranges::find(tables_, consumed->table_name, &store::ConsumedCapacity::table_name);
  if (known == tables_.end()) {
    tables_.push_back(*consumed);
    return;
  }
  known->total += consumed->total;
  known->table += consumed->table;
  for (const auto& [index, units] : consumed->global_indexes) known->global_indexes[index] += units;
  for (const auto& [index, units] : consumed->local_indexes) known->local_indexes[index] += units;
}

std::optional<store::ConsumedCapacity> CapacitySum::one() && {
  if (tables_.empty()) return std::nullopt;
  return std::move(tables_.front());
}

}  // namespace postino::partiql
