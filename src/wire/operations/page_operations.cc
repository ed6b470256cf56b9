#include "wire/operations/page_operations.h"

#include "wire/protocol/parameters.h"

namespace postino::wire {

namespace {

using store::Constraints;

void check_select(Constraints& constraints, const PageInput& input) {
  check_word<store::Select>(constraints, "select", input.select);
}

void check_index_name(Constraints& constraints, const PageInput& input) {
  if (input.index_name) constraints.check_name("indexName", *input.index_name);
}

void check_conditional_operator(Constraints& constraints, const PageInput& input) {
  check_word<ConditionalOperator>(constraints, "conditionalOperator", input.conditional_operator);
}

store::Answer<void> check_start_key(const std::optional<MapInput>& key) {
  if (!key || !key->fault) return {};
  // Some faults of values are reported without saying where they are.
  const bool stands_alone = key->broken_rule == base::Rule::number || key->broken_rule == base::Rule::duplicates;
  return store::refuse_invalid(stands_alone ? *key->fault : "The provided starting key is invalid: " + *key->fault);
}

// Names and values, and the old parameters of filters and projections, which come before everything else in DynamoDB's
// checks.
template <class Request>
store::Answer<void> take_parameters(Request& request, PageInput& input, const std::optional<Conditions>& filter) {
  request.placeholders = placeholders_of(std::move(input.names), input.values);
  LegacyTranslator translator(request.placeholders);
  if (filter || input.conditional_operator) {
    TRY(request.filter, translator.filter(filter.value_or(Conditions()),
                                          value_if_given<ConditionalOperator>(input.conditional_operator)));
    if (request.filter) request.filter_name = "QueryFilter";
  }
  if (input.attributes_to_get) {
    TRY(request.projection, translator.attributes_to_get(*input.attributes_to_get));
    request.projection_name = "AttributesToGet";
  }
  TRY_VOID(check_start_key(input.exclusive_start_key));
  return check_fault(input.values);
}

template <class Request>
void fill_page(Request& request, PageInput& input) {
  request.table_name = table_of(*std::move(input.table_name));
  request.index_name = std::move(input.index_name);
  if (!request.filter) request.filter = expression_of<store::ConditionExpression>(std::move(input.filter));
  if (!request.projection) request.projection = expression_of<store::ProjectionExpression>(std::move(input.projection));
  request.select = value_if_given<store::Select>(input.select);
  request.limit = input.limit;
  if (input.exclusive_start_key) request.exclusive_start_key = std::move(input.exclusive_start_key->map);
  request.consistent_read = input.consistent_read.value_or(false);
  request.return_consumed_capacity = value_if_given<store::ReturnConsumedCapacity>(input.return_consumed_capacity)
                                         .value_or(store::ReturnConsumedCapacity::none);
}

}  // namespace

void ReadPage::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  json.key("Count").integer(response.count);
  if (!reporting.count_only) json.key("Items").items(response.items);
  if (response.last_evaluated_key) json.key("LastEvaluatedKey").item(*response.last_evaluated_key);
  json.key("ScannedCount").integer(response.scanned_count).end_object();
}

store::Answer<Query::Request> Query::decode(Input input) {
  TRY_VOID(check_table_name(input.table_name));
  Constraints constraints;
  check_select(constraints, input);
  check_index_name(constraints, input);
  check_consumed_capacity(constraints, input.return_consumed_capacity);
  check_conditions(constraints, "queryFilter", input.query_filter, true);
  constraints.check_not_null("tableName", input.table_name.has_value());
  check_conditional_operator(constraints, input);
  check_attributes_to_get(constraints, "attributesToGet", input.attributes_to_get);
  check_conditions(constraints, "keyConditions", input.key_conditions, true);
  TRY_VOID(constraints.outcome());
  // KeyConditions may stand beside the other expressions.
  TRY_VOID(check_styles({{"ProjectionExpression", input.projection.has_value()},
                         {"FilterExpression", input.filter.has_value()},
                         {"KeyConditionExpression", input.key_condition.has_value()}},
                        {{"AttributesToGet", input.attributes_to_get.has_value()},
                         {"QueryFilter", input.query_filter.has_value()},
                         {"ConditionalOperator", input.conditional_operator.has_value()},
                         {"KeyConditions", input.key_conditions.has_value() && input.key_condition.has_value()}},
                        input.names, input.values));
  Request request;
  TRY_VOID(take_parameters(request, input, input.query_filter));
  request.key_condition = expression_of<store::ConditionExpression>(std::move(input.key_condition));
  if (input.key_conditions) {
    // How many attributes the key of an index has is known when it is found.
    const std::size_t most = input.index_name ? 2 * store::max_index_key_parts : usual_key_conditions;
    TRY(std::string text, LegacyTranslator(request.placeholders).key_conditions(*input.key_conditions, most));
    request.key_condition = store::ConditionExpression(std::move(text));
    request.key_conditions = true;
  }
  request.forward = input.scan_index_forward.value_or(true);
  fill_page(request, input);
  return request;
}

void Query::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->query(request));
}

void Query::reword(store::Error& error, const Reporting& reporting) {
  if (reporting.key_conditions && error.rule == base::Rule::condition_count)
    error.message = std::string(key_condition_count);
}

store::Answer<Scan::Request> Scan::decode(Input input) {
  TRY_VOID(check_table_name(input.table_name));
  Constraints constraints;
  check_select(constraints, input);
  check_index_name(constraints, input);
  check_consumed_capacity(constraints, input.return_consumed_capacity);
  constraints.check_not_null("tableName", input.table_name.has_value());
  check_conditional_operator(constraints, input);
  check_conditions(constraints, "scanFilter", input.scan_filter, true);
  check_attributes_to_get(constraints, "attributesToGet", input.attributes_to_get);
  TRY_VOID(constraints.outcome());
  TRY_VOID(check_styles(
      {{"ProjectionExpression", input.projection.has_value()}, {"FilterExpression", input.filter.has_value()}},
      {{"AttributesToGet", input.attributes_to_get.has_value()},
       {"ScanFilter", input.scan_filter.has_value()},
       {"ConditionalOperator", input.conditional_operator.has_value()}},
      input.names, input.values));
  Request request;
  TRY_VOID(take_parameters(request, input, input.scan_filter));
  request.segment = input.segment;
  request.total_segments = input.total_segments;
  fill_page(request, input);
  return request;
}

void Scan::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->scan(request));
}

}  // namespace postino::wire
