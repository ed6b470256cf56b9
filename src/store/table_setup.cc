#include "store/table_setup.h"

#include <algorithm>

#include "base/log.h"
#include "base/this_thread.h"
#include "store/retry.h"

namespace postino::store {

namespace {

// The resource name of a table, and whether it has the tag.
struct ReadOnlyMark {
  std::string arn;
  bool is_set = false;
};

base::Result<ReadOnlyMark> mark_of(Store& store, const std::string& table) {
  const auto found = store.describe_table(table);
  if (!found) return base::propagate(as_error(found.error()));
  const auto tags = store.list_tags_of_resource(found->arn);
  if (!tags) return base::propagate(as_error(tags.error()));
  return ReadOnlyMark{found->arn, std::ranges::find(tags->tags, read_only_tag, &Tag::key) != tags->tags.end()};
}

}  // namespace

CreateTableRequest table_request(std::string name, const std::vector<AttributeDefinition>& keys) {
  CreateTableRequest request;
  request.table_name = std::move(name);
  request.attribute_definitions = keys;
  for (const AttributeDefinition& key : keys)
    request.key_schema.push_back({key.name, request.key_schema.empty() ? KeyRole::hash : KeyRole::range});
  request.billing_mode = BillingMode::pay_per_request;
  request.deletion_protection = true;
  return request;
}

base::Result<TableDescription> await_table(Store& store, const std::string& table, const TableWait& wait, bool is_new) {
  base::Milliseconds pause = wait.first;
  for (base::Milliseconds waited{0};;) {
    auto found = store.describe_table(table);
    const bool is_to_come = !found && is_new && found.error().type == ErrorType::resource_not_found;
    if (!found && !is_to_come) return base::propagate(as_error(found.error()));
    if (found && found->status == TableStatus::active) return *std::move(found);
    if (waited >= wait.patience)
      return base::fail(base::ErrorCode::conflict, "table " + table + " is still being made or changed");
    if (wait.sleep)
      wait.sleep(pause);
    else
      base::Pause().wait(pause);
    waited += pause;
    pause = std::min(2 * pause, wait.longest);
  }
}

base::Result<void> prepare_table(Store& store, const CreateTableRequest& request, const std::string& expiry,
                                 const TableWait& wait) {
  const auto there = store.describe_table(request.table_name);
  if (!there && there.error().type != ErrorType::resource_not_found) return base::propagate(as_error(there.error()));
  bool is_new = false;
  if (!there) {
    const auto created = store.create_table(request);
    is_new = created.has_value();
    // Another process may have been faster.
    if (!created && created.error().type != ErrorType::resource_in_use)
      return base::propagate(as_error(created.error()));
  }
  TRY(const TableDescription found, await_table(store, request.table_name, wait, is_new));
  if (found.key_schema != request.key_schema)
    return base::invalid("table " + request.table_name + " exists with other keys than are needed");
  if (!is_new && !found.deletion_protection) {
    protect_table(store, found);
    TRY_VOID(await_table(store, request.table_name, wait));
  }
  if (expiry.empty()) return {};
  const auto expiring = store.describe_time_to_live(request.table_name);
  if (!expiring) return base::propagate(as_error(expiring.error()));
  if (expiring->status != TimeToLiveStatus::disabled) return {};
  const auto enabled = store.update_time_to_live(request.table_name, {expiry, true});
  if (!enabled) return base::propagate(as_error(enabled.error()));
  return {};
}

base::Result<bool> add_missing_index(Store& store, const CreateTableRequest& wanted, const TableDescription& found) {
  if (!wanted.global_indexes) return false;
  for (GlobalIndexDefinition definition : *wanted.global_indexes) {
    if (std::ranges::find(found.global_indexes, definition.name, &IndexDescription::name) != found.global_indexes.end())
      continue;
    if (found.billing_mode == BillingMode::provisioned) definition.throughput = found.throughput.provisioned;
    UpdateTableRequest update;
    update.table_name = found.name;
    update.attribute_definitions = found.attribute_definitions;
    for (const KeyElement& key : definition.key_schema)
      if (std::ranges::find(found.attribute_definitions, key.name, &AttributeDefinition::name) ==
          found.attribute_definitions.end())
        update.attribute_definitions.push_back(
            *std::ranges::find(wanted.attribute_definitions, key.name, &AttributeDefinition::name));
    base::log_info("store", "adding an index that a table lacks", {{"table", found.name}, {"index", definition.name}});
    update.global_index_updates.emplace_back(CreateGlobalIndex{std::move(definition)});
    const auto updated = store.update_table(update);
    if (!updated) return base::propagate(as_error(updated.error()));
    return true;
  }
  return false;
}

bool is_changing(const TableDescription& table) {
  return table.status != TableStatus::active || std::ranges::any_of(table.global_indexes, [](const auto& index) {
           return index.status != IndexStatus::active;
         });
}

void protect_table(Store& store, const TableDescription& table) {
  if (table.deletion_protection) return;
  UpdateTableRequest request;
  request.table_name = table.name;
  request.deletion_protection = true;
  if (const auto updated = store.update_table(request); !updated)
    base::log_warning("store", "table not protected against deletion",
                      {{"table", table.name}, {"cause", updated.error().message}});
}

base::Result<void> mark_read_only(Store& store, const std::string& table, const std::string& why) {
  TRY(const ReadOnlyMark mark, mark_of(store, table));
  if (mark.is_set) return {};
  if (const auto set = store.tag_resource(mark.arn, {{std::string(read_only_tag), why}}); !set)
    return base::propagate(as_error(set.error()));
  return {};
}

base::Result<std::set<std::string>> read_only_tables(Store& store) {
  std::set<std::string> marked;
  ListTablesRequest request;
  do {
    const auto page = store.list_tables(request);
    if (!page) return base::propagate(as_error(page.error()));
    for (const std::string& table : page->table_names) {
      const auto mark = mark_of(store, table);
      if (!mark && mark.error().code == base::ErrorCode::not_found) continue;  // it was deleted meanwhile
      if (!mark) return base::propagate(mark.error());
      if (mark->is_set) marked.insert(table);
    }
    request.exclusive_start_table_name = page->last_evaluated_table_name;
  } while (request.exclusive_start_table_name);
  return marked;
}

}  // namespace postino::store
