#include "support/ticket_store.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "item/attribute_text.h"
#include "item/fields.h"
#include "objects/large_attributes.h"
#include "store/table_setup.h"
#include "support/field_rules.h"

namespace postino::support {

namespace {

store::GlobalIndexDefinition index_of(std::string_view name, std::string_view hash, std::string_view range,
                                      std::vector<std::string> included) {
  store::GlobalIndexDefinition index;
  index.name = std::string(name);
  index.key_schema = {{std::string(hash), store::KeyRole::hash}, {std::string(range), store::KeyRole::range}};
  index.projection.type = included.empty() ? store::ProjectionType::all : store::ProjectionType::include;
  if (!included.empty()) index.projection.non_key_attributes = std::move(included);
  return index;
}

}  // namespace

store::CreateTableRequest tickets_table(const SupportTables& tables) {
  using item::Type;
  store::CreateTableRequest request =
      store::table_request(tables.tickets, {{"PK", Type::string}, {"SK", Type::string}});
  for (const char* const name :
       {"GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK", "escalated_at", "assigned_to"})
    request.attribute_definitions.push_back({name, Type::string});
  // The former system's own query reads `data` from the index of operators, although its index has no such attribute.
  request.global_indexes = {
      index_of(customer_index, "GSI1PK", "GSI1SK", {}), index_of(status_index, "GSI2PK", "GSI2SK", {}),
      index_of(operator_index, "GSI3PK", "GSI3SK", {"ticket_id", "rating", "was_helpful", "data"}),
      index_of(escalated_index, "escalated_at", "assigned_to",
               {"ticket_id", "priority", "customer_id", "escalation_reason"})};
  request.stream = store::StreamSpecification{.enabled = true, .view_type = store::StreamViewType::new_and_old_images};
  request.tags = {{"Environment", "production"}, {"Application", "ai-technical-support"}};
  return request;
}

store::TableSetup ticket_table_setup(const SupportTables& tables) {
  return {tickets_table(tables), std::string(ttl_attribute), true};
}

TicketStore::TicketStore(store::Store& store, SupportTables tables, const base::Clock& clock, base::Random& random,
                         store::Retry retry)
    : store_(store),
      tables_(std::move(tables)),
      clock_(clock),
      random_(random),
      retry_(std::move(retry)),
      shards_(store_, {tables_.tickets, Keys::shards()}, tables_.shards.count, tables_.shards.ever, retry_) {}

base::Result<void> TicketStore::prepare(const std::function<bool()>& wait) {
  const store::TableSetup wanted = ticket_table_setup(tables_);
  TRY_VOID(store::prepare_table(store_, wanted.request, wanted.expiry));
  TRY_VOID(complete(wanted.request, wait));
  const auto backups = store_.describe_continuous_backups(tables_.tickets);
  if (!backups || !backups->enabled)
    if (const auto enabled =
            store_.update_continuous_backups(tables_.tickets, {.enabled = true, .recovery_period_days = {}});
        !enabled)
      base::log_warning("support", "point-in-time recovery is not on",
                        {{"table", tables_.tickets}, {"cause", enabled.error().message}});
  TRY_VOID(shards_.look());
  tables_.shards.ever = shards_.most();  // for those who are given the tables
  return {};
}

base::Result<void> TicketStore::complete(const store::CreateTableRequest& wanted, const std::function<bool()>& wait) {
  while (true) {
    const auto found = store_.describe_table(tables_.tickets);
    if (!found) return base::propagate(store::as_error(found.error()));
    if (store::is_changing(*found)) {
      if (!wait || !wait())
        return base::fail(base::ErrorCode::conflict, "table " + tables_.tickets + " is still being changed");
      continue;
    }
    TRY(const bool added, store::add_missing_index(store_, wanted, *found));
    if (added) continue;
    if (found->stream) return {};
    store::UpdateTableRequest update;
    update.table_name = tables_.tickets;
    update.stream = wanted.stream;
    const auto updated = store_.update_table(update);
    if (!updated) return base::propagate(store::as_error(updated.error()));
  }
}

OrRefusal<std::optional<item::Item>> TicketStore::get(const item::Key& key) {
  store::GetItemRequest request;
  request.table_name = tables_.tickets;
  request.key = key;
  request.consistent_read = true;
  auto answer = retry_([&] { return store_.get_item(request); });
  if (!answer) return base::propagate(refusal_of_read(answer.error()));
  return std::move(answer->item);
}

OrRefusal<std::vector<std::string>> TicketStore::moved_attributes(const item::Key& key) {
  store::GetItemRequest request;
  request.table_name = tables_.tickets;
  request.key = key;
  request.consistent_read = true;
  request.projection = std::string(objects::large_data_names);
  const auto answer = retry_([&] { return store_.get_item(request); });
  if (!answer) return base::propagate(refusal_of_read(answer.error()));
  const item::AttributeValue* const names = answer->item ? answer->item->find(objects::large_data_names) : nullptr;
  const auto* const set = names != nullptr ? names->get_if<item::StringSet>() : nullptr;
  if (set == nullptr) return std::vector<std::string>();
  return std::vector<std::string>(set->members().begin(), set->members().end());
}

OrRefusal<std::vector<item::Item>> TicketStore::get_many(const std::vector<item::Key>& keys) {
  std::vector<item::Item> items;
  for (std::size_t begin = 0; begin < keys.size(); begin += store::max_batch_get_keys) {
    store::BatchGetTable table;
    table.table_name = tables_.tickets;
    table.consistent_read = true;
    const std::size_t end = std::min(keys.size(), begin + store::max_batch_get_keys);
    for (std::size_t i = begin; i < end; ++i) table.keys.push_back(keys[i]);
    store::BatchGetItemRequest request;
    request.tables.push_back(std::move(table));
    while (!request.tables.empty()) {
      auto answer = retry_([&] { return store_.batch_get_item(request); });
      if (!answer) return base::propagate(refusal_of_read(answer.error()));
      for (auto& found : answer->tables) std::ranges::move(found.items, std::back_inserter(items));
      request.tables = std::move(answer->unprocessed);
    }
  }
  return items;
}

OrRefusal<store::PageResponse> TicketStore::query(const store::QueryRequest& request) {
  auto answer = retry_([&] { return store_.query(request); });
  if (!answer) return base::propagate(refusal_of_read(answer.error()));
  return *std::move(answer);
}

OrRefusal<Page<item::Item>> TicketStore::list(store::MergedListing listing, const PageRequest& page, int usual,
                                              const Scope& scope) {
  TRY(const int limit, page_limit(page.limit, usual));
  listing.table = tables_.tickets;
  // Lengths before names, so that no two lists have the same one.
  const std::string customer = scope.customer_id.value_or("");
  listing.name = std::to_string(scope.tenant.size()) + ":" + scope.tenant + (scope.customer_id ? "+" : "-") +
                 std::to_string(customer.size()) + ":" + customer + "/" + listing.name;
  // A cursor counts the ranges of its list: with other shards it means others.
  if (shards_.most() > 1) listing.name += "/" + std::to_string(listing.ranges.size());
  auto found = store::read_merged(store_, retry_, listing, page.cursor, limit);
  if (!found) return base::propagate(refusal_of_read(found.error()));
  if (!*found) return refuse_field("cursor", "must be the cursor of an earlier response, with the same parameters");
  return Page<item::Item>{std::move((*found)->entries), std::move((*found)->cursor)};
}

OrRefusal<StoredTicket> TicketStore::find(const std::string& id, const Scope& scope) {
  TRY(StoredTicket stored, find_readable(id, scope));
  if (stored.fault.empty()) return stored;
  // Where its attributes are is not for customers.
  return refuse(RefusalKind::corrupt,
                scope.customer_id ? "the ticket " + id + " cannot be read in full now" : stored.fault);
}

OrRefusal<StoredTicket> TicketStore::find_readable(const std::string& id, const Scope& scope) {
  if (id.empty() || id.size() > TicketLimits::id_bytes) return refuse_unknown(id);
  const Keys keys = this->keys(scope);
  TRY(std::optional<item::Item> item, get(Keys::key(keys.ticket(id), metadata_sort)));
  if (!item) return refuse_unknown(id);
  auto stored = read_ticket(keys, *std::move(item));
  if (!stored) {
    // Whose it is cannot be known.
    if (scope.customer_id) return refuse_unknown(id);
    return base::propagate(refusal_of(stored.error()));
  }
  if (!scope.covers(stored->ticket.customer.id)) return refuse_unknown(id);
  return *std::move(stored);
}

OrRefusal<std::vector<StoredTicket>> TicketStore::find_many(const std::vector<std::string>& ids, const Scope& scope,
                                                            int* unreadable) {
  const Keys keys = this->keys(scope);
  std::vector<item::Key> wanted;
  std::map<std::string, StoredTicket> found;
  for (const std::string& id : ids)
    if (!id.empty() && id.size() <= TicketLimits::id_bytes && found.try_emplace(id).second)
      wanted.push_back(Keys::key(keys.ticket(id), metadata_sort));
  found.clear();
  TRY(std::vector<item::Item> items, get_many(wanted));
  for (item::Item& item : items) {
    auto stored = read_ticket(keys, std::move(item));
    if (!stored) {
      base::log_warning("support", "a ticket cannot be read", {{"cause", stored.error().message}});
      if (unreadable != nullptr && !scope.customer_id) ++*unreadable;
    } else if (scope.covers(stored->ticket.customer.id)) {
      std::string id = stored->ticket.id;
      found.emplace(std::move(id), *std::move(stored));
    }
  }
  std::vector<StoredTicket> tickets;
  for (const std::string& id : ids)
    if (auto each = found.extract(id); !each.empty()) tickets.push_back(std::move(each.mapped()));
  return tickets;
}

std::optional<Ticket> TicketStore::visible(item::Item item, const Scope& scope, int& unreadable) const {
  auto stored = read_ticket(keys(scope), std::move(item));
  if (!stored) {
    // What another program wrote wrong hides no others.
    base::log_warning("support", "a ticket is left out of a list", {{"cause", stored.error().message}});
    if (!scope.customer_id) ++unreadable;
    return std::nullopt;
  }
  if (!scope.covers(stored->ticket.customer.id)) return std::nullopt;
  return std::move(stored->ticket);
}

OrRefusal<void> TicketStore::write(const std::vector<store::TransactAction>& actions,
                                   std::vector<std::size_t>* failed) {
  store::TransactWriteItemsRequest request;
  request.actions = actions;
  const auto answer = retry_.transact(store_, request);
  if (answer) return {};
  if (failed != nullptr) *failed = failed_conditions(answer.error());
  return base::propagate(refusal_of(answer.error()));
}

store::TransactPut TicketStore::put(item::Item item, std::optional<std::string> condition) const {
  store::TransactPut put;
  put.table_name = tables_.tickets;
  put.item = std::move(item);
  if (condition) put.condition.emplace(*std::move(condition));
  return put;
}

store::TransactDelete TicketStore::removal(item::Key key) const {
  store::TransactDelete removal;
  removal.table_name = tables_.tickets;
  removal.key = std::move(key);
  return removal;
}

}  // namespace postino::support
