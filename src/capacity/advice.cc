#include <algorithm>

#include "base/timestamp.h"
#include "capacity/observation.h"
#include "capacity/units.h"
#include "item/size.h"

namespace postino::capacity {

namespace {

constexpr std::int64_t hot_share_percent = 20;
constexpr std::int64_t scan_share_percent = 50;
constexpr std::int64_t least_scan_units = 100;  // fewer are not worth a word

std::string place_of(const std::string& table, const std::string& index) {
  return index.empty() ? "table " + table : "index " + index + " of table " + table;
}

std::string access_of(const HotKey& key) { return key.reads ? "read" : "write"; }

Advice about_hot_partition(const HotKey& key) {
  const std::int64_t limit = key.reads ? partition_read_units : partition_write_units;
  const std::int64_t parts = std::max<std::int64_t>(2, key.most_in_a_second.divided_by(limit, 3).ceiling());
  std::string text = "One key of " + place_of(key.table, key.index) + " took " + key.most_in_a_second.text() + " " +
                     access_of(key) + " units within a second. DynamoDB gives a partition " + std::to_string(limit) +
                     ", and throttles what is beyond. ";
  if (key.reads)
    text += "Read it less often: keep it in a cache, or keep " + std::to_string(parts) +
            " copies of the item under keys of their own and read any of them.";
  else
    text += "Spread its items over " + std::to_string(parts) + " keys or more: add a number from 0 to " +
            std::to_string(parts - 1) + " to the key when writing, and read all of them.";
  return {AdviceKind::hot_partition, key.table, key.index, text};
}

bool is_warm(const HotKey& key) {
  const Decimal limit = key.reads ? partition_read_units : partition_write_units;
  return key.share_percent >= Decimal(hot_share_percent) && key.most_in_a_second * 10 >= limit &&
         key.most_in_a_second <= limit;
}

Advice about_hot_key(const HotKey& key) {
  return {AdviceKind::hot_key, key.table, key.index,
          "One key of " + place_of(key.table, key.index) + " takes " + key.share_percent.text() + " % of its " +
              access_of(key) + " units, and took " + key.most_in_a_second.text() +
              " within a second. That is still within what a partition gives; if there may be ten times as much, "
              "choose a key with more different values, or spread its items over several keys."};
}

Advice about_large_item(const ObservedLargeItem& item) {
  const Decimal kilobytes = Decimal(item.bytes).divided_by(1'024, 1);
  return {AdviceKind::large_item, item.table, "",
          "An item of table " + item.table + " was written with " + kilobytes.text() + " KB; DynamoDB takes " +
              std::to_string(item::max_item_size / 1'024) +
              " KB at most. Move its large attributes to an object store and keep their address in the item, or split "
              "it into several items. Each write of it costs " +
              std::to_string(write_units(0, item.bytes)) + " units."};
}

Advice about_unread_index(const UnreadIndex& index) {
  return {AdviceKind::unread_index, index.table, index.index,
          "Nothing has read index " + index.index + " of table " + index.table + " since " +
              base::format_timestamp(index.since) + ". It would take " + index.write_units_per_month.text() +
              " write units a month, and cost " + index.cost.text(cents) +
              " with its storage. If no program needs it, remove it; a local index goes only with its table."};
}

bool is_scanned(const ObservedPart& part) {
  return part.scan_units >= Decimal(least_scan_units) && part.scan_units * 100 >= part.read_units * scan_share_percent;
}

Advice about_scans(const ObservedTable& table, const ObservedPart& part) {
  const Decimal share = (part.scan_units * 100).divided_by(part.read_units, percent_places);
  return {AdviceKind::scans, table.table, part.index,
          share.text() + " % of the read units of " + place_of(table.table, part.index) +
              " were taken by scans, which read and pay for every item, whatever their filter is. Query by a key, or "
              "make an index that has what is looked for as its key."};
}

// The same requests in the other class.
Decimal saving_in_other_class(const ObservedTable& table, const PriceBook& book) {
  const bool is_standard = table.storage_class == StorageClass::standard;
  const ClassPrices& prices = book.of(is_standard ? StorageClass::infrequent_access : StorageClass::standard);
  Decimal reads;
  Decimal writes;
  Decimal bytes;
  for (const ObservedPart& part : table.parts) {
    reads += part.read_units_per_month;
    writes += part.write_units_per_month;
    bytes += part.stored_bytes;
  }
  const Decimal other = on_demand_read_cost(prices, reads) + on_demand_write_cost(prices, writes) +
                        storage_cost(prices, gigabytes_of(bytes));
  return table.on_demand.total() - other;
}

Advice about_class(const ObservedTable& table, const Decimal& saving) {
  const bool is_standard = table.storage_class == StorageClass::standard;
  return {AdviceKind::table_class, table.table, "",
          "Table " + table.table + " would cost " + saving.text(cents) + " less a month, on demand, in the class " +
              (is_standard ? "STANDARD_INFREQUENT_ACCESS" : "STANDARD") + "."};
}

}  // namespace

std::string_view name_of(AdviceKind kind) {
  switch (kind) {
    case AdviceKind::hot_partition:
      return "hot_partition";
    case AdviceKind::hot_key:
      return "hot_key";
    case AdviceKind::large_item:
      return "large_item";
    case AdviceKind::unread_index:
      return "unread_index";
    case AdviceKind::scans:
      return "scans";
    case AdviceKind::table_class:
      break;
  }
  return "table_class";
}

std::vector<Advice> advice_for(const Observation& observation, const PriceBook& book) {
  std::vector<Advice> advice;
  for (const HotKey& key : observation.hot_partitions) advice.push_back(about_hot_partition(key));
  for (const HotKey& key : observation.hot_keys)
    if (is_warm(key)) advice.push_back(about_hot_key(key));
  for (const ObservedLargeItem& item : observation.large_items) advice.push_back(about_large_item(item));
  for (const UnreadIndex& index : observation.unread_indexes) advice.push_back(about_unread_index(index));
  for (const ObservedTable& table : observation.tables)
    for (const ObservedPart& part : table.parts)
      if (is_scanned(part)) advice.push_back(about_scans(table, part));
  for (const ObservedTable& table : observation.tables)
    if (const Decimal saving = saving_in_other_class(table, book); saving > Decimal(0))
      advice.push_back(about_class(table, saving));
  return advice;
}

}  // namespace postino::capacity
