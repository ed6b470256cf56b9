#include "request_text.h"

#include "item/json_codec.h"

namespace postino::model {

namespace {

std::string placeholders_text(const expr::Placeholders& placeholders) {
  std::string text;
  if (placeholders.names) {
    text += " names";
    for (const auto& [placeholder, name] : *placeholders.names) text += " " + placeholder + "=" + name;
  }
  if (placeholders.values) text += " values " + item::to_json(*placeholders.values);
  return text;
}

template <class Request>
std::string write_text(const std::string& verb, const Request& request) {
  std::string text = verb + " " + request.table_name + " ";
  if constexpr (requires { request.item; })
    text += item::to_json(request.item);
  else
    text += item::to_json(request.key);
  if constexpr (requires { request.update; })
    if (request.update) text += " update \"" + request.update->text() + "\"";
  if (request.condition) text += " if \"" + request.condition->text() + "\"";
  text += placeholders_text(request.placeholders);
  if constexpr (requires { request.return_values; })
    text += " return " + std::to_string(static_cast<int>(request.return_values));
  if (request.return_item_on_failure) text += " item-on-failure";
  return text;
}

template <class Request>
std::string get_text(const Request& request) {
  std::string text = request.table_name + " ";
  if constexpr (requires { request.keys; }) {
    for (const item::Key& key : request.keys) text += item::to_json(key) + " ";
  } else {
    text += item::to_json(request.key);
  }
  if (request.projection) text += " show \"" + request.projection->text() + "\"";
  return text + placeholders_text(request.placeholders);
}

std::string page_text(const store::ReadPage& request) {
  std::string text = request.table_name;
  if (request.index_name) text += "/" + *request.index_name;
  if (request.filter) text += " filter \"" + request.filter->text() + "\"";
  if (request.projection) text += " show \"" + request.projection->text() + "\"";
  if (request.select) text += " select " + std::to_string(static_cast<int>(*request.select));
  if (request.limit) text += " limit " + std::to_string(*request.limit);
  if (request.exclusive_start_key) text += " after " + item::to_json(*request.exclusive_start_key);
  if (request.consistent_read) text += " consistent";
  return text + placeholders_text(request.placeholders);
}

std::string schema_text(const store::KeySchema& schema) {
  std::string text = "(";
  for (const store::KeyElement& element : schema)
    text += (text.size() > 1 ? ", " : "") + element.name + (element.role == store::KeyRole::hash ? " hash" : " range");
  return text + ")";
}

std::string projection_text(const store::IndexProjection& projection) {
  static const std::string names[] = {"all", "keys only", "keys and"};
  std::string text = " " + names[static_cast<int>(*projection.type)];
  if (projection.non_key_attributes)
    for (const std::string& name : *projection.non_key_attributes) text += " " + name;
  return text;
}

}  // namespace

std::string text_of(const store::PutItemRequest& request) { return write_text("put", request); }
std::string text_of(const store::UpdateItemRequest& request) { return write_text("update", request); }
std::string text_of(const store::DeleteItemRequest& request) { return write_text("delete", request); }
std::string text_of(const store::GetItemRequest& request) { return "get " + get_text(request); }

std::string text_of(const store::TransactWriteItemsRequest& request) {
  static const std::string verbs[] = {"put", "update", "delete", "check"};
  std::string text = "transaction";
  if (request.client_request_token) text += " token " + *request.client_request_token;
  for (const store::TransactAction& action : request.actions)
    text += "\n    " + std::visit([&](const auto& each) { return write_text(verbs[action.index()], each); }, action);
  return text;
}

std::string text_of(const store::TransactGetItemsRequest& request) {
  std::string text = "transact get";
  for (const store::TransactGet& get : request.gets) text += "\n    " + get_text(get);
  return text;
}

std::string text_of(const store::BatchWriteItemRequest& request) {
  std::string text = "batch write";
  for (const store::BatchWriteTable& table : request.tables)
    for (const store::BatchWrite& write : table.writes) {
      const auto* put = std::get_if<store::BatchPut>(&write);
      text += "\n    " + std::string(put == nullptr ? "delete " : "put ") + table.table_name + " " +
              item::to_json(put == nullptr ? std::get<store::BatchDelete>(write).key : put->item);
    }
  return text;
}

std::string text_of(const store::BatchGetItemRequest& request) {
  std::string text = "batch get";
  for (const store::BatchGetTable& table : request.tables) text += "\n    " + get_text(table);
  return text;
}

std::string text_of(const store::QueryRequest& request) {
  return std::string("query ") + (request.forward ? "" : "backward ") + "\"" + request.key_condition->text() + "\" " +
         page_text(request);
}

std::string text_of(const store::ScanRequest& request) {
  std::string text = "scan " + page_text(request);
  if (request.segment) text += " segment " + std::to_string(*request.segment);
  if (request.total_segments) text += " of " + std::to_string(*request.total_segments);
  return text;
}

std::string text_of(const store::GlobalIndexDefinition& index) {
  return index.name + schema_text(index.key_schema) + projection_text(index.projection);
}

std::string text_of(const store::CreateTableRequest& request) {
  std::string text = "create table " + request.table_name + schema_text(request.key_schema);
  for (const store::AttributeDefinition& definition : request.attribute_definitions)
    text += " " + definition.name + ":" + std::string(item::type_name(definition.type));
  if (request.local_indexes)
    for (const store::LocalIndexDefinition& index : *request.local_indexes)
      text += "\n    local " + index.name + schema_text(index.key_schema) + projection_text(index.projection);
  if (request.global_indexes)
    for (const store::GlobalIndexDefinition& index : *request.global_indexes) text += "\n    global " + text_of(index);
  if (request.stream) text += "\n    stream " + std::to_string(static_cast<int>(*request.stream->view_type));
  return text;
}

std::string text_of(const store::StreamRecord& record) {
  static const std::string types[] = {"insert", "modify", "remove"};
  return types[static_cast<int>(record.type)] + " " + item::to_json(record.keys) + " from " +
         text_of(record.old_image) + " to " + text_of(record.new_image) +
         (record.by_time_to_live ? " by time to live" : "");
}

std::string text_of(const std::optional<item::Item>& item) { return item ? item::to_json(*item) : "nothing"; }

std::string text_of(const std::vector<item::Item>& items) {
  std::string text = std::to_string(items.size()) + " items";
  for (const item::Item& item : items) text += "\n    " + item::to_json(item);
  return text;
}

std::string text_of(const store::Error& error) {
  std::string text = std::string(store::error_name(error.type)) + ": " + error.message;
  if (!error.details) return text;
  if (error.details->item) text += " item " + item::to_json(*error.details->item);
  for (const store::CancellationReason& reason : error.details->reasons)
    text += "\n    " + reason.code + " " + reason.message + " " + text_of(reason.item);
  return text;
}

}  // namespace postino::model
