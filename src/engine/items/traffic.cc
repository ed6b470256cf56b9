#include "engine/items/traffic.h"

#include <algorithm>

#include "engine/catalog/item_keys.h"
#include "engine/items/capacity_units.h"

namespace postino::engine::traffic {

namespace {

store::TrafficSource source_of(const Table& table, const Index* index) {
  store::TrafficSource source;
  source.table = table.name;
  source.item_key.push_back(table.hash.name);
  if (table.range) source.item_key.push_back(table.range->name);
  if (index == nullptr) {
    source.hash.push_back({table.hash.name, table.hash.type});
    return source;
  }
  source.index = index->name;
  source.global = index->global;
  for (const KeyPart& part : index->hash) source.hash.push_back({part.name, part.type});
  return source;
}

store::TrafficMeter& meter_of(const Core& core, const Table& table, const Index* index) {
  ObservedTraffic& observed = *(index == nullptr ? table.traffic : index->traffic);
  std::call_once(observed.asked, [&] { observed.meter = core.options.traffic->meter(source_of(table, index)); });
  return *observed.meter;
}

}  // namespace

void count_read(const Core& core, const Table& table, const Index* index, std::string_view stored_key, double units,
                store::TrafficKind kind) {
  store::Traffic traffic{.kind = kind, .units = units};
  if (!stored_key.empty()) traffic.partition = partition_of(stored_key);
  meter_of(core, table, index).count(traffic);
}

void count_write(const Core& core, const Table& table, const Change& change, const std::vector<IndexEffect>& effects,
                 const CommitEntry& entry, double factor) {
  const std::size_t before = change.before ? change.before->size : 0;
  const std::size_t after = change.after ? change.after->size : 0;
  store::Traffic traffic{.kind = store::TrafficKind::write};
  traffic.units = factor * write_units(std::max(before, after));
  traffic.partition = partition_of(change.key);
  traffic.written = change.after ? &change.after->item : nullptr;
  traffic.written_size = after;
  meter_of(core, table, nullptr).count(traffic);

  traffic.written = nullptr;
  traffic.written_size = 0;
  for (const IndexEffect& effect : effects) {
    store::TrafficMeter& meter = meter_of(core, table, effect.index);
    for (const IndexPart& part : parts_of(effect, entry)) {
      traffic.units = factor * part.units;
      traffic.partition = partition_of(part.stored_key);
      meter.count(traffic);
    }
  }
}

void count_failed_write(const Core& core, const Table& table, std::string_view stored_key,
                        const StoredItemPointer& item, double factor) {
  store::Traffic traffic{.kind = store::TrafficKind::failed_write};
  traffic.units = factor * write_units(item ? item->size : 0);
  traffic.partition = partition_of(stored_key);
  meter_of(core, table, nullptr).count(traffic);
}

void count_backfill(const Core& core, const Table& table, const Index& index, double units) {
  meter_of(core, table, &index).count({.kind = store::TrafficKind::backfill, .units = units});
}

}  // namespace postino::engine::traffic
