#include "wire/operations/item_operations.h"

#include "wire/protocol/parameters.h"

namespace postino::wire {

namespace {

using store::Constraints;

void check_return_values(Constraints& constraints, const WriteItemInput& input) {
  check_word<store::ReturnValues>(constraints, "returnValues", input.return_values);
}

void check_rest(Constraints& constraints, const WriteItemInput& input) {
  check_word<ConditionalOperator>(constraints, "conditionalOperator", input.conditional_operator);
  check_conditions(constraints, "expected", input.expected, false);
  check_word<FailureReturn>(constraints, "returnValuesOnConditionCheckFailure", input.return_values_on_failure);
}

store::ReturnConsumedCapacity consumed_capacity_of(const std::optional<std::string>& word) {
  return value_if_given<store::ReturnConsumedCapacity>(word).value_or(store::ReturnConsumedCapacity::none);
}

// The members that all three requests have, once the constraints hold.
template <class Request>
store::Answer<void> fill_write(Request& request, WriteItemInput& input) {
  request.table_name = table_of(*std::move(input.table_name));
  request.return_values = value_if_given<store::ReturnValues>(input.return_values).value_or(store::ReturnValues::none);
  request.return_item_on_failure = returns_item_on_failure(input.return_values_on_failure);
  request.report.consumed_capacity = consumed_capacity_of(input.return_consumed_capacity);
  request.report.item_collection_metrics =
      value_if_given<CollectionMetrics>(input.return_item_collection_metrics) == CollectionMetrics::size;
  request.placeholders = placeholders_of(std::move(input.names), input.values);
  request.condition = expression_of<store::ConditionExpression>(std::move(input.condition));
  if (!input.expected && !input.conditional_operator) return {};
  LegacyTranslator translator(request.placeholders);
  TRY(auto condition, translator.expected(input.expected.value_or(Conditions()),
                                          value_if_given<ConditionalOperator>(input.conditional_operator)));
  if (condition) request.condition = std::move(condition);
  return {};
}

store::Answer<void> check_item_values(const std::optional<MapInput>& map, const WriteItemInput& input) {
  TRY_VOID(check_fault(map));
  return check_fault(input.values);
}

}  // namespace

store::Answer<store::GetItemRequest> GetItem::decode(Input input) {
  TRY_VOID(check_table_name(input.table_name));
  Constraints constraints;
  check_consumed_capacity(constraints, input.return_consumed_capacity);
  check_attributes_to_get(constraints, "attributesToGet", input.attributes_to_get);
  constraints.check_not_null("tableName", input.table_name.has_value());
  constraints.check_not_null("key", input.key.has_value());
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_styles({{"ProjectionExpression", input.projection.has_value()}},
                        {{"AttributesToGet", input.attributes_to_get.has_value()}}, input.names, std::nullopt));
  TRY_VOID(check_fault(input.key));

  Request request;
  request.table_name = table_of(*std::move(input.table_name));
  request.key = std::move(input.key->map);
  request.consistent_read = input.consistent_read.value_or(false);
  request.placeholders.names = std::move(input.names);
  request.projection = expression_of<store::ProjectionExpression>(std::move(input.projection));
  request.return_consumed_capacity = consumed_capacity_of(input.return_consumed_capacity);
  if (input.attributes_to_get) {
    TRY(request.projection, LegacyTranslator(request.placeholders).attributes_to_get(*input.attributes_to_get));
  }
  return request;
}

void GetItem::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->get_item(request));
}

void GetItem::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  if (response.item) json.key("Item").item(*response.item);
  json.end_object();
}

void WriteItem::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  if (response.attributes) json.key("Attributes").item(*response.attributes);
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  if (response.item_collection_metrics) write(json.key("ItemCollectionMetrics"), *response.item_collection_metrics);
  json.end_object();
}

store::Answer<store::PutItemRequest> PutItem::decode(Input input) {
  TRY_VOID(check_table_name(input.table_name));
  Constraints constraints;
  check_consumed_capacity(constraints, input.return_consumed_capacity);
  constraints.check_not_null("tableName", input.table_name.has_value());
  constraints.check_not_null("item", input.item.has_value());
  check_return_values(constraints, input);
  check_collection_metrics(constraints, input.return_item_collection_metrics);
  check_rest(constraints, input);
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_styles({{"ConditionExpression", input.condition.has_value()}},
                        {{"Expected", input.expected.has_value()}}, input.names, input.values));
  TRY_VOID(check_item_values(input.item, input));

  Request request;
  request.item = std::move(input.item->map);
  TRY_VOID(fill_write(request, input));
  return request;
}

void PutItem::run(const Services& services, const Request& request, store::Completion<Response> done) {
  services.store->put_item(request, std::move(done));
}

store::Answer<UpdateItemRequest> UpdateItem::decode(Input input) {
  TRY_VOID(check_table_name(input.table_name));
  Constraints constraints;
  check_consumed_capacity(constraints, input.return_consumed_capacity);
  constraints.check_not_null("tableName", input.table_name.has_value());
  check_collection_metrics(constraints, input.return_item_collection_metrics);
  check_return_values(constraints, input);
  constraints.check_not_null("key", input.key.has_value());
  check_rest(constraints, input);
  check_attribute_updates(constraints, input.attribute_updates);
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_styles(
      {{"UpdateExpression", input.update.has_value()}, {"ConditionExpression", input.condition.has_value()}},
      {{"AttributeUpdates", input.attribute_updates.has_value()}, {"Expected", input.expected.has_value()}},
      input.names, input.values));
  TRY_VOID(check_item_values(input.key, input));

  Request request;
  request.key = std::move(input.key->map);
  request.update = expression_of<store::UpdateExpression>(std::move(input.update));
  request.attribute_updates = input.attribute_updates.has_value();
  TRY_VOID(fill_write(request, input));
  if (request.attribute_updates) {
    TRY(request.update, LegacyTranslator(request.placeholders).updates(*input.attribute_updates));
  }
  return request;
}

void UpdateItem::run(const Services& services, const Request& request, store::Completion<Response> done) {
  services.store->update_item(request, std::move(done));
}

void UpdateItem::reword(store::Error& error, const Reporting& reporting) {
  if (reporting.attribute_updates && error.rule == base::Rule::operand_type)
    error.message = "Type mismatch for attribute to update";
}

store::Answer<store::DeleteItemRequest> DeleteItem::decode(Input input) {
  TRY_VOID(check_table_name(input.table_name));
  Constraints constraints;
  check_consumed_capacity(constraints, input.return_consumed_capacity);
  constraints.check_not_null("tableName", input.table_name.has_value());
  check_return_values(constraints, input);
  check_collection_metrics(constraints, input.return_item_collection_metrics);
  constraints.check_not_null("key", input.key.has_value());
  check_rest(constraints, input);
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_styles({{"ConditionExpression", input.condition.has_value()}},
                        {{"Expected", input.expected.has_value()}}, input.names, input.values));
  TRY_VOID(check_item_values(input.key, input));

  Request request;
  request.key = std::move(input.key->map);
  TRY_VOID(fill_write(request, input));
  return request;
}

void DeleteItem::run(const Services& services, const Request& request, store::Completion<Response> done) {
  services.store->delete_item(request, std::move(done));
}

}  // namespace postino::wire
