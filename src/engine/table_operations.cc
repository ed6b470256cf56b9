#include "engine/table_operations.h"

#include <algorithm>

#include "engine/constraints.h"
#include "engine/create_table_rules.h"
#include "engine/stream_lifecycle.h"
#include "engine/table_definition.h"
#include "engine/table_description.h"

namespace postino::engine {

namespace {

constexpr std::size_t max_tables = 2'500;
constexpr int max_listed_tables = 100;

store::Answer<void> commit_creation(Core& core, const store::CreateTableRequest& request, Table& table,
                                    CatalogState& state, CommitEntry& entry) {
  table.id = core.catalog->take_id(entry);
  for (Index& index : table.indexes) index.id = core.catalog->take_id(entry);
  if (request.stream && request.stream->enabled) open_stream(core, state, entry, table, *request.stream->view_type);
  put_table(entry, table);
  state.tables.emplace(table.name, std::make_shared<const Table>(table));
  return {};
}

// What CreateTable answers: a table that is being made, without what DynamoDB knows only later.
store::TableDescription describe_creation(const Core& core, const Table& table) {
  store::TableDescription description = describe_table(core, table);
  description.status = store::TableStatus::creating;
  description.warm.reset();
  description.last_switch_to_pay_per_request.reset();
  for (store::IndexDescription& index : description.global_indexes) {
    index.status = store::IndexStatus::creating;
    index.warm.reset();
  }
  return description;
}

store::Answer<void> check_deletable(const Table& table) {
  if (table.deletion_protection)
    return store::refuse_invalid(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.");
  if (!std::ranges::all_of(table.indexes, &Index::ready))
    return store::refuse(store::ErrorType::resource_in_use,
                         "Attempt to change a resource which is still in use: Cannot delete table while indexes are "
                         "being created, updated, or deleted.");
  return {};
}

store::Answer<void> check_list(const store::ListTablesRequest& request) {
  Constraints constraints;
  if (request.exclusive_start_table_name)
    constraints.check_name("exclusiveStartTableName", *request.exclusive_start_table_name);
  if (request.limit) {
    constraints.check_at_least("limit", *request.limit, 1);
    constraints.check_at_most("limit", *request.limit, max_listed_tables);
  }
  return constraints.outcome();
}

}  // namespace

store::Answer<store::TableDescription> TableOperations::create(const store::CreateTableRequest& request) {
  TRY_VOID(check_create_table(request));
  std::lock_guard control(core_.control_mutex);
  const CatalogStatePointer before = core_.catalog->state();
  if (before->tables.contains(request.table_name))
    return store::refuse(store::ErrorType::resource_in_use, "Table already exists: " + request.table_name);
  if (before->tables.size() >= max_tables)
    return store::refuse(store::ErrorType::limit_exceeded,
                         "Subscriber limit exceeded: There is a limit of 2500 tables per subscriber");
  Table table = make_table(request, core_.options, core_.now());
  TRY_VOID(core_.change_catalog(
      [&](CatalogState& state, CommitEntry& entry) { return commit_creation(core_, request, table, state, entry); }));
  return describe_creation(core_, table);
}

store::Answer<store::TableDescription> TableOperations::describe(const std::string& table_name) {
  TRY_VOID(check_table_name(table_name));
  const TablePointer table = core_.catalog->find(table_name);
  if (!table) return base::propagate(no_such_table(table_name));
  return describe_table(core_, *table);
}

store::Answer<store::TableDescription> TableOperations::remove(const std::string& table_name) {
  TRY_VOID(check_table_name(table_name));
  std::lock_guard control(core_.control_mutex);
  const TablePointer table = core_.catalog->find(table_name);
  if (!table) return base::propagate(no_such_table(table_name));
  TRY_VOID(check_deletable(*table));
  store::TableDescription description = describe_table(core_, *table);
  description.status = store::TableStatus::deleting;
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    Table last = *table;
    if (last.stream) close_stream(core_, state, entry, last);
    remove_table(entry, last);
    state.tables.erase(last.name);
    return {};
  }));
  return description;
}

store::Answer<store::ListTablesResponse> TableOperations::list(const store::ListTablesRequest& request) {
  TRY_VOID(check_list(request));
  const auto limit = static_cast<std::size_t>(request.limit.value_or(max_listed_tables));
  const CatalogStatePointer state = core_.catalog->state();
  auto next = request.exclusive_start_table_name ? state->tables.upper_bound(*request.exclusive_start_table_name)
                                                 : state->tables.begin();
  store::ListTablesResponse response;
  for (; next != state->tables.end() && response.table_names.size() < limit; ++next)
    response.table_names.push_back(next->first);
  if (next != state->tables.end()) response.last_evaluated_table_name = response.table_names.back();
  return response;
}

}  // namespace postino::engine
