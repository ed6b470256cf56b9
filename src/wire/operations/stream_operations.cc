#include "wire/operations/stream_operations.h"

#include "base/hash.h"
#include "wire/protocol/enums.h"
#include "wire/protocol/table_json.h"

namespace postino::wire {

namespace {

using store::Constraints;

// 32 hexadecimal digits, the same whenever the record is read.
std::string event_id(const store::StreamRecord& record) {
  constexpr std::size_t length = 32;
  const std::string number = record.sequence_number.text();
  return base::to_hex(base::sha256(number + item::to_json(record.keys))).substr(0, length);
}

void write_change(JsonWriter& json, const store::StreamRecord& record) {
  json.begin_object().key("ApproximateCreationDateTime").integer(base::epoch_seconds(record.time));
  json.key("Keys").item(record.keys);
  if (record.new_image) json.key("NewImage").item(*record.new_image);
  if (record.old_image) json.key("OldImage").item(*record.old_image);
  json.key("SequenceNumber").string(record.sequence_number.text());
  json.key("SizeBytes").integer(record.size_bytes);
  json.key("StreamViewType").string(word_for(record.view_type)).end_object();
}

void write_record(JsonWriter& json, const store::StreamRecord& record, const std::string& region) {
  json.begin_object().key("eventID").string(event_id(record)).key("eventName").string(word_for(record.type));
  json.key("eventVersion").string("1.1").key("eventSource").string("aws:dynamodb");
  json.key("awsRegion").string(region).key("dynamodb");
  write_change(json, record);
  if (record.by_time_to_live)
    json.key("userIdentity")
        .begin_object()
        .key("PrincipalId")
        .string("dynamodb.amazonaws.com")
        .key("Type")
        .string("Service")
        .end_object();
  json.end_object();
}

void check_shard_filter(Constraints& constraints, const ShardFilterInput& filter) {
  constexpr std::size_t min_id_length = 28;
  constexpr std::size_t max_id_length = 65;
  constraints.check_not_null("shardFilter.shardId", filter.shard_id.has_value());
  if (filter.shard_id) constraints.check_length("shardFilter.shardId", *filter.shard_id, min_id_length, max_id_length);
  require_word<ShardFilterType>(constraints, "shardFilter.type", filter.type);
}

void write_shard(JsonWriter& json, const store::Shard& shard) {
  json.begin_object();
  if (shard.parent_id) json.key("ParentShardId").string(*shard.parent_id);
  json.key("SequenceNumberRange").begin_object();
  json.key("StartingSequenceNumber").string(shard.starting.text());
  if (shard.ending) json.key("EndingSequenceNumber").string(shard.ending->text());
  json.end_object().key("ShardId").string(shard.id).end_object();
}

}  // namespace

store::Answer<store::ListStreamsRequest> ListStreams::decode(Input input) {
  return Request{std::move(input.table_name), input.limit, std::move(input.exclusive_start_stream_arn)};
}

// As AWS names the streams of a table, or of all.
store::Answer<void> ListStreams::authorize(const AccessCheck& check, const Request& request) {
  return check.table(access::action_named(name), request.table_name.value_or("*") + "/stream/*");
}

void ListStreams::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->list_streams(request));
}

void ListStreams::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object();
  if (response.last_evaluated_stream_arn)
    json.key("LastEvaluatedStreamArn").string(*response.last_evaluated_stream_arn);
  json.key("Streams").begin_array();
  for (const store::StreamSummary& stream : response.streams)
    json.begin_object()
        .key("StreamArn")
        .string(stream.arn)
        .key("StreamLabel")
        .string(stream.label)
        .key("TableName")
        .string(stream.table_name)
        .end_object();
  json.end_array().end_object();
}

store::Answer<store::DescribeStreamRequest> DescribeStream::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("streamArn", input.stream_arn.has_value());
  if (input.shard_filter) check_shard_filter(constraints, *input.shard_filter);
  TRY_VOID(constraints.outcome());
  Request request{*std::move(input.stream_arn), input.limit, std::move(input.exclusive_start_shard_id), {}};
  if (input.shard_filter) request.children_of_shard_id = std::move(input.shard_filter->shard_id);
  return request;
}

void DescribeStream::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->describe_stream(request));
}

void DescribeStream::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("StreamDescription").begin_object();
  json.key("CreationRequestDateTime").time(response.created).key("KeySchema");
  write(json, response.key_schema);
  if (response.last_evaluated_shard_id) json.key("LastEvaluatedShardId").string(*response.last_evaluated_shard_id);
  json.key("Shards").begin_array();
  for (const store::Shard& shard : response.shards) write_shard(json, shard);
  json.end_array().key("StreamArn").string(response.summary.arn);
  json.key("StreamLabel").string(response.summary.label);
  json.key("StreamStatus").string(word_for(response.status));
  json.key("StreamViewType").string(word_for(response.view_type));
  json.key("TableName").string(response.summary.table_name).end_object().end_object();
}

store::Answer<store::GetShardIteratorRequest> GetShardIterator::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("streamArn", input.stream_arn.has_value());
  constraints.check_not_null("shardId", input.shard_id.has_value());
  const auto type = require_word<store::IteratorType>(constraints, "shardIteratorType", input.type);
  TRY_VOID(constraints.outcome());
  return Request{*std::move(input.stream_arn), *std::move(input.shard_id), *type, std::move(input.sequence_number)};
}

void GetShardIterator::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(services.store->get_shard_iterator(request));
}

void GetShardIterator::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("ShardIterator").string(response).end_object();
}

store::Answer<store::GetRecordsRequest> GetRecords::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("shardIterator", input.shard_iterator.has_value());
  TRY_VOID(constraints.outcome());
  return Request{*std::move(input.shard_iterator), input.limit};
}

// An iterator that tells no stream is refused by the store, if policies let it pass.
store::Answer<void> GetRecords::authorize(const AccessCheck& check, const Request& request) {
  const auto stream = check.store().stream_of(request.shard_iterator);
  if (!stream) return check.table(access::action_named(name), "*/stream/*");
  return check.resource(access::action_named(name), *stream);
}

void GetRecords::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  auto page = services.store->get_records(request);
  if (!page) return done(base::propagate(std::move(page).error()));
  done(RecordsResponse{*std::move(page), services.region});
}

void GetRecords::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object();
  if (response.page.next_shard_iterator) json.key("NextShardIterator").string(*response.page.next_shard_iterator);
  json.key("Records").begin_array();
  for (const store::StreamRecord& record : response.page.records) write_record(json, record, response.region);
  json.end_array().end_object();
}

}  // namespace postino::wire
