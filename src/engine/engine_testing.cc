#include "engine/engine_testing.h"

#include <algorithm>

#include "base/check.h"
#include "item/json_codec.h"

namespace postino::engine {

namespace {

store::AttributeDefinition definition(std::string_view key) {
  const std::size_t colon = key.find(':');
  CHECK(colon != std::string_view::npos && colon + 2 == key.size());
  const char type = key.back();
  return {std::string(key.substr(0, colon)), type == 'S'   ? item::Type::string
                                             : type == 'N' ? item::Type::number
                                                           : item::Type::binary};
}

void define(store::CreateTableRequest& request, const store::AttributeDefinition& added) {
  if (std::ranges::find(request.attribute_definitions, added) == request.attribute_definitions.end())
    request.attribute_definitions.push_back(added);
}

store::KeySchema key_schema(store::CreateTableRequest& request, std::string_view hash, std::string_view range) {
  store::KeySchema schema = {{definition(hash).name, store::KeyRole::hash}};
  define(request, definition(hash));
  if (!range.empty()) {
    schema.push_back({definition(range).name, store::KeyRole::range});
    define(request, definition(range));
  }
  return schema;
}

store::IndexProjection projection(store::ProjectionType type, std::vector<std::string> non_key_attributes) {
  store::IndexProjection result;
  result.type = type;
  if (!non_key_attributes.empty()) result.non_key_attributes = std::move(non_key_attributes);
  return result;
}

}  // namespace

item::Item json(std::string_view text) {
  auto item = item::parse_item(text);
  CHECK(item.has_value());
  return *std::move(item);
}

expr::Placeholders placeholders(std::string_view names, std::string_view values) {
  expr::Placeholders result;
  if (!names.empty()) {
    result.names.emplace();
    // {"#a":{"S":"name"}}: the item form serves for names too.
    for (const item::Attribute& name : json(names)) result.names->emplace(name.name, name.value.as<std::string>());
  }
  if (!values.empty()) result.values = json(values);
  return result;
}

EngineTest::EngineTest() {
  options_.directory = directory_.path() / "data";
  options_.background = false;
  options_.durability = Durability::relaxed;
  options_.clock = clock_;
  options_.random = std::make_shared<base::SeededRandom>(1);
  reopen();
}

void EngineTest::reopen() {
  engine_.reset();
  auto opened = Engine::open(options_);
  ASSERT_TRUE(opened) << opened.error().message;
  engine_ = *std::move(opened);
}

store::CreateTableRequest EngineTest::table(std::string name, std::string_view hash, std::string_view range) {
  store::CreateTableRequest request;
  request.table_name = std::move(name);
  request.key_schema = key_schema(request, hash, range);
  request.billing_mode = store::BillingMode::pay_per_request;
  return request;
}

void EngineTest::add_global_index(store::CreateTableRequest& request, std::string name, std::string_view hash,
                                  std::string_view range, store::ProjectionType type,
                                  std::vector<std::string> non_key_attributes) {
  store::GlobalIndexDefinition index;
  index.name = std::move(name);
  index.key_schema = key_schema(request, hash, range);
  index.projection = projection(type, std::move(non_key_attributes));
  if (!request.global_indexes) request.global_indexes.emplace();
  request.global_indexes->push_back(std::move(index));
}

void EngineTest::add_local_index(store::CreateTableRequest& request, std::string name, std::string_view range,
                                 store::ProjectionType type, std::vector<std::string> non_key_attributes) {
  store::LocalIndexDefinition index;
  index.name = std::move(name);
  index.key_schema = {request.key_schema.front(), {definition(range).name, store::KeyRole::range}};
  define(request, definition(range));
  index.projection = projection(type, std::move(non_key_attributes));
  if (!request.local_indexes) request.local_indexes.emplace();
  request.local_indexes->push_back(std::move(index));
}

void EngineTest::create(const store::CreateTableRequest& request) {
  const auto created = store().create_table(request);
  ASSERT_TRUE(created) << outcome(created);
}

void EngineTest::put(const std::string& table_name, std::string_view item) {
  const auto written = store().put_item({.table_name = table_name, .item = json(item)});
  ASSERT_TRUE(written) << outcome(written);
}

std::string EngineTest::get(const std::string& table_name, std::string_view key) {
  const auto read = store().get_item({.table_name = table_name, .key = json(key), .consistent_read = true});
  if (!read) return outcome(read);
  return read->item ? item::to_json(*read->item) : "";
}

}  // namespace postino::engine
