// Which keys of a table are used most is counted for every table, and told as advice about its capacity. What is kept
// here is whether a caller has asked for it by the API, as tools that set up tables expect to read it back.
#include "engine/tables/busy_table_rules.h"
#include "engine/tables/resource_settings.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

store::InsightsDescription describe(const store::InsightsTarget& target, const std::optional<Insights>& insights) {
  store::InsightsDescription description;
  description.target = target;
  if (!insights) return description;
  description.enabled = insights->enabled;
  description.mode = insights->mode;
  description.changed = insights->changed;
  return description;
}

store::Error no_such_index(const store::InsightsTarget& target) {
  return {store::ErrorType::resource_not_found, "Requested resource not found: Table: " + target.table_name +
                                                    ", Index: " + *target.index_name + " not found"};
}

// Where the table keeps them. Local indexes have none of their own.
template <class AnyTable>
auto* insights_of(AnyTable& table, const store::InsightsTarget& target) {
  if (!target.index_name) return &table.insights;
  auto* const index = table.find_index(*target.index_name);
  return index != nullptr && index->global ? &index->insights : nullptr;
}

store::Answer<void> check_target(const store::InsightsTarget& target) {
  store::Constraints constraints;
  constraints.check_name("tableName", target.table_name);
  if (target.index_name) constraints.check_name("indexName", *target.index_name);
  return constraints.outcome();
}

}  // namespace

store::Answer<store::InsightsDescription> ResourceSettings::describe_insights(const store::InsightsTarget& target) {
  TRY_VOID(check_target(target));
  const TablePointer table = core_.catalog->find(target.table_name);
  if (!table) return base::propagate(no_such_table(target.table_name));
  const auto* insights = insights_of(*table, target);
  if (insights == nullptr) return base::propagate(no_such_index(target));
  return describe(target, *insights);
}

store::Answer<store::InsightsDescription> ResourceSettings::update_insights(const store::InsightsTarget& target,
                                                                            bool enabled,
                                                                            std::optional<store::InsightsMode> mode) {
  TRY_VOID(check_target(target));
  std::lock_guard control(core_.control_mutex);
  const TablePointer before = core_.catalog->find(target.table_name);
  if (!before) return base::propagate(no_such_table(target.table_name));
  TRY_VOID(check_may_change_settings(*before));
  Table after = *before;
  auto* const insights = insights_of(after, target);
  if (insights == nullptr) return base::propagate(no_such_index(target));
  if (!*insights) insights->emplace();
  (*insights)->enabled = enabled;
  if (mode) (*insights)->mode = *mode;
  (*insights)->changed = core_.now();
  store::InsightsDescription description = describe(target, *insights);
  TRY_VOID(core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    put_table(state, entry, std::move(after));
    return {};
  }));
  return description;
}

store::Answer<std::vector<store::InsightsDescription>> ResourceSettings::list_insights(
    const std::optional<std::string>& table_name) {
  if (table_name) TRY_VOID(store::check_table_name(*table_name));
  const CatalogStatePointer state = core_.catalog->state();
  if (table_name && !state->tables.contains(*table_name)) return base::propagate(no_such_table(*table_name));
  std::vector<store::InsightsDescription> all;
  for (const auto& [name, table] : state->tables) {
    if (table_name && name != *table_name) continue;
    if (table->insights) all.push_back(describe({name, std::nullopt}, table->insights));
    for (const Index& index : table->indexes)
      if (index.insights) all.push_back(describe({name, index.name}, index.insights));
  }
  return all;
}

}  // namespace postino::engine
