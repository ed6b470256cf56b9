#include "remote/asking.h"
#include "remote/protocol/answers.h"
#include "remote/protocol/requests.h"
#include "remote/remote_store.h"

namespace postino::remote {

namespace {

using store::ErrorType;

struct NoContent {};

// Some answers have no body, or one that says nothing: dynalite has an empty string. A page of a proxy is none of them.
base::Result<NoContent> decode_nothing(const std::string& body) {
  if (body.empty() || body.front() == '{' || body == R"("")") return NoContent();
  return base::fail(base::ErrorCode::malformed, "it has a content");
}

bool has_failed_with(const Asked<store::TableDescription>& asked, ErrorType type) {
  return !asked.answer && asked.may_be_done && asked.answer.error().type == type;
}

store::Answer<void> without_content(store::Answer<NoContent> answer) {
  if (!answer) return base::propagate(std::move(answer).error());
  return {};
}

// Empty for what is no such name.
std::string table_of_arn(const std::string& arn) {
  constexpr std::string_view before = ":table/";
  const std::size_t found = arn.starts_with("arn:") ? arn.find(before) : std::string::npos;
  if (found == std::string::npos) return "";
  const std::size_t begin = found + before.size();
  return arn.substr(begin, arn.find('/', begin) - begin);
}

}  // namespace

store::Answer<store::TableDescription> RemoteStore::create_table(const store::CreateTableRequest& request) {
  const Call call{.operation = "CreateTable", .table = request.table_name, .body = encode(request)};
  auto asked = ask(*caller_, call, decode_table);
  // Some services say what is otherwise said of restores.
  if (!asked.answer && (asked.answer.error().type == ErrorType::table_already_exists ||
                        asked.answer.error().type == ErrorType::table_in_use))
    asked.answer.error().type = ErrorType::resource_in_use;
  // The first attempt has made it.
  if (has_failed_with(asked, ErrorType::resource_in_use)) return describe_table(request.table_name);
  return settled(std::move(asked));
}

store::Answer<store::TableDescription> RemoteStore::describe_table(const std::string& table_name) {
  const Call call{.operation = "DescribeTable", .table = table_name, .body = encode_table_name(table_name)};
  return ask(*caller_, call, decode_table).answer;
}

store::Answer<store::TableDescription> RemoteStore::update_table(const store::UpdateTableRequest& request) {
  const Call call{.operation = "UpdateTable", .table = request.table_name, .body = encode(request)};
  return settled(ask(*caller_, call, decode_table));
}

store::Answer<store::TableDescription> RemoteStore::delete_table(const std::string& table_name) {
  const Call call{.operation = "DeleteTable", .table = table_name, .body = encode_table_name(table_name)};
  auto asked = ask(*caller_, call, decode_table);
  if (has_failed_with(asked, ErrorType::resource_not_found)) {  // the first attempt has deleted it
    store::TableDescription deleted;
    deleted.name = table_name;
    deleted.status = store::TableStatus::deleting;
    return deleted;
  }
  return settled(std::move(asked));
}

store::Answer<store::ListTablesResponse> RemoteStore::list_tables(const store::ListTablesRequest& request) {
  return ask(*caller_, {.operation = "ListTables", .body = encode(request)}, decode_list_tables).answer;
}

store::Answer<store::TimeToLiveSpecification> RemoteStore::update_time_to_live(
    const std::string& table_name, const store::TimeToLiveSpecification& specification) {
  const Call call{
      .operation = "UpdateTimeToLive", .table = table_name, .body = encode_time_to_live(table_name, specification)};
  auto asked = ask(*caller_, call, decode_time_to_live_specification);
  // "TimeToLive is already enabled": by the first attempt.
  if (!asked.answer && asked.may_be_done && asked.answer.error().type == ErrorType::validation &&
      asked.answer.error().message.starts_with("TimeToLive is already "))
    return specification;
  return settled(std::move(asked));
}

store::Answer<store::TimeToLiveDescription> RemoteStore::describe_time_to_live(const std::string& table_name) {
  const Call call{.operation = "DescribeTimeToLive", .table = table_name, .body = encode_table_name(table_name)};
  return ask(*caller_, call, decode_time_to_live).answer;
}

store::Answer<store::PointInTimeRecoveryDescription> RemoteStore::update_continuous_backups(
    const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) {
  const Call call{
      .operation = "UpdateContinuousBackups", .table = table_name, .body = encode_recovery(table_name, specification)};
  return settled(ask(*caller_, call, decode_recovery));
}

store::Answer<store::PointInTimeRecoveryDescription> RemoteStore::describe_continuous_backups(
    const std::string& table_name) {
  const Call call{.operation = "DescribeContinuousBackups", .table = table_name, .body = encode_table_name(table_name)};
  return ask(*caller_, call, decode_recovery).answer;
}

store::Answer<store::TableDescription> RemoteStore::restore_table_to_point_in_time(
    const store::RestoreToPointInTimeRequest& request) {
  const Call call{
      .operation = "RestoreTableToPointInTime", .table = request.target_table_name, .body = encode(request)};
  auto asked = ask(*caller_, call, decode_table);
  // The first attempt has begun it.
  if (has_failed_with(asked, ErrorType::table_already_exists) || has_failed_with(asked, ErrorType::table_in_use))
    return describe_table(request.target_table_name);
  return settled(std::move(asked));
}

store::Answer<void> RemoteStore::tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) {
  const Call call{.operation = "TagResource", .table = table_of_arn(arn), .body = encode_tags(arn, tags)};
  return without_content(settled(ask(*caller_, call, decode_nothing)));
}

