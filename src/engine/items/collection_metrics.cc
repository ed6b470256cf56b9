#include "engine/items/collection_metrics.h"

#include <algorithm>
#include <cmath>

#include "engine/catalog/item_keys.h"
#include "engine/storage/keys.h"

namespace postino::engine {

namespace {

std::uint64_t approximate_bytes(const Core& core, Family family, const std::string& prefix) {
  const std::string end = after_prefix(prefix);
  const rocksdb::Range range(prefix, end);
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  options.include_files = true;
  std::uint64_t bytes = 0;
  core.database->rocks()
      .GetApproximateSizes(options, core.database->handle(family), &range, 1, &bytes)
      .PermitUncheckedError();
  return bytes;
}

// Of items and the entries of local indexes, those of one collection or, without one, all of the table.
std::uint64_t approximate_bytes(const Core& core, const Table& table, const item::AttributeValue* hash) {
  std::uint64_t bytes =
      approximate_bytes(core, Family::items, hash == nullptr ? id_prefix(table.id) : partition_prefix(table, *hash));
  for (const Index& index : table.indexes)
    if (!index.global)
      bytes += approximate_bytes(core, Family::indexes,
                                 hash == nullptr ? id_prefix(index.id) : index_partition_prefix(index, {hash}));
  return bytes;
}

// What all collections of the table take together, as DynamoDB counts.
std::int64_t bytes_of_all(const Table& table) {
  std::int64_t bytes = table.statistics->bytes;
  for (const Index& index : table.indexes)
    if (!index.global) bytes += index.statistics->bytes;
  return bytes;
}

}  // namespace

store::Answer<void> check_collection_size(const Core& core, const Table& table, const item::Map& item,
                                          const Change& change) {
  if (!table.has_local_indexes()) return {};
  const std::size_t before = change.before ? change.before->size : 0;
  const std::int64_t all = bytes_of_all(table);
  if (!change.after || change.after->size <= before || all < core.options.max_item_collection_bytes) return {};
  // The database counts compressed bytes, so it is asked for shares only.
  const auto part = static_cast<double>(approximate_bytes(core, table, item.find(table.hash.name)));
  const auto whole = static_cast<double>(approximate_bytes(core, table, nullptr));
  const double share = whole > 0 ? std::min(part / whole, 1.0) : 0;
  if (share * static_cast<double>(all) < static_cast<double>(core.options.max_item_collection_bytes)) return {};
  return store::refuse(store::ErrorType::item_collection_size_limit_exceeded, "Collection size exceeded.");
}

std::optional<store::ItemCollectionMetrics> collection_metrics(const Core& core, const Table& table,
                                                               const item::Map& item) {
  if (!table.has_local_indexes()) return std::nullopt;
  const item::AttributeValue& hash = *item.find(table.hash.name);
  const std::uint64_t bytes = approximate_bytes(core, table, &hash);
  constexpr double gigabyte = 1024.0 * 1024 * 1024;
  store::ItemCollectionMetrics metrics;
  metrics.collection_key.set(table.hash.name, hash);
  metrics.lower_gigabytes = std::floor(static_cast<double>(bytes) / gigabyte);
  metrics.upper_gigabytes = metrics.lower_gigabytes + 1;
  return metrics;
}

void add_collection_metrics(const Core& core, const Table& table, const item::Map& item,
                            std::vector<store::BatchWriteItemResponse::TableMetrics>& tables) {
  auto metrics = collection_metrics(core, table, item);
  if (!metrics) return;
  auto found = std::ranges::find(tables, table.name, &store::BatchWriteItemResponse::TableMetrics::table_name);
  if (found == tables.end()) found = tables.insert(tables.end(), {table.name, {}});
  const auto same = [&](const auto& known) { return known.collection_key == metrics->collection_key; };
  if (std::ranges::none_of(found->metrics, same)) found->metrics.push_back(std::move(*metrics));
}

}  // namespace postino::engine
