#include "engine/consistency_testing.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "item/json_codec.h"
#include "item/size.h"

namespace postino::engine {

namespace {

item::Type defined_type(const store::TableDescription& table, const std::string& attribute) {
  const auto found = std::ranges::find(table.attribute_definitions, attribute, &store::AttributeDefinition::name);
  CHECK(found != table.attribute_definitions.end());
  return found->type;
}

// What an index must hold of an item, if anything.
std::optional<item::Item> expected_entry(const store::TableDescription& table, const store::IndexDescription& index,
                                         const item::Item& item) {
  std::set<std::string> kept(index.non_key_attributes.begin(), index.non_key_attributes.end());
  for (const store::KeyElement& element : index.key_schema) {
    const item::AttributeValue* value = item.find(element.name);
    if (value == nullptr || value->type() != defined_type(table, element.name)) return std::nullopt;
    kept.insert(element.name);
  }
  if (index.projection == store::ProjectionType::all) return item;
  for (const store::KeyElement& element : table.key_schema) kept.insert(element.name);
  item::Item entry;
  for (const item::Attribute& attribute : item)
    if (kept.contains(attribute.name)) entry.set(attribute.name, attribute.value);
  return entry;
}

struct Contents {
  std::multiset<std::string> items;  // as JSON
  std::int64_t bytes = 0;

  void add(const item::Item& item) {
    items.insert(item::to_json(item));
    bytes += static_cast<std::int64_t>(item::size_of(item));
  }
};

void compare(const std::string& what, const Contents& expected, const Contents& found, Faults& faults) {
  std::vector<std::string> missing;
  std::vector<std::string> surplus;
  std::ranges::set_difference(expected.items, found.items, std::back_inserter(missing));
  std::ranges::set_difference(found.items, expected.items, std::back_inserter(surplus));
  for (const std::string& item : missing) faults.push_back(what + " lacks " + item);
  for (const std::string& item : surplus) faults.push_back(what + " has without reason " + item);
}

void compare_counts(const std::string& what, const Contents& found, std::int64_t count, std::int64_t bytes,
                    Faults& faults) {
  if (count != static_cast<std::int64_t>(found.items.size()))
    faults.push_back(what + " has " + std::to_string(found.items.size()) + " items, described as " +
                     std::to_string(count));
  if (bytes != found.bytes)
    faults.push_back(what + " has " + std::to_string(found.bytes) + " bytes, described as " + std::to_string(bytes));
}

std::string key_text(const store::KeySchema& schema, const item::Item& item) {
  item::Key key;
  for (const store::KeyElement& element : schema) key.set(element.name, *item.find(element.name));
  return item::to_json(key);
}

// Where to go on in a shard; nothing when it has been read to its end.
std::optional<store::GetShardIteratorRequest> next_position(const std::string& arn, const store::Shard& shard,
                                                            const store::SequenceNumber& last) {
  if (shard.ending && *shard.ending <= last) return std::nullopt;
  if (shard.starting > last)
    return store::GetShardIteratorRequest{arn, shard.id, store::IteratorType::trim_horizon, {}};
  return store::GetShardIteratorRequest{arn, shard.id, store::IteratorType::after_sequence_number, last.text()};
}

}  // namespace

std::vector<item::Item> scan_everything(store::Store& store, const std::string& table_name,
                                        const std::optional<std::string>& index_name) {
  std::vector<item::Item> items;
  store::ScanRequest request;
  request.table_name = table_name;
  request.index_name = index_name;
  do {
    auto page = store.scan(request);
    CHECK(page);
    std::ranges::move(page->items, std::back_inserter(items));
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return items;
}

Faults check_table(store::Store& store, const std::string& table_name) {
  Faults faults;
  const auto table = store.describe_table(table_name);
  if (!table) return {table.error().message};
  const std::vector<item::Item> items = scan_everything(store, table_name);
  Contents contents;
  for (const item::Item& item : items) contents.add(item);
  compare_counts(table_name, contents, table->item_count, table->size_bytes, faults);

  std::vector<store::IndexDescription> indexes = table->local_indexes;
  std::ranges::copy_if(table->global_indexes, std::back_inserter(indexes),
                       [](const auto& index) { return index.status == store::IndexStatus::active; });
  for (const store::IndexDescription& index : indexes) {
    const std::string what = table_name + "/" + index.name;
    Contents expected;
    for (const item::Item& item : items)
      if (const auto entry = expected_entry(*table, index, item)) expected.add(*entry);
    Contents found;
    for (const item::Item& entry : scan_everything(store, table_name, index.name)) found.add(entry);
    compare(what, expected, found, faults);
    compare_counts(what, found, index.item_count, index.size_bytes, faults);
  }
  return faults;
}

Faults StreamReplay::follow(store::Store& store) {
  Faults faults;
  fresh_.clear();
  const auto table = store.describe_table(table_name_);
  if (!table) return {table.error().message};
  read(store, table->latest_stream_arn.value_or(""), faults);
  for (const store::StreamRecord& record : fresh_) apply(record, faults);

  Contents replayed;
  Contents found;
  for (const auto& [key, image] : images_) replayed.add(image);
  for (const item::Item& item : scan_everything(store, table_name_)) {
    found.add(item);
    const auto image = images_.find(key_text(table->key_schema, item));
    if (image == images_.end())
      faults.push_back("the stream of " + table_name_ + " does not know " + item::to_json(item));
  }
  compare(table_name_, replayed, found, faults);
  return faults;
}

void StreamReplay::read(store::Store& store, const std::string& arn, Faults& faults) {
  store::DescribeStreamRequest describe;
  describe.stream_arn = arn;
  do {
    const auto description = store.describe_stream(describe);
    if (!description) return faults.push_back(description.error().message);
    for (const store::Shard& shard : description->shards) {
      const auto position = next_position(arn, shard, last_);
      if (!position) continue;
      const auto iterator = store.get_shard_iterator(*position);
      if (!iterator) return faults.push_back(shard.id + ": " + iterator.error().message);
      store::GetRecordsRequest request;
      request.shard_iterator = *iterator;
      while (true) {
        auto page = store.get_records(request);
        if (!page) return faults.push_back(shard.id + ": " + page.error().message);
        const bool more = !page->records.empty() && page->next_shard_iterator;
        for (store::StreamRecord& record : page->records) {
          if (record.sequence_number <= last_)
            faults.push_back("record " + record.sequence_number.text() + " follows " + last_.text());
          last_ = record.sequence_number;
          fresh_.push_back(std::move(record));
        }
        if (!more) break;
        request.shard_iterator = *page->next_shard_iterator;
      }
    }
    describe.exclusive_start_shard_id = description->last_evaluated_shard_id;
  } while (describe.exclusive_start_shard_id);
}

void StreamReplay::apply(const store::StreamRecord& record, Faults& faults) {
  const std::string key = item::to_json(record.keys);
  const std::string what = table_name_ + " record " + record.sequence_number.text() + " of " + key;
  const auto known = images_.find(key);
  if (record.old_image.has_value() != (record.type != store::ChangeType::insert) ||
      record.new_image.has_value() != (record.type != store::ChangeType::remove))
    faults.push_back(what + " has the wrong images");
  if (record.old_image.has_value() != (known != images_.end()) ||
      (record.old_image && *record.old_image != known->second))
    faults.push_back(what + " does not fit the record before");
  if (record.new_image)
    images_.insert_or_assign(key, *record.new_image);
  else
    images_.erase(key);
}

}  // namespace postino::engine