store::Answer<void> RemoteStore::untag_resource(const std::string& arn, const std::vector<std::string>& keys) {
  const Call call{.operation = "UntagResource", .table = table_of_arn(arn), .body = encode_tag_keys(arn, keys)};
  return without_content(settled(ask(*caller_, call, decode_nothing)));
}

store::Answer<store::ListTagsResponse> RemoteStore::list_tags_of_resource(const std::string& arn) {
  constexpr int most_pages = 50;  // a table has at most as many tags
  store::ListTagsResponse all;
  for (int page = 0; page < most_pages; ++page) {
    const Call call{.operation = "ListTagsOfResource",
                    .table = table_of_arn(arn),
                    .body = encode_tagged_resource(arn, all.next_token)};
    TRY(store::ListTagsResponse more, ask(*caller_, call, decode_tags).answer);
    all.tags.insert(all.tags.end(), more.tags.begin(), more.tags.end());
    all.next_token = std::move(more.next_token);
    if (!all.next_token) break;
  }
  return all;
}

store::Answer<store::ListStreamsResponse> RemoteStore::list_streams(const store::ListStreamsRequest& request) {
  const Call call{.api = Api::streams,
                  .operation = "ListStreams",
                  .table = request.table_name.value_or(""),
                  .body = encode(request)};
  return ask(*caller_, call, decode_list_streams).answer;
}

store::Answer<store::StreamDescription> RemoteStore::describe_stream(const store::DescribeStreamRequest& request) {
  const Call call{.api = Api::streams,
                  .operation = "DescribeStream",
                  .table = table_of_arn(request.stream_arn),
                  .body = encode(request)};
  return ask(*caller_, call, decode_stream).answer;
}

store::Answer<std::string> RemoteStore::get_shard_iterator(const store::GetShardIteratorRequest& request) {
  const Call call{.api = Api::streams,
                  .operation = "GetShardIterator",
                  .table = table_of_arn(request.stream_arn),
                  .body = encode(request)};
  return ask(*caller_, call, decode_shard_iterator).answer;
}

// On AWS it begins with the ARN and a bar. What was made up is refused there.
std::optional<std::string> RemoteStore::stream_of(const std::string& shard_iterator) {
  const std::size_t bar = shard_iterator.find('|');
  if (!shard_iterator.starts_with("arn:") || bar == std::string::npos) return std::nullopt;
  return shard_iterator.substr(0, bar);
}

store::Answer<store::GetRecordsResponse> RemoteStore::get_records(const store::GetRecordsRequest& request) {
  if (is_given_up(request.allowance)) return store::read_given_up();
  caller_->counts().count_stream_read();
  // An iterator of Amazon's begins with the name of its stream.
  const std::string& named = request.stream_arn.empty() ? request.shard_iterator : request.stream_arn;
  const Call call{
      .api = Api::streams, .operation = "GetRecords", .table = table_of_arn(named), .body = encode(request)};
  return ask(*caller_, call, decode_records).answer;
}

}  // namespace postino::remote
