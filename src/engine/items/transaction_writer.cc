#include "engine/items/transaction_writer.h"

#include <algorithm>
#include <set>

#include "engine/items/cancellation.h"
#include "engine/items/capacity_units.h"
#include "engine/items/collection_metrics.h"
#include "engine/items/consumption.h"
#include "engine/items/key_rules.h"
#include "engine/items/traffic.h"
#include "engine/items/transaction_tokens.h"
#include "item/size.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

using store::refuse;
using store::refuse_invalid;

constexpr double transaction_factor = 2;  // every item is read or written twice

std::size_t size_of_values(const expr::Placeholders& placeholders) {
  return placeholders.values ? item::size_of(*placeholders.values) : 0;
}

std::size_t payload_size(const store::TransactAction& action) {
  return std::visit(
      [](const auto& request) {
        std::size_t size = size_of_values(request.placeholders);
        if constexpr (requires { request.item; })
          size += item::size_of(request.item);
        else
          size += item::size_of(request.key);
        return size;
      },
      action);
}

store::Answer<void> check_transaction_shape(const store::TransactWriteItemsRequest& request) {
  store::Constraints actions;
  actions.check_count("transactItems", request.actions.size(), 1, store::max_transaction_actions);
  TRY_VOID(actions.outcome());
  store::Constraints token;
  if (request.client_request_token)
    token.check_length("clientRequestToken", *request.client_request_token, 1, store::max_client_request_token_length);
  TRY_VOID(token.outcome());
  std::size_t bytes = 0;
  for (const store::TransactAction& action : request.actions) bytes += payload_size(action);
  if (bytes > store::max_transaction_bytes) {
    const std::string text = "Transaction payload size cannot exceed 4MB. Payload Size: ";
    return refuse_invalid(text + ": " + text + std::to_string(bytes));
  }
  return {};
}

}  // namespace

store::Answer<std::vector<ItemWrite>> TransactionWriter::prepare_all(const store::TransactWriteItemsRequest& request) {
  std::vector<ItemWrite> writes;
  for (const store::TransactAction& action : request.actions) {
    if (const auto* check = std::get_if<store::TransactConditionCheck>(&action); check != nullptr) {
      store::Constraints constraints;
      constraints.check_not_null(
          "transactItems." + std::to_string(writes.size() + 1) + ".member.conditionCheck.conditionExpression",
          check->condition.has_value());
      TRY_VOID(constraints.outcome());
    }
    TRY(ItemWrite write, std::visit([](const auto& request_of_kind) { return prepare(request_of_kind); }, action));
    writes.push_back(std::move(write));
  }
  return writes;
}

store::Answer<void> TransactionWriter::locate_all(std::vector<ItemWrite>& writes) const {
  Cancellation cancellation(writes.size());
  std::vector<std::string_view> keys;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    ItemWrite& write = writes[i];
    TRY_VOID(find_table(core_, write));
    TRY_VOID(check_key_not_empty(*write.table, *write.subject));
    if (auto located = locate(write); located)
      keys.push_back(write.key);
    else
      cancellation.add(i, located.error());
  }
  std::ranges::sort(keys);
  if (std::ranges::adjacent_find(keys) != keys.end())
    return refuse_invalid("Transaction request cannot include multiple operations on one item");
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  return {};
}

