#include "base/check.h"
#include "operation.h"

namespace postino::crash {

namespace {

using item::Type;
using store::KeyRole;
using store::ProjectionType;

store::GlobalIndexDefinition global_index(std::string name, store::KeySchema schema,
                                          store::IndexProjection projection) {
  store::GlobalIndexDefinition index;
  index.name = std::move(name);
  index.key_schema = std::move(schema);
  index.projection = std::move(projection);
  return index;
}

store::CreateTableRequest table_request(TableNumber table) {
  store::CreateTableRequest request;
  request.table_name = table_name(table);
  request.billing_mode = store::BillingMode::pay_per_request;
  request.attribute_definitions = {{"state", Type::string}, {"total", Type::number}};
  request.global_indexes.emplace();
  request.global_indexes->push_back(
      global_index("by_state", {{"state", KeyRole::hash}, {"total", KeyRole::range}}, {ProjectionType::all, {}}));
  return request;
}

}  // namespace

std::string table_name(TableNumber table) {
  switch (table) {
    case TableNumber::orders:
      return "orders";
    case TableNumber::ledger:
      return "ledger";
    case TableNumber::notes:
      break;
  }
  return "notes";
}

void create_tables(store::Store& store) {
  const store::StreamSpecification stream{true, store::StreamViewType::new_and_old_images};

  store::CreateTableRequest orders = table_request(TableNumber::orders);
  orders.attribute_definitions.push_back({"customer", Type::string});
  orders.attribute_definitions.push_back({"number", Type::number});
  orders.key_schema = {{"customer", KeyRole::hash}, {"number", KeyRole::range}};
  orders.global_indexes->push_back(
      global_index("by_total", {{"total", KeyRole::hash}}, {ProjectionType::keys_only, {}}));
  store::LocalIndexDefinition local;
  local.name = "by_customer_total";
  local.key_schema = {{"customer", KeyRole::hash}, {"total", KeyRole::range}};
  local.projection = {ProjectionType::include, std::vector<std::string>{"operation"}};
  orders.local_indexes = {std::move(local)};
  orders.stream = stream;
  CHECK(store.create_table(orders));
  CHECK(store.update_time_to_live("orders", {"expires", true}));

  store::CreateTableRequest ledger = table_request(TableNumber::ledger);
  ledger.attribute_definitions.push_back({"number", Type::number});
  ledger.key_schema = {{"number", KeyRole::hash}};
  ledger.stream = stream;
  CHECK(store.create_table(ledger));

  store::CreateTableRequest notes = table_request(TableNumber::notes);
  notes.attribute_definitions.push_back({"page", Type::binary});
  notes.key_schema = {{"page", KeyRole::hash}};
  CHECK(store.create_table(notes));
}

}  // namespace postino::crash
