#include "remote/protocol/request_writer.h"
#include "remote/protocol/requests.h"

namespace postino::remote {

namespace {

// What puts, updates and deletes have in common; the object is still open before.
template <class Request>
void write_rest_of_write(RequestWriter& json, const Request& request) {
  json.text("ConditionExpression", request.condition).placeholders(request.placeholders);
  if (request.return_values != store::ReturnValues::none) json.word("ReturnValues", request.return_values);
  json.item_on_failure(request.return_item_on_failure).report(request.report).end_object();
}

void write_page(RequestWriter& json, const store::ReadPage& request) {
  json.text("TableName", request.table_name).text("IndexName", request.index_name);
  json.text("FilterExpression", request.filter).text("ProjectionExpression", request.projection);
  json.placeholders(request.placeholders).word("Select", request.select).number("Limit", request.limit);
  if (request.exclusive_start_key) json.key("ExclusiveStartKey").item(*request.exclusive_start_key);
  json.flag("ConsistentRead", request.consistent_read).capacity_wanted();
}

}  // namespace

std::string encode(const store::GetItemRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", request.table_name).key("Key").item(request.key);
  json.text("ProjectionExpression", request.projection).placeholders(request.placeholders);
  json.flag("ConsistentRead", request.consistent_read).capacity_wanted().end_object();
  return body;
}

std::string encode(const store::PutItemRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", request.table_name).key("Item").item(request.item);
  write_rest_of_write(json, request);
  return body;
}

std::string encode(const store::UpdateItemRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", request.table_name).key("Key").item(request.key);
  json.text("UpdateExpression", request.update);
  write_rest_of_write(json, request);
  return body;
}

std::string encode(const store::DeleteItemRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", request.table_name).key("Key").item(request.key);
  write_rest_of_write(json, request);
  return body;
}

std::string encode(const store::QueryRequest& request) {
  std::string body;
  RequestWriter json(body);
  write_page(json.begin_object(), request);
  json.text("KeyConditionExpression", request.key_condition);
  if (!request.forward) json.key("ScanIndexForward").boolean(false);
  json.end_object();
  return body;
}

std::string encode(const store::ScanRequest& request) {
  std::string body;
  RequestWriter json(body);
  write_page(json.begin_object(), request);
  json.number("Segment", request.segment).number("TotalSegments", request.total_segments).end_object();
  return body;
}

}  // namespace postino::remote
