#include "wire/protocol/parameters.h"

#include <algorithm>
#include <vector>

namespace postino::wire {

namespace {

constexpr std::string_view arn_start = "arn:";
constexpr std::string_view arn_table = ":table/";

std::string present_names(const std::vector<Parameter>& parameters) {
  std::string names = "{";
  for (const Parameter& parameter : parameters) {
    if (names.size() > 1) names += ", ";
    names += parameter.name;
  }
  return names + "}";
}

std::vector<Parameter> present_ones(std::initializer_list<Parameter> parameters) {
  std::vector<Parameter> present;
  std::ranges::copy_if(parameters, std::back_inserter(present), &Parameter::present);
  return present;
}

// Which parameters could have used the values: all but projections.
std::string absent_text(std::initializer_list<Parameter> expressions) {
  std::string text;
  int count = 0;
  for (const Parameter& expression : expressions) {
    if (expression.name == "ProjectionExpression") continue;
    if (count++ > 0) text += " and ";
    text += expression.name;
  }
  return text + (count > 1 ? " are null" : " is null");
}

bool can_use_values(const Parameter& expression) {
  return expression.present && expression.name != "ProjectionExpression";
}

void write_index_units(JsonWriter& json, std::string_view key, const std::map<std::string, double>& indexes) {
  if (indexes.empty()) return;
  json.key(key).begin_object();
  for (const auto& [name, units] : indexes)
    json.any_key(name).begin_object().key("CapacityUnits").units(units).end_object();
  json.end_object();
}

}  // namespace

store::Answer<void> check_table_name(const std::optional<std::string>& name) {
  if (!name) return {};
  constexpr std::size_t max_arn_length = 1'024;
  store::Constraints constraints;
  if (name->empty())
    constraints.check_length("tableName", *name, 1, max_arn_length);
  else if (name->starts_with(arn_start))
    constraints.check_length("tableName", *name, 1, max_arn_length);
  else
    constraints.check_name("tableName", *name, 1);
  return constraints.outcome();
}

std::string table_of(std::string name_or_arn) {
  if (!name_or_arn.starts_with(arn_start)) return name_or_arn;
  const std::size_t table = name_or_arn.find(arn_table);
  if (table == std::string::npos) return name_or_arn;
  name_or_arn.erase(0, table + arn_table.size());
  return name_or_arn.substr(0, name_or_arn.find('/'));
}

store::Answer<void> check_styles(std::initializer_list<Parameter> expressions, std::initializer_list<Parameter> old,
                                 const std::optional<expr::Names>& names, const std::optional<ValuesInput>& values) {
  const auto given = present_ones(expressions);
  const auto given_old = present_ones(old);
  if (!given.empty() && !given_old.empty())
    return store::refuse_invalid(
        "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: " +
        present_names(given_old) + " Expression parameters: " + present_names(given));
  if (names && given.empty())
    return store::refuse_invalid("ExpressionAttributeNames can only be specified when using expressions");
  if (values && std::ranges::none_of(expressions, can_use_values))
    return store::refuse_invalid("ExpressionAttributeValues can only be specified when using expressions: " +
                                 absent_text(expressions));
  return {};
}

store::Answer<void> check_fault(const std::optional<MapInput>& map) {
  if (map && map->fault) return store::refuse_invalid(*map->fault);
  return {};
}

store::Answer<void> check_fault(const std::optional<ValuesInput>& values) {
  if (values && values->fault) return store::refuse_invalid(*values->fault);
  return {};
}

expr::Placeholders placeholders_of(std::optional<expr::Names> names, std::optional<ValuesInput>& values) {
  expr::Placeholders placeholders;
  placeholders.names = std::move(names);
  if (values) placeholders.values = std::move(values->values);
  return placeholders;
}

std::optional<store::ReturnConsumedCapacity> check_consumed_capacity(store::Constraints& constraints,
                                                                     const std::optional<std::string>& word) {
  return check_word<store::ReturnConsumedCapacity>(constraints, "returnConsumedCapacity", word);
}

std::optional<CollectionMetrics> check_collection_metrics(store::Constraints& constraints,
                                                          const std::optional<std::string>& word) {
  return check_word<CollectionMetrics>(constraints, "returnItemCollectionMetrics", word);
}

bool returns_item_on_failure(const std::optional<std::string>& word) {
  return value_if_given<FailureReturn>(word) == FailureReturn::all_old;
}

void write(JsonWriter& json, const store::ConsumedCapacity& consumed, store::ReturnConsumedCapacity shown) {
  json.begin_object().key("TableName").string(consumed.table_name).key("CapacityUnits").units(consumed.total);
  if (consumed.transactional_read) json.key("ReadCapacityUnits").units(consumed.total);
  if (consumed.transactional_write) json.key("WriteCapacityUnits").units(consumed.total);
  if (shown == store::ReturnConsumedCapacity::indexes) {
    json.key("Table").begin_object().key("CapacityUnits").units(consumed.table);
    if (consumed.transactional_read) json.key("ReadCapacityUnits").units(consumed.table);
    if (consumed.transactional_write) json.key("WriteCapacityUnits").units(consumed.table);
    json.end_object();
    write_index_units(json, "GlobalSecondaryIndexes", consumed.global_indexes);
    write_index_units(json, "LocalSecondaryIndexes", consumed.local_indexes);
  }
  json.end_object();
}

void write_consumed(JsonWriter& json, const std::optional<store::ConsumedCapacity>& consumed,
                    store::ReturnConsumedCapacity shown) {
  if (!consumed || shown == store::ReturnConsumedCapacity::none) return;
  write(json.key("ConsumedCapacity"), *consumed, shown);
}

void write_consumed(JsonWriter& json, const std::vector<store::ConsumedCapacity>& consumed,
                    store::ReturnConsumedCapacity shown) {
  if (shown == store::ReturnConsumedCapacity::none) return;
  json.key("ConsumedCapacity").begin_array();
  for (const store::ConsumedCapacity& each : consumed) write(json, each, shown);
  json.end_array();
}

void write(JsonWriter& json, const store::ItemCollectionMetrics& metrics) {
  json.begin_object().key("ItemCollectionKey").item(metrics.collection_key).key("SizeEstimateRangeGB").begin_array();
  json.units(metrics.lower_gigabytes).units(metrics.upper_gigabytes).end_array().end_object();
}

void write_responses(JsonWriter& json, const std::vector<std::optional<item::Item>>& items) {
  json.key("Responses").begin_array();
  for (const auto& item : items) {
    json.begin_object();
    if (item) json.key("Item").item(*item);
    json.end_object();
  }
  json.end_array();
}

}  // namespace postino::wire
