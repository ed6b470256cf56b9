#include "engine/items/transaction_writer.h"

#include <algorithm>
#include <set>

#include "engine/items/cancellation.h"
#include "engine/items/capacity_units.h"
#include "engine/items/collection_metrics.h"
#include "engine/items/consumption.h"
#include "engine/items/key_rules.h"
#include "engine/items/transaction_tokens.h"
#include "item/size.h"

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
  const std::size_t count = request.actions.size();
  if (count == 0 || count > store::max_transaction_actions)
    return refuse_invalid(
        std::string("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must "
                    "have length ") +
        (count == 0 ? "greater than or equal to 1" : "less than or equal to 100"));
  if (request.client_request_token &&
      (request.client_request_token->empty() || request.client_request_token->size() > 36))
    return refuse_invalid(
        "1 validation error detected: Value '" + *request.client_request_token +
        "' at 'clientRequestToken' failed to satisfy constraint: Member must have length " +
        (request.client_request_token->empty() ? "greater than or equal to 1" : "less than or equal to 36"));
  std::size_t bytes = 0;
  for (const store::TransactAction& action : request.actions) bytes += payload_size(action);
  if (bytes > store::max_transaction_bytes) {
    const std::string text = "Transaction payload size cannot exceed 4MB. Payload Size: ";
    return refuse_invalid(text + ": " + text + std::to_string(bytes));
  }
  return {};
}

// Faults of a put that are the request's own, whatever the table holds.
store::Answer<void> check_request_level(const Table& table, const ItemWrite& write) {
  TRY_VOID(check_key_not_empty(table, *write.subject));
  if (write.action == WriteAction::put && write.replacement->size > item::max_item_size)
    return refuse_invalid("Item size has exceeded the maximum allowed size");
  return {};
}

}  // namespace

store::Answer<std::vector<TransactionWriter::Action>> TransactionWriter::prepare_all(
    const store::TransactWriteItemsRequest& request) const {
  std::vector<Action> actions(request.actions.size());
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (const auto* check = std::get_if<store::TransactConditionCheck>(&request.actions[i]);
        check != nullptr && !check->condition)
      return refuse_invalid("1 validation error detected: Value null at 'transactItems." + std::to_string(i + 1) +
                            ".member.conditionCheck.conditionExpression' failed to satisfy constraint: "
                            "Member must not be null");
    TRY(actions[i].write, std::visit([](const auto& action) { return prepare(action); }, request.actions[i]));
  }
  return actions;
}

store::Answer<bool> TransactionWriter::lock_all(std::vector<Action>& actions, const std::optional<std::string>& token,
                                                LockedItems& items) const {
  Cancellation cancellation(actions.size());
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    Action& action = actions[i];
    action.table = core_.find_table(*action.write.table_name);
    if (!action.table) return base::propagate(no_such_table());
    TRY_VOID(check_request_level(*action.table, action.write));
    store::Answer<std::string> key = locate(*action.table, action.write);
    if (!key) {
      cancellation.add(i, key.error());
      continue;
    }
    action.key = std::move(*key);
    keys.push_back(action.key);
  }
  std::vector<std::string_view> sorted(keys.begin(), keys.end());
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    return refuse_invalid("Transaction request cannot include multiple operations on one item");
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  if (token) keys.push_back(token_lock_key(*token));
  items.lock(keys);
  if (std::ranges::all_of(actions, [&](const Action& action) { return items.still_current(action.table); }))
    return true;
  items.unlock();
  return false;
}

store::Answer<std::optional<store::TransactWriteItemsResponse>> TransactionWriter::replay(
    const store::TransactWriteItemsRequest& request, const std::vector<Action>& actions, LockedItems& items) const {
  if (!request.client_request_token) return std::nullopt;
  TRY(const std::optional<TokenRecord> record, items.read_token(*request.client_request_token));
  if (!record) return std::nullopt;
  if (record->request_hash != hash_of(request))
    return refuse(store::ErrorType::idempotent_parameter_mismatch,
                  "The request uses the same client token as a previous, but non-identical request. "
                  "Do not reuse a client token with different requests, unless the requests are identical");
  TRY_VOID(admit_all(actions, Access::read));
  store::TransactWriteItemsResponse response;
  Consumption consumption(core_, request.report.consumed_capacity, Access::read);
  for (const Action& action : actions) {
    TRY(const StoredItemPointer item, items.read(action.key));
    consumption.add_table(*action.table, transaction_factor * read_units(item ? item->size : 0, true));
  }
  consumption.mark_transactional_read();
  response.consumed_capacity = std::move(consumption).all();
  return std::optional<store::TransactWriteItemsResponse>(std::move(response));
}

store::Answer<void> TransactionWriter::admit_all(const std::vector<Action>& actions, Access access) const {
  Cancellation cancellation(actions.size());
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (auto admitted = admit(core_, *actions[i].table, nullptr, access); !admitted)
      cancellation.add(i, admitted.error());
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  return {};
}

store::Answer<void> TransactionWriter::admit_index_changes(const std::vector<Action>& actions,
                                                           const std::vector<Change>& changes) const {
  Cancellation cancellation(actions.size());
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (auto admitted = admit_index_writes(core_, *actions[i].table, changes[i]); !admitted)
      cancellation.add(i, admitted.error());
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  return {};
}

store::Answer<std::vector<Change>> TransactionWriter::decide_all(const std::vector<Action>& actions,
                                                                 LockedItems& items) const {
  Cancellation cancellation(actions.size());
  std::vector<Change> changes;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Action& action = actions[i];
    TRY(StoredItemPointer before, items.read(action.key));
    store::Answer<StoredItemPointer> after = decide(*action.table, action.write, before);
    if (after) {
      changes.push_back({action.key, std::move(before), std::move(*after)});
    } else {
      take_failed_write(core_, *action.table, before, after.error(), transaction_factor);
      cancellation.add(i, after.error());
    }
  }
  if (cancellation.cancelled()) return base::propagate(std::move(cancellation).error());
  return changes;
}

TransactionWriter::Response TransactionWriter::plan(const store::TransactWriteItemsRequest& request, LockedItems& items,
                                                    CommitEntry& entry) {
  TRY_VOID(check_room(core_));
  TRY_VOID(check_transaction_shape(request));
  TRY(std::vector<Action> actions, prepare_all(request));
  for (bool locked = false; !locked;) {
    TRY(locked, lock_all(actions, request.client_request_token, items));
  }
  TRY(std::optional<store::TransactWriteItemsResponse> done_before, replay(request, actions, items));
  if (done_before) return std::move(*done_before);
  TRY_VOID(admit_all(actions, Access::write));
  TRY(const std::vector<Change> changes, decide_all(actions, items));
  TRY_VOID(admit_index_changes(actions, changes));

  store::TransactWriteItemsResponse response;
  Consumption consumption(core_, request.report.consumed_capacity, Access::write);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Table& table = *actions[i].table;
    const std::vector<IndexEffect> effects = items.plan(table, changes[i], entry);
    consumption.add_write(table, changes[i].before, changes[i].after, effects, transaction_factor);
    if (request.report.item_collection_metrics)
      add_collection_metrics(core_, table, *actions[i].write.subject, response.item_collection_metrics);
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
