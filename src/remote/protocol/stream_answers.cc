#include "remote/protocol/answers.h"
#include "remote/protocol/key_schema_answer.h"

namespace postino::remote {

namespace {

using Json = AnswerReader::Json;

bool read_sequence_number(AnswerReader& reader, Json json, store::SequenceNumber& out) {
  std::string text;
  if (!reader.text(json, text)) return false;
  const auto number = store::SequenceNumber::parse(text);
  if (!number) return reader.fail("a sequence number is not of the form that is known: " + text);
  out = *number;
  return true;
}

bool read_summary_member(AnswerReader& reader, std::string_view name, Json value, store::StreamSummary& out) {
  if (name == "StreamArn") return reader.text(value, out.arn);
  if (name == "TableName") return reader.text(value, out.table_name);
  if (name == "StreamLabel") return reader.text(value, out.label);
  return true;
}

bool read_shard(AnswerReader& reader, Json json, store::Shard& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "ShardId") return reader.text(value, out.id);
    if (name == "ParentShardId") return reader.text(value, out.parent_id);
    if (name != "SequenceNumberRange") return true;
    return reader.members(value, [&](std::string_view end, Json number) {
      if (end == "StartingSequenceNumber") return read_sequence_number(reader, number, out.starting);
      if (end == "EndingSequenceNumber") return read_sequence_number(reader, number, out.ending.emplace());
      return true;
    });
  });
}

bool read_change(AnswerReader& reader, Json json, store::StreamRecord& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "ApproximateCreationDateTime") return reader.time(value, out.time);
    if (name == "Keys") return reader.item(value, out.keys);
    if (name == "NewImage") return reader.item(value, out.new_image);
    if (name == "OldImage") return reader.item(value, out.old_image);
    if (name == "SequenceNumber") return read_sequence_number(reader, value, out.sequence_number);
    if (name == "SizeBytes") return reader.integer(value, out.size_bytes);
    if (name == "StreamViewType") return reader.word(value, out.view_type);
    return true;
  });
}

// Whether it was the service that deleted it, because it had expired. The names are written in either case.
bool read_identity(AnswerReader& reader, Json json, bool& out) {
  std::string principal;
  const bool is_read = reader.members(json, [&](std::string_view name, Json value) {
    return name == "PrincipalId" || name == "principalId" ? reader.text(value, principal) : true;
  });
  out = principal == "dynamodb.amazonaws.com";
  return is_read;
}

bool read_record(AnswerReader& reader, Json json, store::StreamRecord& out) {
  return reader.members(json, [&](std::string_view name, Json value) {
    if (name == "eventName") return reader.word(value, out.type);
    if (name == "dynamodb") return read_change(reader, value, out);
    if (name == "userIdentity") return read_identity(reader, value, out.by_time_to_live);
    return true;
  });
}

}  // namespace

base::Result<store::ListStreamsResponse> decode_list_streams(std::string body) {
  return read_success<store::ListStreamsResponse>(
      std::move(body), "Streams",
      [](AnswerReader& reader, std::string_view name, Json value, store::ListStreamsResponse& out) {
        if (name == "LastEvaluatedStreamArn") return reader.text(value, out.last_evaluated_stream_arn);
        if (name != "Streams") return true;
        return reader.elements(value, [&](Json each) {
          store::StreamSummary& stream = out.streams.emplace_back();
          return reader.members(each, [&](std::string_view member, Json text) {
            return read_summary_member(reader, member, text, stream);
          });
        });
      });
}

base::Result<store::StreamDescription> decode_stream(std::string body) {
  const auto read_description = [](AnswerReader& reader, Json json, store::StreamDescription& out) {
    return reader.members(json, [&](std::string_view name, Json value) {
      if (name == "StreamStatus") return reader.word(value, out.status);
      if (name == "StreamViewType") return reader.word(value, out.view_type);
      if (name == "CreationRequestDateTime") return reader.time(value, out.created);
      if (name == "KeySchema") return read_key_schema(reader, value, out.key_schema);
      if (name == "LastEvaluatedShardId") return reader.text(value, out.last_evaluated_shard_id);
      if (name == "Shards")
        return reader.elements(value, [&](Json each) { return read_shard(reader, each, out.shards.emplace_back()); });
      return read_summary_member(reader, name, value, out.summary);
    });
  };
  return read_success<store::StreamDescription>(
      std::move(body), "StreamDescription",
      [&](AnswerReader& reader, std::string_view name, Json value, store::StreamDescription& out) {
        return name == "StreamDescription" ? read_description(reader, value, out) : true;
      });
}

base::Result<std::string> decode_shard_iterator(std::string body) {
  return read_success<std::string>(std::move(body), "ShardIterator",
                                   [](AnswerReader& reader, std::string_view name, Json value, std::string& out) {
                                     return name == "ShardIterator" ? reader.text(value, out) : true;
                                   });
}

base::Result<store::GetRecordsResponse> decode_records(std::string body) {
  return read_success<store::GetRecordsResponse>(
      std::move(body), "Records",
      [](AnswerReader& reader, std::string_view name, Json value, store::GetRecordsResponse& out) {
        if (name == "NextShardIterator") return reader.text(value, out.next_shard_iterator);
        if (name != "Records") return true;
        return reader.elements(value, [&](Json each) { return read_record(reader, each, out.records.emplace_back()); });
      });
}

}  // namespace postino::remote
