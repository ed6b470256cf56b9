#include "contents_check.h"

#include "comparison.h"
#include "request_text.h"
#include "stream_check.h"

namespace postino::model {

namespace {

using Items = std::map<KeyOfItem, item::Item, KeyLess>;

store::Answer<std::vector<item::Item>> scan_all(store::Store& store, const std::string& table,
                                                const std::optional<std::string>& index) {
  std::vector<item::Item> items;
  store::ScanRequest request;
  request.table_name = table;
  request.index_name = index;
  do {
    TRY(store::PageResponse page, store.scan(request));
    for (item::Item& item : page.items) items.push_back(std::move(item));
    request.exclusive_start_key = page.last_evaluated_key;
  } while (request.exclusive_start_key);
  return items;
}

std::string difference_of_index(store::Store& store, const ModelTable& table, const ModelIndex& index) {
  Items expected;
  for (const auto& [key, item] : table.items)
    if (table.is_indexed(index, item)) expected.emplace(key, table.entry_of(&index, item));
  const auto entries = scan_all(store, table.name, index.name);
  if (!entries) return "cannot scan " + index.name + ": " + text_of(entries.error());
  Items actual;
  for (const item::Item& entry : *entries)
    if (!actual.emplace(table.key_values(entry), entry).second) return index.name + " has two entries of one item";
  for (const auto& [key, entry] : expected)
    if (!actual.contains(key)) return index.name + " lacks " + text_of(std::optional(entry));
  for (const auto& [key, entry] : actual) {
    if (!expected.contains(key)) return index.name + " has too much: " + text_of(std::optional(entry));
    if (!(expected.at(key) == entry))
      return index.name + " has " + text_of(std::optional(entry)) + "\n  instead of " +
             text_of(std::optional(expected.at(key)));
  }
  return {};
}

}  // namespace

store::Answer<ModelTable> read_table(store::Store& store, const ModelTable& defined) {
  ModelTable table = defined;
  table.items.clear();
  TRY(const std::vector<item::Item> items, scan_all(store, defined.name, std::nullopt));
  for (const item::Item& item : items) table.items.emplace(table.key_values(item), item);
  return table;
}

std::string difference_of_indexes(store::Store& store, const ModelTable& table) {
  for (const ModelIndex& index : table.indexes)
    if (const std::string found = difference_of_index(store, table, index); !found.empty()) return found;
  const auto described = store.describe_table(table.name);
  if (!described) return text_of(described.error());
  return difference(table, *described);
}

std::string difference_after_replay(const ModelTable& table, const std::vector<store::StreamRecord>& records) {
  Items replayed;
  for (const store::StreamRecord& record : records) {
    const KeyOfItem key = table.key_values(record.keys);
    const auto known = replayed.find(key);
    const std::optional<item::Item> before =
        known == replayed.end() ? std::nullopt : std::optional<item::Item>(known->second);
    if (before != record.old_image) return "the record " + text_of(record) + "\n  follows upon " + text_of(before);
    if (record.new_image)
      replayed.insert_or_assign(key, *record.new_image);
    else
      replayed.erase(key);
  }
  if (replayed == table.items) return {};
  return "the stream leads to other items than the table has";
}

std::string difference_of_contents(store::Store& store, const ModelTable& defined) {
  const auto table = read_table(store, defined);
  if (!table) return text_of(table.error());
  if (std::string found = difference_of_indexes(store, *table); !found.empty()) return found;
  const auto described = store.describe_table(table->name);
  if (!described) return text_of(described.error());
  const auto records = read_stream(store, *described->latest_stream_arn);
  if (!records) return text_of(records.error());
  return difference_after_replay(*table, *records);
}

}  // namespace postino::model
