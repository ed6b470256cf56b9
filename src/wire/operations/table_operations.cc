#include "wire/operations/table_operations.h"

#include "wire/operations/policy_operations.h"
#include "wire/protocol/parameters.h"
#include "wire/protocol/table_json.h"

namespace postino::wire {

namespace {

void write_description(JsonWriter& json, std::string_view key, const store::TableDescription& table) {
  write(json.begin_object().key(key), table);
  json.end_object();
}

}  // namespace

store::Answer<std::string> required_table(std::optional<std::string> table_name) {
  if (!table_name) return store::refuse_invalid(std::string(missing_table_name));
  std::string name = table_of(*std::move(table_name));
  TRY_VOID(store::check_table_name(name));
  return name;
}

void ChangeTable::encode(JsonWriter& json, const Response& response, const Reporting&) {
  write_description(json, "TableDescription", response);
}

store::Answer<store::CreateTableRequest> CreateTable::decode(Input input) {
  TRY(Request request, decode_create_table(std::move(input)));
  if (request.resource_policy) TRY_VOID(read_resource_policy(*request.resource_policy));
  return request;
}

// Tags and a policy at the creation are like others.
store::Answer<void> CreateTable::authorize(const AccessCheck& check, const Request& request) {
  TRY_VOID(check.table(access::action_named(name), request.table_name));
  if (request.resource_policy) TRY_VOID(check.table(access::action_named("PutResourcePolicy"), request.table_name));
  if (request.tags.empty()) return {};
  return check.table(access::action_named("TagResource"), request.table_name);
}

void CreateTable::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  run_on_control_thread<Response>(services, done,
                                  [store = services.store, request] { return store->create_table(request); });
}

void UpdateTable::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  run_on_control_thread<Response>(services, done,
                                  [store = services.store, request] { return store->update_table(request); });
}

void DeleteTable::encode(JsonWriter& json, const Response& response, const Reporting&) {
  write_deleted(json.begin_object().key("TableDescription"), response);
  json.end_object();
}

void DeleteTable::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  run_on_control_thread<Response>(services, done,
                                  [store = services.store, request] { return store->delete_table(request); });
}

void DescribeTable::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->describe_table(request));
}

void DescribeTable::encode(JsonWriter& json, const Response& response, const Reporting&) {
  write_description(json, "Table", response);
}

store::Answer<store::ListTablesRequest> ListTables::decode(Input input) {
  return Request{std::move(input.exclusive_start_table_name), input.limit};
}

void ListTables::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->list_tables(request));
}

void ListTables::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object();
  if (response.last_evaluated_table_name)
    json.key("LastEvaluatedTableName").string(*response.last_evaluated_table_name);
  json.key("TableNames").begin_array();
  for (const std::string& table : response.table_names) json.string(table);
  json.end_array().end_object();
}

}  // namespace postino::wire
