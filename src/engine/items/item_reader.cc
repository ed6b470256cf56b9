#include "engine/items/item_reader.h"

#include <algorithm>
#include <set>

#include "engine/catalog/item_keys.h"
#include "engine/items/cancellation.h"
#include "engine/items/capacity_units.h"
#include "engine/items/consumption.h"
#include "engine/items/key_rules.h"
#include "engine/items/parsed_expression.h"
#include "engine/items/traffic.h"
#include "item/size.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

using store::refuse_invalid;

// The projection of any of the read requests, bound to its names.
store::Answer<std::optional<expr::BoundProjection>> bind_projection(
    const std::optional<store::ProjectionExpression>& projection, const expr::Placeholders& placeholders) {
  expr::Binder binder(placeholders);
  TRY_VOID(binder.check_maps(projection.has_value(), "ProjectionExpression is null"));
  std::optional<expr::BoundProjection> bound;
  if (projection) {
    TRY(const expr::Projection parsed_projection, parsed(*projection));
    TRY(bound, binder.bind(parsed_projection));
  }
  TRY_VOID(binder.check_all_used());
  return bound;
}

base::Result<std::optional<MeasuredItem>> read(const Core& core, const std::string& key,
                                               const rocksdb::Snapshot* snapshot = nullptr) {
  TRY(const auto bytes, core.database->get(Family::items, key, snapshot));
  if (!bytes) return std::nullopt;
  TRY(MeasuredItem item, read_item(bytes->ToStringView()));
  return std::optional<MeasuredItem>(std::move(item));
}

// One item of what a request reads; false when its allowance does not reach that far.
bool allowed(store::ReadAllowance* allowance, std::size_t bytes) {
  return allowance == nullptr || allowance->take(1, bytes);
}

item::Item shown(MeasuredItem item, const std::optional<expr::BoundProjection>& projection) {
  return projection ? projection->project(item.item) : std::move(item.item);
}

struct BatchTable {
  const store::BatchGetTable* request = nullptr;
  std::optional<expr::BoundProjection> projection;
  TablePointer table;
  std::vector<std::string> keys;
};

store::Answer<void> check_batch_get(const store::BatchGetItemRequest& request) {
  std::size_t count = 0;
  for (const store::BatchGetTable& table : request.tables) {
    store::Constraints constraints;
    constraints.check_count("RequestItems." + table.table_name + ".member.Keys", table.keys.size(), 1,
                            store::max_batch_get_keys);
    TRY_VOID(constraints.outcome());
    count += table.keys.size();
  }
  if (count == 0) return refuse_invalid("The requestItems parameter is required for BatchGetItem");
  if (count > store::max_batch_get_keys) return refuse_invalid("Too many items requested for the BatchGetItem call");
  return {};
}

store::Answer<BatchTable> prepare_table(const store::BatchGetTable& request) {
  BatchTable table;
  table.request = &request;
  for (const item::Key& key : request.keys) TRY_VOID(check_attributes(key));
  TRY(table.projection, bind_projection(request.projection, request.placeholders));
  return table;
}

bool has_equal_keys(const std::vector<item::Key>& keys) {
  for (auto key = keys.begin(); key != keys.end(); ++key)
    if (std::find(keys.begin(), key, *key) != key) return true;
  return false;
}

store::Answer<void> locate_keys(const Core& core, BatchTable& table) {
  table.table = core.find_table(table.request->table_name);
  if (!table.table) return base::propagate(no_such_table());
  if (table.projection) TRY_VOID(check_scalar_keys(*table.table, table.projection->nested_attributes()));
  std::set<std::string_view> distinct;
  table.keys.reserve(table.request->keys.size());
  for (const item::Key& key : table.request->keys) {
    TRY_VOID(check_key(*table.table, key));
    table.keys.push_back(item_key(*table.table, key));
    if (!distinct.insert(table.keys.back()).second) return refuse_invalid(std::string(duplicate_keys));
  }
  return {};
}

// DynamoDB looks for duplicates before it looks for tables; that costs nothing where all is well.
store::Answer<void> locate_all_keys(const Core& core, std::vector<BatchTable>& tables) {
  for (BatchTable& table : tables) {
    auto located = locate_keys(core, table);
    if (located) continue;
    const auto has_duplicates = [](const BatchTable& each) { return has_equal_keys(each.request->keys); };
    if (std::ranges::any_of(tables, has_duplicates)) return refuse_invalid(std::string(duplicate_keys));
    return located;
  }
  return {};
}

store::Answer<void> check_get(const Table& table, const item::Key& key,
                              const std::optional<expr::BoundProjection>& projection) {
  TRY_VOID(check_key(table, key));
  return projection ? check_scalar_keys(table, projection->nested_attributes()) : store::Answer<void>();
}

// What is left over when the answer is full: the same request with the keys not read yet.
store::BatchGetTable unread_part(const store::BatchGetTable& request, std::size_t first) {
  store::BatchGetTable rest = request;
  rest.keys.erase(rest.keys.begin(), rest.keys.begin() + static_cast<std::ptrdiff_t>(first));
  return rest;
}

}  // namespace

