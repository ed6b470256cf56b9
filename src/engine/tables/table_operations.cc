#include "engine/tables/table_operations.h"

#include "engine/rules/create_table_rules.h"
#include "engine/tables/busy_table_rules.h"
#include "engine/tables/kept_image.h"
#include "engine/tables/table_creation.h"
#include "engine/tables/table_definition.h"
#include "engine/tables/table_description.h"
#include "engine/tables/table_transition.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

constexpr int max_listed_tables = 100;

store::Answer<void> check_not_protected(const Table& table) {
  if (!table.deletion_protection) return {};
  return store::refuse_invalid(
      "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.");
}

store::Answer<void> check_list(const store::ListTablesRequest& request) {
  store::Constraints constraints;
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
  if (const auto existing = before->tables.find(request.table_name); existing != before->tables.end())
    return base::propagate(in_the_way(*existing->second));
  TRY_VOID(check_room_for_table(*before));
  const base::TimePoint now = core_.now();
  Table table = make_table(request, core_.options, now);
  if (core_.options.realistic_timing) table.transition = begin_creation(now);
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    commit_creation(core_, request.stream, table, state, entry);
    return {};
  }));
  return describe_creation(core_, table);
}

store::Answer<store::TableDescription> TableOperations::describe(const std::string& table_name) {
  TRY_VOID(store::check_table_name(table_name));
  const TablePointer table = core_.catalog->find(table_name);
  if (!table) return base::propagate(no_such_table(table_name));
  return describe_table(core_, *table);
}

store::Answer<store::TableDescription> TableOperations::remove(const std::string& table_name) {
  TRY_VOID(store::check_table_name(table_name));
  std::lock_guard control(core_.control_mutex);
  const TablePointer table = core_.catalog->find(table_name);
  if (!table) return base::propagate(no_such_table(table_name));
  TRY_VOID(check_not_protected(*table));
  TRY_VOID(check_may_delete(*table));
  TRY_VOID(check_not_restored_from(*core_.catalog->state(), *table));
  if (kept_after_deletion(core_, *table)) TRY_VOID(check_room_for_backup(*core_.catalog->state()));
  store::TableDescription description = describe_deletion(core_, *table);
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    if (core_.options.realistic_timing) {
      Table last = *table;
      last.transition = begin_deletion(core_.now());
      put_table(state, entry, std::move(last));
    } else {
      erase_table(core_, *table, state, entry);
    }
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
