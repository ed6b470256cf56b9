// From an operation to the store's requests.
#include "base/check.h"
#include "operation.h"

namespace postino::crash {

namespace {

constexpr const char* optional_attributes[] = {"expires", "state", "tag", "total"};

// The same members carry the condition in every kind of request.
template <class Request>
void set_condition(Request& request, const Action& action) {
  if (!action.conditional) return;
  if (action.seen == nothing) {
    request.condition = "attribute_not_exists(operation)";
    return;
  }
  request.condition = "operation = :seen";
  if (!request.placeholders.values) request.placeholders.values.emplace();
  request.placeholders.values->set(":seen", action.seen);
}

template <class Request>
Request put_request(const Operation& operation, const Action& action) {
  Request request;
  request.table_name = table_name(action.table);
  request.item = item_of(operation, action);
  request.item.set("version", 1);
  set_condition(request, action);
  return request;
}

template <class Request>
Request update_request(const Operation& operation, const Action& action) {
  Request request;
  request.table_name = table_name(action.table);
  request.key = key_of(action.table, action.slot);
  const item::Item item = item_of(operation, action);
  std::string set = "SET version = if_not_exists(version, :zero) + :one, operation = :operation, payload = :payload";
  std::string remove;
  expr::Values values{
      {":zero", 0}, {":one", 1}, {":operation", *item.find("operation")}, {":payload", *item.find("payload")}};
  expr::Names names;
  for (const std::string name : optional_attributes) {
    names.emplace("#" + name, name);
    if (const item::AttributeValue* value = item.find(name)) {
      set += ", #" + name + " = :" + name;
      values.set(":" + name, *value);
    } else {
      remove += (remove.empty() ? " REMOVE #" : ", #") + name;
    }
  }
  request.update = set + remove;
  request.placeholders.values = std::move(values);
  request.placeholders.names = std::move(names);
  set_condition(request, action);
  return request;
}

template <class Request>
Request key_request(const Action& action) {
  Request request;
  request.table_name = table_name(action.table);
  request.key = key_of(action.table, action.slot);
  set_condition(request, action);
  return request;
}

Result result_of(const store::Error& error) {
  using store::ErrorType;
  const bool refused = error.type == ErrorType::conditional_check_failed ||
                       error.type == ErrorType::transaction_canceled || error.type == ErrorType::limit_exceeded;
  return {refused ? Outcome::refused : Outcome::failed,
          std::string(store::error_name(error.type)) + ": " + error.message};
}

template <class Response>
Result result_of(const store::Answer<Response>& answer) {
  return answer ? Result{} : result_of(answer.error());
}

Result perform_single(store::Store& store, const Operation& operation) {
  const Action& action = operation.actions.front();
  switch (action.type) {
    case ActionType::put:
      return result_of(store.put_item(put_request<store::PutItemRequest>(operation, action)));
    case ActionType::update:
      return result_of(store.update_item(update_request<store::UpdateItemRequest>(operation, action)));
    case ActionType::remove:
    case ActionType::check:
      break;
  }
  return result_of(store.delete_item(key_request<store::DeleteItemRequest>(action)));
}

Result perform_batch(store::Store& store, const Operation& operation) {
  store::BatchWriteItemRequest request;
  for (const TableNumber table : all_tables) {
    store::BatchWriteTable writes{table_name(table), {}};
    for (const Action& action : operation.actions) {
      if (action.table != table) continue;
      if (action.type == ActionType::put)
        writes.writes.emplace_back(store::BatchPut{put_request<store::PutItemRequest>(operation, action).item});
      else
        writes.writes.emplace_back(store::BatchDelete{key_of(table, action.slot)});
    }
    if (!writes.writes.empty()) request.tables.push_back(std::move(writes));
  }
  const auto answer = store.batch_write_item(request);
  if (answer && !answer->unprocessed.empty()) return {Outcome::failed, "the batch was not done whole"};
  return result_of(answer);
}

store::TransactAction transact_action(const Operation& operation, const Action& action) {
  switch (action.type) {
    case ActionType::put:
      return put_request<store::TransactPut>(operation, action);
    case ActionType::update:
      return update_request<store::TransactUpdate>(operation, action);
    case ActionType::remove:
      return key_request<store::TransactDelete>(action);
    case ActionType::check:
      break;
  }
  return key_request<store::TransactConditionCheck>(action);
}

Result perform_transaction(store::Store& store, const Operation& operation) {
  store::TransactWriteItemsRequest request;
  for (const Action& action : operation.actions) request.actions.push_back(transact_action(operation, action));
  if (operation.token) request.client_request_token = "operation-" + std::to_string(operation.id);
  return result_of(store.transact_write_items(request));
}

store::UpdateTableRequest control_request(OperationType type) {
  store::UpdateTableRequest request;
  if (type == OperationType::enable_stream || type == OperationType::disable_stream) {
    request.table_name = table_name(TableNumber::notes);
    request.stream.emplace();
    request.stream->enabled = type == OperationType::enable_stream;
    if (request.stream->enabled) request.stream->view_type = store::StreamViewType::new_and_old_images;
    return request;
  }
  request.table_name = table_name(TableNumber::orders);
  if (type == OperationType::remove_index) {
    request.global_index_updates.emplace_back(store::DeleteGlobalIndex{"by_tag"});
    return request;
  }
  request.attribute_definitions = {{"tag", item::Type::string}};
  store::GlobalIndexDefinition index;
  index.name = "by_tag";
  index.key_schema = {{"tag", store::KeyRole::hash}};
  index.projection = {store::ProjectionType::include, std::vector<std::string>{"operation", "payload"}};
  request.global_index_updates.emplace_back(store::CreateGlobalIndex{std::move(index)});
  return request;
}

}  // namespace

Result perform(store::Store& store, const Operation& operation) {
  switch (operation.type) {
    case OperationType::single:
      return perform_single(store, operation);
    case OperationType::batch:
      return perform_batch(store, operation);
    case OperationType::transaction:
      return perform_transaction(store, operation);
    default:
      return result_of(store.update_table(control_request(operation.type)));
  }
}

}  // namespace postino::crash
