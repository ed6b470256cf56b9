#include "wire/operations/transaction_operations.h"

#include <algorithm>

#include "wire/operations/batch_operations.h"
#include "wire/protocol/enums.h"
#include "wire/protocol/java_text.h"
#include "wire/protocol/parameters.h"

namespace postino::wire {

namespace {

using store::Constraints;

std::string map_text(const std::optional<MapInput>& map) { return map ? java_text(map->map) : "null"; }

std::string request_text(const TransactGetItemInput& item) {
  if (!item.get) return "TransactGetItem(get=null)";
  return "TransactGetItem(get=Get(key=" + map_text(item.get->key) +
         ", tableName=" + item.get->table_name.value_or("null") + "))";
}

std::string request_text(const TransactWriteItemInput& item) {
  const auto action = [](std::string_view name, const std::optional<TransactActionInput>& input) {
    if (!input) return std::string("null");
    return std::string(name) + "(key=" + map_text(input->key) + ", item=" + map_text(input->item) +
           ", tableName=" + input->table_name.value_or("null") + ")";
  };
  return "TransactWriteItem(conditionCheck=" + action("ConditionCheck", item.check) +
         ", put=" + action("Put", item.put) + ", delete=" + action("Delete", item.remove) +
         ", update=" + action("Update", item.update) + ")";
}

// The number of actions; everything that was sent is printed when it is wrong.
template <class T>
void check_count(Constraints& constraints, const std::optional<std::vector<T>>& items) {
  constraints.check_not_null("transactItems", items.has_value());
  if (!items) return;
  std::vector<std::string> texts;
  if (items->size() > store::max_transaction_actions)
    for (const T& item : *items) texts.push_back(request_text(item));
  constraints.check_count("transactItems", items->size(), 1, store::max_transaction_actions, store::list_text(texts));
}

void check_table(Constraints& constraints, const std::string& path, const std::optional<std::string>& table_name) {
  constraints.check_not_null(path + ".tableName", table_name.has_value());
  if (!table_name) return;
  if (table_name->empty())
    constraints.check_length(path + ".tableName", *table_name, 1, Constraints::any_number);
  else if (!table_name->starts_with("arn:"))
    constraints.check_name(path + ".tableName", *table_name, 1);
}

enum class Subject { item, key };

void check_action(Constraints& constraints, const std::string& path, const std::optional<TransactActionInput>& action,
                  Subject subject, bool is_update) {
  if (!action) return;
  if (subject == Subject::item)
    constraints.check_not_null(path + ".item", action->item.has_value());
  else
    constraints.check_not_null(path + ".key", action->key.has_value());
  if (is_update) constraints.check_not_null(path + ".updateExpression", action->update.has_value());
  check_table(constraints, path, action->table_name);
  check_word<FailureReturn>(constraints, path + ".returnValuesOnConditionCheckFailure",
                            action->return_values_on_failure);
}

void check_item(Constraints& constraints, const std::string& path, const TransactWriteItemInput& item) {
  check_action(constraints, path + ".conditionCheck", item.check, Subject::key, false);
  check_action(constraints, path + ".put", item.put, Subject::item, false);
  check_action(constraints, path + ".delete", item.remove, Subject::key, false);
  check_action(constraints, path + ".update", item.update, Subject::key, true);
}

std::string path_of(std::size_t index) { return "transactItems." + std::to_string(index + 1) + ".member"; }

template <class Action>
store::Answer<store::TransactAction> decode_action(TransactActionInput input) {
  TRY_VOID(check_fault(input.item));
  TRY_VOID(check_fault(input.key));
  TRY_VOID(check_fault(input.values));
  Action action;
  action.table_name = table_of(*std::move(input.table_name));
  if constexpr (requires { action.item; })
    action.item = std::move(input.item->map);
  else
    action.key = std::move(input.key->map);
  if constexpr (requires { action.update; })
    action.update = expression_of<store::UpdateExpression>(std::move(input.update));
  action.condition = expression_of<store::ConditionExpression>(std::move(input.condition));
  action.placeholders = placeholders_of(std::move(input.names), input.values);
  action.return_item_on_failure = returns_item_on_failure(input.return_values_on_failure);
  return action;
}

store::Answer<store::TransactAction> decode_item(TransactWriteItemInput item) {
  const int count = item.put.has_value() + item.update.has_value() + item.remove.has_value() + item.check.has_value();
  if (count != 1)
    return store::refuse_invalid(
        "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request");
  if (item.put) return decode_action<store::TransactPut>(*std::move(item.put));
  if (item.update) return decode_action<store::TransactUpdate>(*std::move(item.update));
  if (item.remove) return decode_action<store::TransactDelete>(*std::move(item.remove));
  return decode_action<store::TransactConditionCheck>(*std::move(item.check));
}

}  // namespace

store::Answer<store::TransactGetItemsRequest> TransactGetItems::decode(Input input) {
  Constraints constraints;
  const auto consumed = check_consumed_capacity(constraints, input.return_consumed_capacity);
  check_count(constraints, input.items);
  for (std::size_t i = 0; input.items && i < input.items->size(); ++i) {
    const auto& get = (*input.items)[i].get;
    constraints.check_not_null(path_of(i) + ".get", get.has_value());
    if (!get) continue;
    constraints.check_not_null(path_of(i) + ".get.key", get->key.has_value());
    check_table(constraints, path_of(i) + ".get", get->table_name);
  }
  TRY_VOID(constraints.outcome());

  Request request;
  request.return_consumed_capacity = consumed.value_or(store::ReturnConsumedCapacity::none);
  for (TransactGetItemInput& item : *input.items) {
    TRY_VOID(check_fault(item.get->key));
    store::TransactGet& get = request.gets.emplace_back();
    get.table_name = table_of(*std::move(item.get->table_name));
    get.key = std::move(item.get->key->map);
    get.projection = expression_of<store::ProjectionExpression>(std::move(item.get->projection));
    get.placeholders.names = std::move(item.get->names);
  }
  return request;
}

void TransactGetItems::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->transact_get_items(request));
}

void TransactGetItems::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  write_responses(json, response.items);
  json.end_object();
}

store::Answer<store::TransactWriteItemsRequest> TransactWriteItems::decode(Input input) {
  Constraints constraints;
  const auto consumed = check_consumed_capacity(constraints, input.return_consumed_capacity);
  const auto metrics = check_collection_metrics(constraints, input.return_item_collection_metrics);
  check_count(constraints, input.items);
  for (std::size_t i = 0; input.items && i < input.items->size(); ++i)
    check_item(constraints, path_of(i), (*input.items)[i]);
  TRY_VOID(constraints.outcome());

  Request request;
  request.client_request_token = std::move(input.client_request_token);
  request.report.consumed_capacity = consumed.value_or(store::ReturnConsumedCapacity::none);
  request.report.item_collection_metrics = metrics == CollectionMetrics::size;
  for (TransactWriteItemInput& item : *input.items) {
    TRY(store::TransactAction action, decode_item(std::move(item)));
    request.actions.push_back(std::move(action));
  }
  return request;
}

void TransactWriteItems::run(const Services& services, const Request& request, store::Completion<Response> done) {
  services.store->transact_write_items(request, std::move(done));
}

void TransactWriteItems::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  write_collection_metrics(json, response.item_collection_metrics);
  json.end_object();
}

}  // namespace postino::wire
