#include "wire/operations/batch_operations.h"

#include <algorithm>

#include "wire/protocol/enums.h"
#include "wire/protocol/java_text.h"
#include "wire/protocol/legacy_input.h"
#include "wire/protocol/parameters.h"

namespace postino::wire {

namespace {

using store::Constraints;

constexpr std::string_view key_rules =
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length "
    "greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]";
constexpr std::string_view list_rules =
    "Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length "
    "greater than or equal to 1]";
constexpr std::string_view no_request =
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes";

template <class T>
void check_tables(Constraints& constraints, const Entries<T>& tables, const std::string& text) {
  for (const auto& entry : tables)
    if (!check_table_name(entry.first)) constraints.refuse("requestItems", text, key_rules);
}

std::string request_text(const WriteRequestInput& write) {
  const std::string put =
      write.put && write.put->item ? "PutRequest(item=" + wire::java_text(write.put->item->map) + ")" : "null";
  const std::string remove =
      write.remove && write.remove->key ? "DeleteRequest(key=" + wire::java_text(write.remove->key->map) + ")" : "null";
  return "WriteRequest(putRequest=" + put + ", deleteRequest=" + remove + ")";
}

std::string request_text(const Entries<std::vector<WriteRequestInput>>& tables) {
  std::string text = "{";
  for (const auto& [table, writes] : tables) {
    if (text.size() > 1) text += ", ";
    std::vector<std::string> texts;
    for (const WriteRequestInput& write : writes) texts.push_back(request_text(write));
    text.append(table).append("=").append(store::list_text(texts));
  }
  return text + "}";
}

// Whether a list is too long or empty: then all of them are printed, which is why it is not done otherwise.
bool has_wrong_length(const Entries<std::vector<WriteRequestInput>>& tables) {
  return std::ranges::any_of(tables, [](const auto& entry) {
    return entry.second.empty() || entry.second.size() > store::max_batch_write_requests;
  });
}

void check_writes(Constraints& constraints, const Entries<std::vector<WriteRequestInput>>& tables) {
  check_tables(constraints, tables, "{}");
  if (has_wrong_length(tables)) constraints.refuse("requestItems", request_text(tables), list_rules);
  for (const auto& [table, writes] : tables)
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const std::string path = "requestItems." + table + ".member." + std::to_string(i + 1) + ".member.";
      if (writes[i].remove) constraints.check_not_null(path + "deleteRequest.key", writes[i].remove->key.has_value());
      if (writes[i].put) constraints.check_not_null(path + "putRequest.item", writes[i].put->item.has_value());
    }
}

store::Answer<store::BatchWrite> decode_write(WriteRequestInput write) {
  if (write.put.has_value() == write.remove.has_value()) return store::refuse_invalid(std::string(no_request));
  if (write.put) {
    TRY_VOID(check_fault(write.put->item));
    return store::BatchPut{std::move(write.put->item->map)};
  }
  TRY_VOID(check_fault(write.remove->key));
  return store::BatchDelete{std::move(write.remove->key->map)};
}

store::Answer<store::BatchGetTable> decode_keys(std::string table_name, KeysInput input) {
  TRY_VOID(check_styles({{"ProjectionExpression", input.projection.has_value()}},
                        {{"AttributesToGet", input.attributes_to_get.has_value()}}, input.names, std::nullopt));
  store::BatchGetTable table;
  table.table_name = table_of(std::move(table_name));
  table.placeholders.names = std::move(input.names);
  table.consistent_read = input.consistent_read.value_or(false);
  table.projection = expression_of<store::ProjectionExpression>(std::move(input.projection));
  if (input.attributes_to_get) {
    TRY(table.projection, LegacyTranslator(table.placeholders).attributes_to_get(*input.attributes_to_get));
  }
  for (MapInput& key : *input.keys) {
    if (key.fault) return store::refuse_invalid(*std::move(key.fault));
    table.keys.push_back(std::move(key.map));
  }
  return table;
}

void write_unprocessed(JsonWriter& json, const std::string& name, const store::BatchGetTable& table) {
  json.any_key(name).begin_object();
  if (table.consistent_read) json.key("ConsistentRead").boolean(true);
  if (table.placeholders.names) {
    json.key("ExpressionAttributeNames").begin_object();
    for (const auto& [placeholder, name] : *table.placeholders.names) json.any_key(placeholder).string(name);
    json.end_object();
  }
  json.key("Keys").items(table.keys);
  if (table.projection) json.key("ProjectionExpression").string(table.projection->text());
  json.end_object();
}

void write_unprocessed(JsonWriter& json, const std::string& name, const store::BatchWriteTable& table) {
  json.any_key(name).begin_array();
  for (const store::BatchWrite& write : table.writes) {
    json.begin_object();
    if (const auto* put = std::get_if<store::BatchPut>(&write))
      json.key("PutRequest").begin_object().key("Item").item(put->item).end_object();
    else
      json.key("DeleteRequest").begin_object().key("Key").item(std::get<store::BatchDelete>(write).key).end_object();
    json.end_object();
  }
  json.end_array();
}

}  // namespace

