#include "wire/operations/replication_operations.h"

#include "wire/protocol/enums.h"

namespace postino::wire {

namespace {

// The answer is for a table that is there.
template <class Refusal>
void refuse_for_table(const Services& services, const std::string& table, const store::Completion<std::string>& done,
                      Refusal refusal) {
  if (const auto known = services.store->describe_table(table); !known) return done(base::propagate(known.error()));
  done(refusal());
}

tl::unexpected<store::Error> no_replicas() {
  return store::refuse_invalid(
      "Tables of this server have no replicas: it is one machine, or several that share one store");
}

store::Error no_global_table(const std::string& name) {
  return {store::ErrorType::global_table_not_found, "Global table with name: '" + name + "' does not exist."};
}

}  // namespace

store::Answer<std::string> StreamingDestination::decode(Input input) {
  store::Constraints constraints;
  constraints.check_not_null("tableName", input.table_name.has_value());
  TRY_VOID(constraints.outcome());
  return required_table(std::move(input.table_name));
}

void DescribeKinesisStreamingDestination::run(const Services& services, const Request& request,
                                              const store::Completion<Response>& done) {
  refuse_for_table(services, request, done, [&] { return store::Answer<Response>(request); });
}

void DescribeKinesisStreamingDestination::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("TableName").string(response).key("KinesisDataStreamDestinations").begin_array();
  json.end_array().end_object();
}

void EnableKinesisStreamingDestination::run(const Services& services, const Request& request,
                                            const store::Completion<Response>& done) {
  refuse_for_table(services, request, done, [] {
    return store::refuse_invalid(
        "This server does not write to Kinesis: follow the table's own stream, see StreamSpecification of UpdateTable");
  });
}

void DisableKinesisStreamingDestination::run(const Services& services, const Request& request,
                                             const store::Completion<Response>& done) {
  refuse_for_table(services, request, done, [] {
    return store::refuse_invalid(
        "Table is not in a valid state to disable Kinesis Streaming Destination: KinesisStreamingDestination must be "
        "ACTIVE to perform DISABLE operation.");
  });
}

void UpdateKinesisStreamingDestination::run(const Services& services, const Request& request,
                                            const store::Completion<Response>& done) {
  refuse_for_table(services, request, done, [] {
    return store::refuse_invalid(
        "Table is not in a valid state to update Kinesis Streaming Destination: KinesisStreamingDestination must be "
        "ACTIVE to perform UPDATE operation.");
  });
}

void DescribeTableReplicaAutoScaling::run(const Services& services, const Request& request,
                                          const store::Completion<Response>& done) {
  refuse_for_table(services, request, done, [&] { return store::Answer<Response>(request); });
}

void DescribeTableReplicaAutoScaling::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("TableAutoScalingDescription").begin_object();
  json.key("TableName").string(response).key("TableStatus").string(store::word_for(store::TableStatus::active));
  json.key("Replicas").begin_array().end_array().end_object().end_object();
}

void UpdateTableReplicaAutoScaling::run(const Services& services, const Request& request,
                                        const store::Completion<Response>& done) {
  refuse_for_table(services, request, done, [] { return no_replicas(); });
}

store::Answer<std::string> GlobalTable::decode(Input input) {
  store::Constraints constraints;
  constraints.check_not_null("globalTableName", input.global_table_name.has_value());
  if (input.global_table_name) constraints.check_name("globalTableName", *input.global_table_name);
  TRY_VOID(constraints.outcome());
  return *std::move(input.global_table_name);
}

void GlobalTable::run(const Services&, const Request& request, const store::Completion<Response>& done) {
  done(base::propagate(no_global_table(request)));
}

void CreateGlobalTable::run(const Services&, const Request&, const store::Completion<Response>& done) {
  done(no_replicas());
}

void ListGlobalTables::run(const Services&, const Request&, const store::Completion<Response>& done) {
  done(Response());
}

void ListGlobalTables::encode(JsonWriter& json, const Response&, const Reporting&) {
  json.begin_object().key("GlobalTables").begin_array().end_array().end_object();
}

}  // namespace postino::wire
