#include "large_item_environment.h"

#include "base/check.h"
#include "store/table_setup.h"

namespace postino::objects {

LargeItemEnvironment::LargeItemEnvironment(std::shared_ptr<base::ManualClock> time)
    : EmbeddedStore(time), time_(std::move(time)), objects_(*time_) {
  store::CreateTableRequest request =
      store::table_request(tickets_table, {{"PK", item::Type::string}, {"SK", item::Type::string}});
  request.attribute_definitions.push_back({"GSI1PK", item::Type::string});
  const auto index = [](const std::string& name, const store::IndexProjection& projection) {
    store::GlobalIndexDefinition definition;
    definition.name = name;
    definition.key_schema = {{"GSI1PK", store::KeyRole::hash}, {"SK", store::KeyRole::range}};
    definition.projection = projection;
    return definition;
  };
  request.global_indexes = {
      index("whole-index", {store::ProjectionType::all, std::nullopt}),
      index("part-index", {store::ProjectionType::include, std::vector<std::string>{"protocol"}})};
  request.stream = store::StreamSpecification{true, store::StreamViewType::new_and_old_images};
  const auto prepared = store::prepare_table(engine(), request, "ttl");
  CHECK(prepared.has_value());
  auto described = describe_large_item_table(engine(), tickets_table);
  CHECK(described.has_value());
  table_ = *std::move(described);
  large_ = std::make_unique<LargeItemStore>(engine(), objects_, std::vector{table_}, clock(), random());
}

std::optional<item::Item> LargeItemEnvironment::get(store::Store& from, const item::Key& key) {
  store::GetItemRequest request;
  request.table_name = tickets_table;
  request.key = key;
  request.consistent_read = true;
  const auto found = from.get_item(request);
  EXPECT_TRUE(succeeded(found));
  return found ? found->item : std::nullopt;
}

std::set<std::string> LargeItemEnvironment::referred() {
  std::set<std::string> names;
  for (const item::Item& item : scan(tickets_table))
    if (const auto name = object_of_item(large_items_kind(), table_.keyed, objects_.bucket(), item))
      names.insert(*name);
  return names;
}

item::Item small_ticket(const std::string& id, int version) {
  item::Item item = ticket_key(id);
  item.set("version", version);
  item.set("GSI1PK", "ALL");
  item.set("status", "NEW");
  item.set("protocol", "log of version " + std::to_string(version));
  item.set("details", item::Map{{"version", version}, {"text", "short"}});
  return item;
}

item::Item large_ticket(const std::string& id, int version) {
  item::Item item = small_ticket(id, version);
  const auto letter = static_cast<char>('a' + version % 26);
  item.set("protocol", "log of version " + std::to_string(version) + " " + std::string(300'000, letter));
  item.set("details", item::Map{{"version", version}, {"text", std::string(200'000, letter)}});
  return item;
}

store::PutItemRequest put_of(item::Item item) {
  store::PutItemRequest request;
  request.table_name = tickets_table;
  request.item = std::move(item);
  return request;
}

store::UpdateItemRequest update_of(const item::Key& key, const std::string& update, item::Map values) {
  store::UpdateItemRequest request;
  request.table_name = tickets_table;
  request.key = key;
  request.update = update;
  if (!values.empty()) request.placeholders.values = std::move(values);
  return request;
}

}  // namespace postino::objects
