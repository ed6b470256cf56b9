#include "tested_store.h"

#include "base/many_threads_testing.h"
#include "dynalite_server.h"

namespace postino::remote {

using item::Type;
using store::KeyRole;

store::PutItemRequest put(const std::string& table, item::Item item) {
  store::PutItemRequest request;
  request.table_name = table;
  request.item = std::move(item);
  return request;
}

store::GetItemRequest get(const std::string& table, item::Key key) {
  store::GetItemRequest request;
  request.table_name = table;
  request.key = std::move(key);
  request.consistent_read = true;
  return request;
}

store::UpdateItemRequest update(const std::string& table, item::Key key, const std::string& expression,
                                item::Map values) {
  store::UpdateItemRequest request;
  request.table_name = table;
  request.key = std::move(key);
  request.update = expression;
  if (!values.empty()) request.placeholders.values = std::move(values);
  return request;
}

store::DeleteItemRequest remove(const std::string& table, item::Key key) {
  store::DeleteItemRequest request;
  request.table_name = table;
  request.key = std::move(key);
  return request;
}

bool can(Place place, Ability ability) {
  switch (ability) {
    case Ability::transactions:
    case Ability::streams:
    case Ability::expiry:
    case Ability::recovery:
    case Ability::settings:
    case Ability::upkeep:
    case Ability::refused_items:
    case Ability::collection_sizes:
    case Ability::wording:
    case Ability::many_threads:
      return place != Place::dynalite;
  }
  return true;
}

std::vector<Place> places_with(Ability ability) {
  std::vector<Place> places;
  for (const Place place : {Place::embedded, Place::remote, Place::dynalite})
    if (can(place, ability)) places.push_back(place);
  return places;
}

StoreTest::StoreTest()
    : clock_(std::make_shared<base::ManualClock>(engine::embedded_start)),
      embedded_(clock_),
      service_(GetParam() == Place::remote ? std::make_unique<LocalService>(embedded_.engine()) : nullptr) {
  if (GetParam() == Place::dynalite) use_dynalite();
}

store::Store& StoreTest::store() {
  if (dynalite_) return *dynalite_;
  return service_ ? service_->store() : embedded_.engine();
}

// A fatal failure here lets the test go no further.
void StoreTest::use_dynalite() {
  const DynaliteServer& server = DynaliteServer::shared();
  dynalite_ = make_remote(options_for(server.port()), hurried_clock(), random_);
  ASSERT_EQ(server.problem(), "");
  // Of the tests before.
  const auto tables = store().list_tables({});
  ASSERT_EQ(refusal_of(tables), "");
  for (const std::string& name : tables->table_names) ASSERT_EQ(refusal_of(store().delete_table(name)), "");
  ASSERT_TRUE(base::eventually([&] { return store().list_tables({})->table_names.empty(); }));
}

void StoreTest::create(const store::CreateTableRequest& request) {
  ASSERT_EQ(refusal_of(store().create_table(request)), "");
  ASSERT_TRUE(base::eventually([&] {
    const auto table = store().describe_table(request.table_name);
    return table && table->status == store::TableStatus::active;
  }));
}

void StoreTest::create_table(const std::string& name, bool with_range) {
  store::CreateTableRequest request;
  request.table_name = name;
  request.attribute_definitions = {{"pk", Type::string}};
  request.key_schema = {{"pk", KeyRole::hash}};
  if (with_range) request.attribute_definitions.push_back({"sk", Type::number});
  if (with_range) request.key_schema.push_back({"sk", KeyRole::range});
  request.billing_mode = store::BillingMode::pay_per_request;
  create(request);
}

void StoreTest::create_indexed_table(const std::string& name) {
  store::CreateTableRequest request;
  request.table_name = name;
  request.attribute_definitions = {
      {"pk", Type::string}, {"sk", Type::number}, {"state", Type::string}, {"rank", Type::number}};
  request.key_schema = {{"pk", KeyRole::hash}, {"sk", KeyRole::range}};
  request.billing_mode = store::BillingMode::pay_per_request;
  store::GlobalIndexDefinition by_state;
  by_state.name = "by-state";
  by_state.key_schema = {{"state", KeyRole::hash}, {"sk", KeyRole::range}};
  by_state.projection.type = store::ProjectionType::all;
  request.global_indexes = {by_state};
  store::LocalIndexDefinition by_rank;
  by_rank.name = "by-rank";
  by_rank.key_schema = {{"pk", KeyRole::hash}, {"rank", KeyRole::range}};
  by_rank.projection.type = store::ProjectionType::keys_only;
  request.local_indexes = {by_rank};
  create(request);
}

std::string name_of_place(const testing::TestParamInfo<Place>& info) {
  switch (info.param) {
    case Place::embedded:
      return "Embedded";
    case Place::remote:
      return "Remote";
    case Place::dynalite:
      return "Dynalite";
  }
  return "";
}

}  // namespace postino::remote
