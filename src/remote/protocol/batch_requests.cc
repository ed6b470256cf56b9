// Batches and transactions.
#include "remote/protocol/request_writer.h"
#include "remote/protocol/requests.h"

namespace postino::remote {

namespace {

void write_batch_write(RequestWriter& json, const store::BatchWrite& write) {
  json.begin_object();
  if (const auto* put = std::get_if<store::BatchPut>(&write))
    json.key("PutRequest").begin_object().key("Item").item(put->item).end_object();
  else
    json.key("DeleteRequest").begin_object().key("Key").item(std::get<store::BatchDelete>(write).key).end_object();
  json.end_object();
}

void write_subject(RequestWriter& json, const store::TransactPut& action) {
  json.key("Put").begin_object().key("Item").item(action.item);
}
void write_subject(RequestWriter& json, const store::TransactUpdate& action) {
  json.key("Update").begin_object().key("Key").item(action.key).text("UpdateExpression", action.update);
}
void write_subject(RequestWriter& json, const store::TransactDelete& action) {
  json.key("Delete").begin_object().key("Key").item(action.key);
}
void write_subject(RequestWriter& json, const store::TransactConditionCheck& action) {
  json.key("ConditionCheck").begin_object().key("Key").item(action.key);
}

void write_action(RequestWriter& json, const store::TransactAction& any) {
  json.begin_object();
  std::visit(
      [&json](const auto& action) {
        write_subject(json, action);
        json.text("TableName", action.table_name).text("ConditionExpression", action.condition);
        json.placeholders(action.placeholders).item_on_failure(action.return_item_on_failure);
      },
      any);
  json.end_object().end_object();
}

}  // namespace

std::string encode(const store::BatchGetItemRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().key("RequestItems").begin_object();
  for (const store::BatchGetTable& table : request.tables) {
    json.any_key(table.table_name).begin_object().key("Keys").begin_array();
    for (const item::Key& key : table.keys) json.item(key);
    json.end_array().text("ProjectionExpression", table.projection).placeholders(table.placeholders);
    json.flag("ConsistentRead", table.consistent_read).end_object();
  }
  json.end_object().capacity_wanted().end_object();
  return body;
}

std::string encode(const store::BatchWriteItemRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().key("RequestItems").begin_object();
  for (const store::BatchWriteTable& table : request.tables) {
    json.any_key(table.table_name).begin_array();
    for (const store::BatchWrite& write : table.writes) write_batch_write(json, write);
    json.end_array();
  }
  json.end_object().report(request.report).end_object();
  return body;
}

std::string encode(const store::TransactGetItemsRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().key("TransactItems").begin_array();
  for (const store::TransactGet& get : request.gets) {
    json.begin_object().key("Get").begin_object().text("TableName", get.table_name).key("Key").item(get.key);
    json.text("ProjectionExpression", get.projection).placeholders(get.placeholders).end_object().end_object();
  }
  json.end_array().capacity_wanted().end_object();
  return body;
}

std::string encode(const store::TransactWriteItemsRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().key("TransactItems").begin_array();
  for (const store::TransactAction& action : request.actions) write_action(json, action);
  json.end_array().text("ClientRequestToken", request.client_request_token).report(request.report).end_object();
  return body;
}

}  // namespace postino::remote
