#include "engine/write_workload_testing.h"

#include "base/check.h"
#include "engine/consistency_testing.h"

namespace postino::engine {

namespace {

using store::KeyRole;
using store::ProjectionType;

constexpr int ids_per_writer = 12;

store::GlobalIndexDefinition global_index(std::string name, store::KeySchema schema, ProjectionType projection) {
  store::GlobalIndexDefinition index;
  index.name = std::move(name);
  index.key_schema = std::move(schema);
  index.projection.type = projection;
  return index;
}

store::CreateTableRequest table_request(std::string name) {
  store::CreateTableRequest request;
  request.table_name = std::move(name);
  request.billing_mode = store::BillingMode::pay_per_request;
  request.attribute_definitions = {
      {"color", item::Type::string}, {"id", item::Type::string}, {"weight", item::Type::number}};
  request.key_schema = {{"id", KeyRole::hash}};
  request.global_indexes = {
      global_index("by_color", {{"color", KeyRole::hash}, {"weight", KeyRole::range}}, ProjectionType::all)};
  request.global_indexes->push_back(global_index("by_weight", {{"weight", KeyRole::hash}}, ProjectionType::keys_only));
  request.stream = store::StreamSpecification{true, store::StreamViewType::new_and_old_images};
  return request;
}

template <class Response>
std::optional<store::Error> error_of(const store::Answer<Response>& answer) {
  return answer ? std::nullopt : std::optional<store::Error>(answer.error());
}

}  // namespace

void create_workload_tables(store::Store& store) {
  store::CreateTableRequest accounts = table_request("accounts");
  accounts.key_schema.push_back({"part", KeyRole::range});
  accounts.attribute_definitions.push_back({"part", item::Type::number});
  store::LocalIndexDefinition local;
  local.name = "by_part_weight";
  local.key_schema = {{"id", KeyRole::hash}, {"weight", KeyRole::range}};
  local.projection = {ProjectionType::include, std::vector<std::string>{"version"}};
  accounts.local_indexes = {std::move(local)};
  CHECK(store.create_table(accounts));
  CHECK(store.create_table(table_request("ledger")));
}

bool WorkloadWriter::write_once(store::Store& store) {
  ++version_;
  switch (random_() % 8) {
    case 0:
    case 1:
    case 2:
      return put(store);
    case 3:
    case 4:
      return update(store);
    case 5:
      return remove(store);
    case 6:
      return batch(store);
    default:
      return transact(store);
  }
}

std::string WorkloadWriter::some_id() {
  return "writer-" + std::to_string(number_) + "-" + std::to_string(random_() % ids_per_writer);
}

// Some items lack what an index wants, and some are large enough to fill a memtable soon.
item::Item WorkloadWriter::make_item(const Place& place) {
  item::Item item{{"id", place.second}, {"version", version_}};
  if (place.first == "accounts") item.set("part", 1);
  if (random_() % 4 != 0) item.set("color", std::string(1, static_cast<char>('r' + random_() % 3)));
  if (random_() % 4 != 0) item.set("weight", static_cast<std::int64_t>(random_() % 10));
  const std::size_t filler = random_() % 16 == 0 ? 4'000 : random_() % 100;
  item.set("filler", std::string(filler, static_cast<char>('a' + version_ % 26)));
  return item;
}

WorkloadWriter::State WorkloadWriter::state_after(std::size_t prefix) const {
  State state = settled_;
  for (std::size_t i = 0; i < prefix; ++i) apply(writes_[i], state);
  return state;
}

void WorkloadWriter::apply(const Write& write, State& state) {
  for (const Effect& effect : write) {
    if (effect.item)
      state.insert_or_assign(effect.place, *effect.item);
    else
      state.erase(effect.place);
  }
}

bool WorkloadWriter::finish(Write write, std::optional<store::Error> error) {
  apply(write, latest_);
  writes_.push_back(std::move(write));
  error_ = std::move(error);
  if (error_) return false;
  ++acknowledged_;
  return true;
}

namespace {

item::Key key_of(const std::string& table_name, const std::string& id) {
  item::Key key{{"id", id}};
  if (table_name == "accounts") key.set("part", 1);
  return key;
}

}  // namespace

bool WorkloadWriter::put(store::Store& store) {
  const Place place{workload_tables[random_() % 2], some_id()};
  store::PutItemRequest request;
  request.table_name = place.first;
  request.item = make_item(place);
  auto answer = store.put_item(request);
  return finish({{place, request.item}}, error_of(answer));
}

bool WorkloadWriter::update(store::Store& store) {
  const Place place{workload_tables[random_() % 2], some_id()};
  item::Item item = key_of(place.first, place.second);
  if (const auto found = latest_.find(place); found != latest_.end()) item = found->second;
  store::UpdateItemRequest request;
  request.table_name = place.first;
  request.key = key_of(place.first, place.second);
  request.update = "SET version = :v, color = :c REMOVE filler";
  // Holds, because this writer is the only one of these items.
  request.condition = item.contains("version") ? "version < :v" : "attribute_not_exists(id)";
  request.placeholders.values = expr::Values{{":v", version_}, {":c", version_ % 2 == 0 ? "red" : "sand"}};
  auto answer = store.update_item(request);
  item.set("version", version_);
  item.set("color", version_ % 2 == 0 ? "red" : "sand");
  item.erase("filler");
  return finish({{place, item}}, error_of(answer));
}

bool WorkloadWriter::remove(store::Store& store) {
  const Place place{workload_tables[random_() % 2], some_id()};
  store::DeleteItemRequest request;
  request.table_name = place.first;
  request.key = key_of(place.first, place.second);
  auto answer = store.delete_item(request);
  return finish({{place, std::nullopt}}, error_of(answer));
}

bool WorkloadWriter::batch(store::Store& store) {
  const std::string id = some_id();
  store::BatchWriteItemRequest request;
  Write write;
  for (const std::string& table_name : workload_tables) {
    const Place place{table_name, id};
    write.push_back({place, make_item(place)});
    request.tables.push_back({table_name, {store::BatchPut{*write.back().item}}});
  }
  auto answer = store.batch_write_item(request);
  return finish(std::move(write), error_of(answer));
}

// In both tables at once, under ids that nothing but transactions writes: they must always be the same.
bool WorkloadWriter::transact(store::Store& store) {
  const std::string id = "pair-" + some_id();
  store::TransactWriteItemsRequest request;
  Write write;
  for (const std::string& table_name : workload_tables) {
    const Place place{table_name, id};
    write.push_back({place, make_item(place)});
    store::TransactPut action;
    action.table_name = table_name;
    action.item = *write.back().item;
    request.actions.emplace_back(std::move(action));
  }
  auto answer = store.transact_write_items(request);
  return finish(std::move(write), error_of(answer));
}

WorkloadWriter::State WorkloadWriter::find_mine(store::Store& store) const {
  State found;
  const std::string mine = "writer-" + std::to_string(number_) + "-";
  for (const std::string& table_name : workload_tables)
    for (item::Item& item : scan_everything(store, table_name)) {
      const std::string id = item.find("id")->as<std::string>();
      if (id.starts_with(mine) || id.starts_with("pair-" + mine)) found.emplace(Place{table_name, id}, std::move(item));
    }
  return found;
}

bool WorkloadWriter::matches(store::Store& store, std::size_t prefix) const {
  return find_mine(store) == state_after(prefix);
}

std::optional<std::size_t> WorkloadWriter::matching_prefix(store::Store& store, std::size_t least) const {
  const State found = find_mine(store);
  std::optional<std::size_t> matching;
  State state = state_after(least);
  for (std::size_t prefix = least; prefix <= writes_.size(); ++prefix) {
    if (prefix > least) apply(writes_[prefix - 1], state);
    if (state == found) matching = prefix;
  }
  return matching;
}

void WorkloadWriter::settle(std::size_t prefix) {
  CHECK(prefix <= writes_.size());
  settled_ = state_after(prefix);
  latest_ = settled_;
  writes_.clear();
  acknowledged_ = 0;
  error_.reset();
}

}  // namespace postino::engine
