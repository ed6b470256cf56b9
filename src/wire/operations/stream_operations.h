// The streams API: ListStreams, DescribeStream, GetShardIterator, GetRecords.
#pragma once

#include "wire/protocol/operation.h"

namespace postino::wire {

struct ListStreamsInput {
  std::optional<std::string> table_name;
  std::optional<std::int32_t> limit;
  std::optional<std::string> exclusive_start_stream_arn;
};
template <>
struct Shape<ListStreamsInput> {
  static constexpr std::string_view name = "ListStreamsInput";
  using T = ListStreamsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::table_name>("TableName"),
      member<T, &T::limit>("Limit"),
      member<T, &T::exclusive_start_stream_arn>("ExclusiveStartStreamArn"),
  });
};

struct ShardFilterInput {
  std::optional<std::string> type;
  std::optional<std::string> shard_id;
};
template <>
struct Shape<ShardFilterInput> {
  static constexpr std::string_view name = "ShardFilter";
  using T = ShardFilterInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::type>("Type"),
      member<T, &T::shard_id>("ShardId"),
  });
};
struct DescribeStreamInput {
  std::optional<std::string> stream_arn;
  std::optional<std::int32_t> limit;
  std::optional<std::string> exclusive_start_shard_id;
  std::optional<ShardFilterInput> shard_filter;
};
template <>
struct Shape<DescribeStreamInput> {
  static constexpr std::string_view name = "DescribeStreamInput";
  using T = DescribeStreamInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::stream_arn>("StreamArn"),
      member<T, &T::limit>("Limit"),
      member<T, &T::exclusive_start_shard_id>("ExclusiveStartShardId"),
      member<T, &T::shard_filter>("ShardFilter"),
  });
};

struct GetShardIteratorInput {
  std::optional<std::string> stream_arn;
  std::optional<std::string> shard_id;
  std::optional<std::string> type;
  std::optional<std::string> sequence_number;
};
template <>
struct Shape<GetShardIteratorInput> {
  static constexpr std::string_view name = "GetShardIteratorInput";
  using T = GetShardIteratorInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::stream_arn>("StreamArn"),
      member<T, &T::shard_id>("ShardId"),
      member<T, &T::type>("ShardIteratorType"),
      member<T, &T::sequence_number>("SequenceNumber"),
  });
};

struct GetRecordsInput {
  std::optional<std::string> shard_iterator;
  std::optional<std::int32_t> limit;
};
template <>
struct Shape<GetRecordsInput> {
  static constexpr std::string_view name = "GetRecordsInput";
  using T = GetRecordsInput;
  static constexpr auto members = std::to_array<Member<T>>({
      member<T, &T::shard_iterator>("ShardIterator"),
      member<T, &T::limit>("Limit"),
  });
};

struct ListStreams {
  static constexpr std::string_view name = "ListStreams";
  using Input = ListStreamsInput;
  using Request = store::ListStreamsRequest;
  using Response = store::ListStreamsResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct DescribeStream {
  static constexpr std::string_view name = "DescribeStream";
  using Input = DescribeStreamInput;
  using Request = store::DescribeStreamRequest;
  using Response = store::StreamDescription;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request.stream_arn);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

struct GetShardIterator {
  static constexpr std::string_view name = "GetShardIterator";
  using Input = GetShardIteratorInput;
  using Request = store::GetShardIteratorRequest;
  using Response = std::string;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request) {
    return check.resource(access::action_named(name), request.stream_arn);
  }
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

// The records, and the region that they tell.
struct RecordsResponse {
  store::GetRecordsResponse page;
  std::string region;
};

struct GetRecords {
  static constexpr std::string_view name = "GetRecords";
  static constexpr bool may_take_long = true;
  using Input = GetRecordsInput;
  using Request = store::GetRecordsRequest;
  using Response = RecordsResponse;
  static store::Answer<Request> decode(Input input);
  static store::Answer<void> authorize(const AccessCheck& check, const Request& request);
  static void run(const Services& services, const Request& request, const store::Completion<Response>& done);
  static void encode(JsonWriter& json, const Response& response, const Reporting& reporting);
};

}  // namespace postino::wire
