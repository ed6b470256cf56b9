#include "engine/core_tables_testing.h"

#include "base/check.h"
#include "engine/catalog/item_keys.h"
#include "engine/items/item_writer.h"
#include "engine/storage/keys.h"
#include "engine/tables/table_operations.h"
#include "item/json_codec.h"

namespace postino::engine {

namespace {

item::Item parsed(std::string_view json) {
  auto item = item::parse_item(json);
  CHECK(item.has_value());
  return *std::move(item);
}

}  // namespace

void CoreTablesTest::create_table(const std::string& name, std::optional<store::StreamViewType> stream) {
  store::CreateTableRequest request = simple_table(name);
  if (stream) request.stream = store::StreamSpecification{true, stream};
  ASSERT_EQ(outcome_of(TableOperations(core()).create(request)), "ok");
}

void CoreTablesTest::delete_table(const std::string& name) {
  ASSERT_EQ(outcome_of(TableOperations(core()).remove(name)), "ok");
}

void CoreTablesTest::enable_stream(const std::string& table_name, store::StreamViewType view) {
  store::UpdateTableRequest request;
  request.table_name = table_name;
  request.stream = store::StreamSpecification{true, view};
  ASSERT_EQ(outcome_of(TableOperations(core()).update(request)), "ok");
}

void CoreTablesTest::disable_stream(const std::string& table_name) {
  store::UpdateTableRequest request;
  request.table_name = table_name;
  request.stream = store::StreamSpecification{false, std::nullopt};
  ASSERT_EQ(outcome_of(TableOperations(core()).update(request)), "ok");
}

void CoreTablesTest::create_index(const std::string& table_name, const std::string& index_name,
                                  const std::string& attribute) {
  store::UpdateTableRequest request;
  request.table_name = table_name;
  request.attribute_definitions = {{"pk", item::Type::string}, {attribute, item::Type::string}};
  request.global_index_updates.push_back(store::CreateGlobalIndex{simple_index(index_name, attribute)});
  ASSERT_EQ(outcome_of(TableOperations(core()).update(request)), "ok");
}

void CoreTablesTest::enable_time_to_live(const std::string& table_name, const std::string& attribute) {
  ASSERT_EQ(outcome_of(TableOperations(core()).update_time_to_live(table_name, {attribute, true})), "ok");
}

void CoreTablesTest::put(const std::string& table_name, std::string_view item) {
  store::PutItemRequest request;
  request.table_name = table_name;
  request.item = parsed(item);
  ItemWriter writer(core());
  const auto answer =
      run_waiting<store::WriteItemResponse>(core(), [&](const auto& entry) { return writer.put(request, entry); });
  ASSERT_EQ(outcome_of(answer), "ok");
}

void CoreTablesTest::remove(const std::string& table_name, const std::string& pk) {
  store::DeleteItemRequest request;
  request.table_name = table_name;
  request.key = {{"pk", pk}};
  ItemWriter writer(core());
  const auto answer =
      run_waiting<store::WriteItemResponse>(core(), [&](const auto& entry) { return writer.remove(request, entry); });
  ASSERT_EQ(outcome_of(answer), "ok");
}

std::string CoreTablesTest::get(const std::string& table_name, const std::string& pk) {
  const auto bytes = core().database->get(Family::items, item_key(*table(table_name), {{"pk", pk}}));
  CHECK(bytes.has_value());
  if (!bytes->has_value()) return "";
  const auto item = read_item((*bytes)->ToStringView());
  CHECK(item.has_value());
  return item::to_json(item->item);
}

std::shared_ptr<CommitEntry> CoreTablesTest::queue_change(const Table& table, const std::string& key,
                                                          StoredItemPointer after) {
  auto entry = std::make_shared<CommitEntry>();
  LockedItems items(core());
  items.lock({key});
  auto before = items.read(key);
  CHECK(before.has_value());
  items.plan(table, {key, *before, std::move(after)}, *entry);
  CHECK(items.queue(entry));
  return entry;
}

std::shared_ptr<CommitEntry> CoreTablesTest::queue_put(const std::string& table_name, std::string_view item) {
  const item::Item content = parsed(item);
  return queue_change(*table(table_name), item_key(*table(table_name), content), store_item(content));
}

std::shared_ptr<CommitEntry> CoreTablesTest::queue_delete(const std::string& table_name, const std::string& pk) {
  return queue_change(*table(table_name), item_key(*table(table_name), {{"pk", pk}}), nullptr);
}

const Index& CoreTablesTest::index(const std::string& table_name, const std::string& index_name) {
  const Index* found = table(table_name)->find_index(index_name);
  CHECK(found != nullptr);
  return *found;
}

StreamPointer CoreTablesTest::stream_of(const std::string& table_name) {
  StreamPointer newest;
  for (const auto& [id, stream] : core().catalog->state()->streams)
    if (stream->table_name == table_name) newest = stream;
  CHECK(newest != nullptr);
  return newest;
}

std::vector<std::string> CoreTablesTest::stored_keys(Family family, ObjectId id) {
  const std::string first = id_prefix(id);
  const std::string end = id_prefix(id + 1);
  const rocksdb::Slice lower(first);
  const rocksdb::Slice upper(end);
  std::vector<std::string> keys;
  const auto entries = core().database->iterate(family, lower, upper);
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) keys.push_back(entries->key().ToString());
  return keys;
}

std::set<std::string> CoreTablesTest::expected_index_keys(const std::string& table_name,
                                                          const std::string& index_name) {
  std::set<std::string> keys;
  for (const std::string& key : stored_keys(Family::items, table(table_name)->id)) {
    const auto bytes = core().database->get(Family::items, key);
    const auto item = read_item((*bytes)->ToStringView());
    if (auto entry = index_key(index(table_name, index_name), item->item, key)) keys.insert(std::move(*entry));
  }
  return keys;
}

std::set<std::string> CoreTablesTest::actual_index_keys(const std::string& table_name, const std::string& index_name) {
  const auto keys = stored_keys(Family::indexes, index(table_name, index_name).id);
  return {keys.begin(), keys.end()};
}

void CoreTablesTest::expect_index_exact(const std::string& table_name, const std::string& index_name) {
  const auto expected = expected_index_keys(table_name, index_name);
  EXPECT_EQ(actual_index_keys(table_name, index_name), expected);
  EXPECT_EQ(index(table_name, index_name).statistics->count, static_cast<std::int64_t>(expected.size()));
  std::int64_t bytes = 0;
  for (const std::string& key : expected) {
    const auto value = core().database->get(Family::indexes, key);
    if (value && *value) bytes += static_cast<std::int64_t>(read_item((*value)->ToStringView())->size);
  }
  EXPECT_EQ(index(table_name, index_name).statistics->bytes, bytes);
}

}  // namespace postino::engine
