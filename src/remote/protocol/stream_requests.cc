#include "remote/protocol/request_writer.h"
#include "remote/protocol/requests.h"

namespace postino::remote {

std::string encode(const store::ListStreamsRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("TableName", request.table_name).number("Limit", request.limit);
  json.text("ExclusiveStartStreamArn", request.exclusive_start_stream_arn).end_object();
  return body;
}

std::string encode(const store::DescribeStreamRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("StreamArn", request.stream_arn).number("Limit", request.limit);
  json.text("ExclusiveStartShardId", request.exclusive_start_shard_id);
  if (request.children_of_shard_id)
    json.key("ShardFilter")
        .begin_object()
        .text("Type", "CHILD_SHARDS")
        .text("ShardId", *request.children_of_shard_id)
        .end_object();
  json.end_object();
  return body;
}

std::string encode(const store::GetShardIteratorRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("StreamArn", request.stream_arn).text("ShardId", request.shard_id);
  json.word("ShardIteratorType", request.type).text("SequenceNumber", request.sequence_number).end_object();
  return body;
}

std::string encode(const store::GetRecordsRequest& request) {
  std::string body;
  RequestWriter json(body);
  json.begin_object().text("ShardIterator", request.shard_iterator).number("Limit", request.limit).end_object();
  return body;
}

}  // namespace postino::remote
