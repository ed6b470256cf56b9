#include "engine/catalog/core_testing.h"

#include "base/check.h"
#include "engine/catalog/item_keys.h"
#include "engine/storage/stored_item.h"
#include "item/size.h"

namespace postino::engine {

CoreTest::CoreTest() { reopen(); }

void CoreTest::reopen() {
  core_.reset();
  Options options;
  options.directory = directory_.path() / "data";
  options.durability = Durability::relaxed;
  options.background = false;
  options.clock = clock_;
  options.random = std::make_shared<base::SeededRandom>(1);
  auto opened = open_core(std::move(options), nullptr);
  CHECK(opened.has_value());
  core_ = *std::move(opened);
}

void CoreTest::put_plain_item(const std::string& table_name, const std::string& key) {
  const TablePointer table = core_->catalog->find(table_name);
  CHECK(table != nullptr);
  const item::Item item = {{"pk", key}};
  const std::size_t size = item::size_of(item);
  const auto entry = std::make_shared<CommitEntry>();
  entry->put(Family::items, item_key(*table, item), encode_item(item, size));
  entry->statistics.push_back({table->id, table->statistics, 1, static_cast<std::int64_t>(size)});
  core_->queue->enqueue(entry);
  CHECK(core_->queue->wait(entry).has_value());
}

store::CreateTableRequest simple_table(std::string name) {
  store::CreateTableRequest request;
  request.table_name = std::move(name);
  request.attribute_definitions = {{"pk", item::Type::string}};
  request.key_schema = {{"pk", store::KeyRole::hash}};
  request.billing_mode = store::BillingMode::pay_per_request;
  return request;
}

store::GlobalIndexDefinition simple_index(std::string name, std::string hash_key) {
  store::GlobalIndexDefinition definition;
  definition.name = std::move(name);
  definition.key_schema = {{std::move(hash_key), store::KeyRole::hash}};
  definition.projection.type = store::ProjectionType::all;
  return definition;
}

}  // namespace postino::engine