store::Answer<store::GetItemResponse> ItemReader::get(const store::GetItemRequest& request) const {
  TRY_VOID(check_attributes(request.key));
  TRY(const auto projection, bind_projection(request.projection, request.placeholders));
  const TablePointer table = core_.find_table(request.table_name);
  if (!table) return base::propagate(no_such_table());
  TRY_VOID(check_get(*table, request.key, projection));
  const std::string key = item_key(*table, request.key);
  TRY_VOID(admit(core_, *table, nullptr, Access::read, key));
  TRY(std::optional<MeasuredItem> item, read(core_, key));
  store::GetItemResponse response;
  Consumption consumption(core_, request.return_consumed_capacity, Access::read, request.allowance);
  const double units = read_units(item ? item->size : 0, request.consistent_read);
  consumption.add_table(*table, units);
  if (!allowed(request.allowance, item ? item->size : 0)) return store::read_given_up();
  count_read(core_, *table, nullptr, key, units);
  take_partition_read(core_, *table, nullptr, key, units);
  if (item) response.item = shown(std::move(*item), projection);
  response.consumed_capacity = std::move(consumption).one();
  return response;
}

store::Answer<store::BatchGetItemResponse> ItemReader::get_batch(const store::BatchGetItemRequest& request) const {
  TRY_VOID(check_batch_get(request));
  std::vector<BatchTable> tables;
  for (const store::BatchGetTable& table : request.tables) {
    TRY(BatchTable prepared, prepare_table(table));
    tables.push_back(std::move(prepared));
  }
  TRY_VOID(locate_all_keys(core_, tables));

  store::BatchGetItemResponse response;
  Consumption consumption(core_, request.return_consumed_capacity, Access::read, request.allowance);
  std::size_t bytes = 0;
  bool any_read = false;
  store::Answer<void> admitted;
  for (const BatchTable& table : tables) {
    response.tables.push_back({table.request->table_name, {}});
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      const bool full = bytes >= store::max_batch_get_bytes;
      if (!full) admitted = admit(core_, *table.table, nullptr, Access::read, table.keys[i]);
      if (full || !admitted) {
        response.unprocessed.push_back(unread_part(*table.request, i));
        break;
      }
      any_read = true;
      TRY(std::optional<MeasuredItem> item, read(core_, table.keys[i]));
      const std::size_t size = item ? item->size : 0;
      bytes += size;
      const double units = read_units(size, table.request->consistent_read);
      consumption.add_table(*table.table, units);
      if (!allowed(request.allowance, size)) return store::read_given_up();
      count_read(core_, *table.table, nullptr, table.keys[i], units);
      take_partition_read(core_, *table.table, nullptr, table.keys[i], units);
      if (item) response.tables.back().items.push_back(shown(std::move(*item), table.projection));
    }
  }
  if (!any_read) TRY_VOID(admitted);  // to be told so is all that a wholly throttled batch gets
  response.consumed_capacity = std::move(consumption).all();
  return response;
}

store::Answer<store::TransactGetItemsResponse> ItemReader::get_transaction(
    const store::TransactGetItemsRequest& request) const {
  store::Constraints constraints;
  constraints.check_count("transactItems", request.gets.size(), 1, store::max_transaction_actions);
  TRY_VOID(constraints.outcome());
  std::vector<std::optional<expr::BoundProjection>> projections;
  for (const store::TransactGet& get : request.gets) {
    TRY_VOID(check_attributes(get.key));
    TRY(auto projection, bind_projection(get.projection, get.placeholders));
    projections.push_back(std::move(projection));
  }
  Cancellation cancellation(request.gets.size());
  std::vector<std::string> keys;
  std::vector<TablePointer> tables;
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < request.gets.size(); ++i) {
    const TablePointer table = core_.find_table(request.gets[i].table_name);
    if (!table) return base::propagate(no_such_table());
    tables.push_back(table);
    if (auto checked = check_get(*table, request.gets[i].key, projections[i]); !checked) {
      cancellation.add(i, checked.error());
      continue;
    }
    keys.push_back(item_key(*table, request.gets[i].key));
    if (!distinct.insert(keys.back()).second)
      return refuse_invalid("Transaction request cannot include multiple operations on one item");
  }
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (auto admitted = admit(core_, *tables[i], nullptr, Access::read, keys[i]); !admitted)
      cancellation.add(i, admitted.error());
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());

  // Commits are atomic, so a snapshot is a point between transactions.
  const Snapshot snapshot(*core_.database);
  store::TransactGetItemsResponse response;
  Consumption consumption(core_, request.return_consumed_capacity, Access::read, request.allowance);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TRY(std::optional<MeasuredItem> item, read(core_, keys[i], snapshot.get()));
    const std::size_t size = item ? item->size : 0;
    bytes += size;
    if (bytes > store::max_transaction_bytes)
      return refuse_invalid("Transaction payload size cannot exceed 4MB. Payload Size: " + std::to_string(bytes));
    consumption.add_table(*tables[i], 2 * read_units(size, true));
    if (!allowed(request.allowance, size)) return store::read_given_up();
    count_read(core_, *tables[i], nullptr, keys[i], 2 * read_units(size, true));
    take_partition_read(core_, *tables[i], nullptr, keys[i], 2 * read_units(size, true));
    response.items.push_back(item ? std::optional<item::Item>(shown(std::move(*item), projections[i])) : std::nullopt);
  }
  consumption.mark_transactional_read();
  response.consumed_capacity = std::move(consumption).all();
  return response;
}

}  // namespace postino::engine
