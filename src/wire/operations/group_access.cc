// What batches and transactions do, as policies know it: batches are actions of their own for each table, and each
// action of a transaction is what it would be alone.
#include "wire/operations/batch_operations.h"
#include "wire/operations/transaction_operations.h"

namespace postino::wire {

namespace {

template <class Action>
ItemAccess action_access(access::Action action, const Action& request, store::ReturnConsumedCapacity capacity) {
  ItemAccess access{.action = action, .table = request.table_name, .enclosing = TransactWriteItems::name};
  if constexpr (requires { request.item; })
    access.items = {&request.item};
  else
    access.keys = {&request.key};
  if constexpr (requires { request.update; }) access.update = &request.update;
  access.condition = &request.condition;
  access.placeholders = &request.placeholders;
  access.return_values = returned(store::ReturnValues::none, request.return_item_on_failure);
  access.consumed_capacity = capacity;
  return access;
}

struct ActionNames {
  access::Action operator()(const store::TransactPut&) const { return access::action_named("PutItem"); }
  access::Action operator()(const store::TransactUpdate&) const { return access::action_named("UpdateItem"); }
  access::Action operator()(const store::TransactDelete&) const { return access::action_named("DeleteItem"); }
  access::Action operator()(const store::TransactConditionCheck&) const {
    return access::action_named("ConditionCheckItem");
  }
};

}  // namespace

store::Answer<void> BatchGetItem::authorize(const AccessCheck& check, const Request& request) {
  for (const store::BatchGetTable& table : request.tables) {
    ItemAccess access{.action = access::action_named(name), .table = table.table_name};
    for (const item::Key& key : table.keys) access.keys.push_back(&key);
    access.placeholders = &table.placeholders;
    access.projection = &table.projection;
    access.select = selected(table.projection.has_value(), false);
    access.consumed_capacity = request.return_consumed_capacity;
    TRY_VOID(check.items(access));
  }
  return {};
}

store::Answer<void> BatchWriteItem::authorize(const AccessCheck& check, const Request& request) {
  for (const store::BatchWriteTable& table : request.tables) {
    ItemAccess access{.action = access::action_named(name), .table = table.table_name};
    for (const store::BatchWrite& write : table.writes) {
      if (const auto* put = std::get_if<store::BatchPut>(&write))
        access.items.push_back(&put->item);
      else
        access.keys.push_back(&std::get<store::BatchDelete>(write).key);
    }
    access.consumed_capacity = request.report.consumed_capacity;
    TRY_VOID(check.items(access));
  }
  return {};
}

store::Answer<void> TransactGetItems::authorize(const AccessCheck& check, const Request& request) {
  for (const store::TransactGet& get : request.gets) {
    ItemAccess access{.action = access::action_named("GetItem"), .table = get.table_name, .enclosing = name};
    access.keys = {&get.key};
    access.placeholders = &get.placeholders;
    access.projection = &get.projection;
    access.select = selected(get.projection.has_value(), false);
    access.consumed_capacity = request.return_consumed_capacity;
    TRY_VOID(check.items(access));
  }
  return {};
}

store::Answer<void> TransactWriteItems::authorize(const AccessCheck& check, const Request& request) {
  const auto capacity = request.report.consumed_capacity;
  for (const store::TransactAction& action : request.actions)
    TRY_VOID(std::visit(
        [&](const auto& each) { return check.items(action_access(ActionNames()(each), each, capacity)); }, action));
  return {};
}

}  // namespace postino::wire
