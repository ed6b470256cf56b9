#include "outbox/store_ledger/store_tables.h"

#include <algorithm>

#include "store/retry.h"
#include "store/table_setup.h"

namespace postino::outbox {

namespace {

using item::Type;
using store::CreateTableRequest;
using store::KeyRole;
using store::KeySchema;

struct KeyColumn {
  std::string name;
  Type type;
};

store::GlobalIndexDefinition index(std::string_view name, const std::string& hash, const std::string& range,
                                   const std::vector<std::string>& included) {
  store::GlobalIndexDefinition definition;
  definition.name = std::string(name);
  definition.key_schema = {{hash, KeyRole::hash}};
  if (!range.empty()) definition.key_schema.push_back({range, KeyRole::range});
  definition.projection.type = included.empty() ? store::ProjectionType::keys_only : store::ProjectionType::include;
  if (!included.empty()) definition.projection.non_key_attributes = included;
  return definition;
}

CreateTableRequest table(std::string name, const std::vector<KeyColumn>& keys) {
  CreateTableRequest request;
  request.table_name = std::move(name);
  request.billing_mode = store::BillingMode::pay_per_request;
  request.deletion_protection = true;
  for (const KeyColumn& key : keys) {
    request.attribute_definitions.push_back({key.name, key.type});
    request.key_schema.push_back({key.name, request.key_schema.empty() ? KeyRole::hash : KeyRole::range});
  }
  return request;
}

CreateTableRequest emails_table(const StoreTables& tables) {
  CreateTableRequest request = table(tables.emails, {{"Id", Type::string}, {"Status", Type::string}});
  for (const KeyColumn& column : std::vector<KeyColumn>{{"Queue", Type::string},
                                                        {"DueAt", Type::number},
                                                        {"Listing", Type::string},
                                                        {"ListedAt", Type::string},
                                                        {"TenantListing", Type::string}})
    request.attribute_definitions.push_back({column.name, column.type});
  request.global_indexes = {index(work_index, "Queue", "DueAt", {}), index(list_index, "Listing", "ListedAt", {}),
                            index(tenant_index, "TenantListing", "ListedAt", {})};
  if (tables.has_status_index)
    request.global_indexes->insert(request.global_indexes->begin(), index(status_index, "Status", "", {"Attributes"}));
  return request;
}

CreateTableRequest mailbox_table(const StoreTables& tables) {
  return table(tables.mailbox(), {{"Mailbox", Type::string}, {"Received", Type::string}});
}

CreateTableRequest counts_table(const StoreTables& tables) {
  return table(tables.counts(), {{"Tenant", Type::string}, {"Slice", Type::string}});
}

std::vector<CreateTableRequest> all_tables(const StoreTables& tables) {
  return {emails_table(tables),  table(tables.spool(), {{"SpoolPath", Type::string}, {"Part", Type::number}}),
          counts_table(tables),  table(tables.suppressions(), {{"Shelf", Type::string}, {"Address", Type::string}}),
          mailbox_table(tables), table(tables.accept_keys(), {{"pk", Type::string}})};
}

// Queries that name no sort key work with any that all items have: the keys of the table.
bool serves_as(const store::KeySchema& found, const CreateTableRequest& table, const store::KeySchema& wanted) {
  if (found == wanted) return true;
  if (wanted.size() != 1 || found.size() != 2 || found.front() != wanted.front()) return false;
  return std::ranges::find(table.key_schema, found.back().name, &store::KeyElement::name) != table.key_schema.end();
}

base::Result<void> check_table(const CreateTableRequest& wanted, const store::TableDescription& found) {
  if (found.key_schema != wanted.key_schema)
    return base::invalid("table " + wanted.table_name + " exists with other keys than the outbox needs");
  if (!wanted.global_indexes) return {};
  for (const store::GlobalIndexDefinition& definition : *wanted.global_indexes) {
    const auto index = std::ranges::find(found.global_indexes, definition.name, &store::IndexDescription::name);
    if (index != found.global_indexes.end() && !serves_as(index->key_schema, wanted, definition.key_schema))
      return base::invalid("table " + wanted.table_name + " exists, and its index " + definition.name +
                           " has other keys than the outbox needs");
  }
  return {};
}

// Returns when the table has all indexes, and they are filled.
base::Result<store::TableDescription> complete_table(store::Store& store, const CreateTableRequest& wanted,
                                                     const std::function<bool()>& wait) {
  while (true) {
    auto found = store.describe_table(wanted.table_name);
    if (!found) return base::propagate(store::as_error(found.error()));
    TRY_VOID(check_table(wanted, *found));
    if (!store::is_changing(*found)) {
      TRY(const bool added, store::add_missing_index(store, wanted, *found));
      if (!added) return *std::move(found);
    } else if (!wait()) {
      return base::fail(base::ErrorCode::conflict, "table " + wanted.table_name + " is still being changed");
    }
  }
}

base::Result<void> prepare(store::Store& store, const CreateTableRequest& request, const std::string& expiry,
                           const std::function<bool()>& wait) {
  const auto there = store.describe_table(request.table_name);
  bool is_there = there.has_value();
  if (!there && there.error().type != store::ErrorType::resource_not_found)
    return base::propagate(store::as_error(there.error()));
  if (!is_there) {
    const auto created = store.create_table(request);
    is_there = !created && created.error().type == store::ErrorType::resource_in_use;  // another process was faster
    if (!created && !is_there) return base::propagate(store::as_error(created.error()));
  }
  if (is_there) {
    TRY(const store::TableDescription found, complete_table(store, request, wait));
    store::protect_table(store, found);
  } else {
    TRY_VOID(store::await_table(store, request.table_name, {}, true));
  }
  if (expiry.empty()) return {};
  const auto expiring = store.describe_time_to_live(request.table_name);
  if (!expiring) return base::propagate(store::as_error(expiring.error()));
  if (expiring->status != store::TimeToLiveStatus::disabled) return {};
  const auto enabled = store.update_time_to_live(request.table_name, {expiry, true});
  if (!enabled) return base::propagate(store::as_error(enabled.error()));
  return {};
}

}  // namespace

std::vector<store::TableSetup> table_setups(const StoreTables& tables, bool is_shared) {
  std::vector<store::TableSetup> setups;
  for (CreateTableRequest request : all_tables(tables)) {
    const bool of_keys = request.table_name == tables.accept_keys();
    const bool of_counts = request.table_name == tables.counts();
    setups.push_back({std::move(request), of_keys ? "ttl" : of_counts && is_shared ? "" : "TTL"});
  }
  return setups;
}

base::Result<void> prepare_tables(store::Store& store, const StoreTables& tables, const std::function<bool()>& wait) {
  for (const store::TableSetup& setup : table_setups(tables, store.is_shared()))
    TRY_VOID(prepare(store, setup.request, setup.expiry, wait));
  return {};
}

base::Result<void> prepare_mailbox(store::Store& store, const StoreTables& tables) {
  return prepare(store, mailbox_table(tables), "TTL", [] { return false; });
}

base::Result<void> prepare_counts(store::Store& store, const StoreTables& tables) {
  return prepare(store, counts_table(tables), store.is_shared() ? "" : "TTL", [] { return false; });
}

std::vector<std::string> missing_indexes(store::Store& store, const StoreTables& tables) {
  const CreateTableRequest wanted = emails_table(tables);
  const auto found = store.describe_table(tables.emails);
  std::vector<std::string> missing;
  if (!found || !wanted.global_indexes) return missing;
  for (const store::GlobalIndexDefinition& definition : *wanted.global_indexes)
    if (std::ranges::find(found->global_indexes, definition.name, &store::IndexDescription::name) ==
        found->global_indexes.end())
      missing.push_back("table " + tables.emails + " has no index " + definition.name);
  return missing;
}

}  // namespace postino::outbox