store::Answer<std::optional<store::TransactWriteItemsResponse>> TransactionWriter::replay(
    const store::TransactWriteItemsRequest& request, const std::vector<ItemWrite>& writes, LockedItems& items) const {
  if (!request.client_request_token) return std::nullopt;
  TRY(const std::optional<TokenRecord> record, items.read_token(*request.client_request_token));
  if (!record) return std::nullopt;
  if (record->request_hash != hash_of(request))
    return refuse(store::ErrorType::idempotent_parameter_mismatch,
                  "The request uses the same client token as a previous, but non-identical request. "
                  "Do not reuse a client token with different requests, unless the requests are identical");
  TRY_VOID(admit_all(writes, Access::read));
  store::TransactWriteItemsResponse response;
  Consumption consumption(core_, request.report.consumed_capacity, Access::read);
  for (const ItemWrite& write : writes) {
    TRY(const StoredItemPointer item, items.read(write.key));
    const double units = transaction_factor * read_units(item ? item->size : 0, true);
    consumption.add_table(*write.table, units);
    count_read(core_, *write.table, nullptr, write.key, units);
    take_partition_read(core_, *write.table, nullptr, write.key, units);
  }
  consumption.mark_transactional_read();
  response.consumed_capacity = std::move(consumption).all();
  return std::optional<store::TransactWriteItemsResponse>(std::move(response));
}

store::Answer<void> TransactionWriter::admit_all(const std::vector<ItemWrite>& writes, Access access) const {
  Cancellation cancellation(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i)
    if (auto admitted = admit(core_, *writes[i].table, nullptr, access, writes[i].key); !admitted)
      cancellation.add(i, admitted.error());
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  return {};
}

store::Answer<void> TransactionWriter::admit_index_changes(const std::vector<ItemWrite>& writes,
                                                           const std::vector<Change>& changes) const {
  Cancellation cancellation(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i)
    if (auto admitted = admit_index_writes(core_, *writes[i].table, changes[i]); !admitted)
      cancellation.add(i, admitted.error());
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  return {};
}

store::Answer<std::vector<Change>> TransactionWriter::decide_all(const std::vector<ItemWrite>& writes,
                                                                 LockedItems& items) const {
  Cancellation cancellation(writes.size());
  std::vector<Change> changes;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    TRY(Decision decision, items.decide(writes[i], transaction_factor));
    if (!decision) {
      cancellation.add(i, decision.error());
      continue;
    }
    if (const auto fits = check_collection_size(core_, *writes[i].table, *writes[i].subject, *decision); !fits)
      cancellation.add(i, fits.error());
    changes.push_back(*std::move(decision));
  }
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  return changes;
}

TransactionWriter::Response TransactionWriter::plan(const store::TransactWriteItemsRequest& request, LockedItems& items,
                                                    CommitEntry& entry) {
  TRY_VOID(check_room(core_));
  TRY_VOID(check_transaction_shape(request));
  TRY(std::vector<ItemWrite> writes, prepare_all(request));
  TRY_VOID(items.lock(writes, request.client_request_token, [&] { return locate_all(writes); }));
  TRY(std::optional<store::TransactWriteItemsResponse> done_before, replay(request, writes, items));
  if (done_before) return std::move(*done_before);
  TRY_VOID(admit_all(writes, Access::write));
  TRY(const std::vector<Change> changes, decide_all(writes, items));
  TRY_VOID(admit_index_changes(writes, changes));

  store::TransactWriteItemsResponse response;
  Consumption consumption(core_, request.report.consumed_capacity, Access::write);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const Table& table = *writes[i].table;
    const std::vector<IndexEffect> effects = items.plan(table, changes[i], entry);
    count_write(core_, table, changes[i], effects, entry, transaction_factor);
    take_partition_writes(core_, table, changes[i], effects, entry, transaction_factor);
    consumption.add_write(table, changes[i].before, changes[i].after, effects, transaction_factor);
    if (request.report.item_collection_metrics)
      add_collection_metrics(core_, table, *writes[i].subject, response.item_collection_metrics);
  }
  consumption.mark_transactional_write();
  response.consumed_capacity = std::move(consumption).all();
  if (request.client_request_token)
    items.plan_token(*request.client_request_token, {core_.now() + store::client_request_token_life, hash_of(request)},
                     entry);
  return response;
}

Planned TransactionWriter::write(const store::TransactWriteItemsRequest& request, const Entry& entry) {
  LockedItems items(core_);
  entry->answer = plan(request, items, *entry);
  return items.queue(entry) ? Planned::queued : Planned::answered;
}

}  // namespace postino::engine