store::Answer<BatchGetItem::Request> BatchGetItem::decode(Input input) {
  Constraints constraints;
  const auto consumed = check_consumed_capacity(constraints, input.return_consumed_capacity);
  constraints.check_not_null("requestItems", input.request_items.has_value());
  if (input.request_items) {
    check_tables(constraints, *input.request_items, "{}");
    for (const auto& [table, keys] : *input.request_items) {
      constraints.check_not_null("requestItems." + table + ".member.keys", keys.keys.has_value());
      check_attributes_to_get(constraints, "requestItems." + table + ".member.attributesToGet", keys.attributes_to_get);
    }
  }
  TRY_VOID(constraints.outcome());

  Request request;
  request.return_consumed_capacity = consumed.value_or(store::ReturnConsumedCapacity::none);
  GivenNamesBuilder names;
  for (auto& [table_name, keys] : *input.request_items) {
    TRY(store::BatchGetTable table, decode_keys(table_name, std::move(keys)));
    names.add(table.table_name, table_name);
    request.tables.push_back(std::move(table));
  }
  request.given_names = std::move(names).take();
  return request;
}

void BatchGetItem::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->batch_get_item(request));
}

void BatchGetItem::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  json.key("Responses").begin_object();
  NamesInOrder names(reporting.given_names);
  for (const auto& table : response.tables) json.any_key(names.next(table.table_name)).items(table.items);
  json.end_object().key("UnprocessedKeys").begin_object();
  NamesInOrder rest(reporting.given_names);
  for (const store::BatchGetTable& table : response.unprocessed)
    write_unprocessed(json, rest.next(table.table_name), table);
  json.end_object().end_object();
}

store::Answer<BatchWriteItem::Request> BatchWriteItem::decode(Input input) {
  Constraints constraints;
  const auto consumed = check_consumed_capacity(constraints, input.return_consumed_capacity);
  const auto metrics = check_collection_metrics(constraints, input.return_item_collection_metrics);
  constraints.check_not_null("requestItems", input.request_items.has_value());
  if (input.request_items) check_writes(constraints, *input.request_items);
  TRY_VOID(constraints.outcome());
  if (input.request_items->empty())
    return store::refuse_invalid("The requestItems parameter is required for BatchWriteItem");

  Request request;
  request.report.consumed_capacity = consumed.value_or(store::ReturnConsumedCapacity::none);
  request.report.item_collection_metrics = metrics == CollectionMetrics::size;
  GivenNamesBuilder names;
  for (auto& [table_name, writes] : *input.request_items) {
    store::BatchWriteTable& table = request.tables.emplace_back();
    table.table_name = table_of(table_name);
    names.add(table.table_name, table_name);
    for (WriteRequestInput& write : writes) {
      TRY(store::BatchWrite decoded, decode_write(std::move(write)));
      table.writes.push_back(std::move(decoded));
    }
  }
  request.given_names = std::move(names).take();
  return request;
}

void BatchWriteItem::run(const Services& services, const Request& request, store::Completion<Response> done) {
  services.store->batch_write_item(request, std::move(done));
}

void write_collection_metrics(JsonWriter& json, const std::vector<store::BatchWriteItemResponse::TableMetrics>& tables,
                              const GivenNames& given_names) {
  if (tables.empty()) return;
  NamesInOrder names(given_names);
  json.key("ItemCollectionMetrics").begin_object();
  for (const auto& table : tables) {
    json.any_key(names.next(table.table_name)).begin_array();
    for (const store::ItemCollectionMetrics& metrics : table.metrics) write(json, metrics);
    json.end_array();
  }
  json.end_object();
}

void BatchWriteItem::encode(JsonWriter& json, const Response& response, const Reporting& reporting) {
  json.begin_object();
  write_consumed(json, response.consumed_capacity, reporting.consumed_capacity);
  write_collection_metrics(json, response.item_collection_metrics, reporting.given_names);
  json.key("UnprocessedItems").begin_object();
  NamesInOrder names(reporting.given_names);
  for (const store::BatchWriteTable& table : response.unprocessed)
    write_unprocessed(json, names.next(table.table_name), table);
  json.end_object().end_object();
}

}  // namespace postino::wire
