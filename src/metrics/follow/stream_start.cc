#include "metrics/follow/stream_start.h"

#include "base/log.h"

namespace postino::metrics {

namespace {

Outcome<std::vector<store::Shard>> all_shards(store::Store& store, const std::string& stream) {
  std::vector<store::Shard> shards;
  store::DescribeStreamRequest request;
  request.stream_arn = stream;
  do {
    const auto answer = store.describe_stream(request);
    if (!answer) return temporary(answer.error());
    shards.insert(shards.end(), answer->shards.begin(), answer->shards.end());
    request.exclusive_start_shard_id = answer->last_evaluated_shard_id;
  } while (request.exclusive_start_shard_id);
  if (shards.empty()) return trouble(Trouble::temporary, "the stream " + stream + " has no shards yet");
  return shards;
}

// The record before the first of a shard.
store::SequenceNumber before(const store::Shard& shard) { return shard.starting > 0 ? shard.starting - 1 : 0; }

Outcome<StreamStart> start_after(store::Store& store, const std::string& table, store::SequenceNumber position,
                                 std::optional<store::SequenceNumber> after) {
  auto subscription = store.subscribe(table, after);
  if (!subscription) return temporary(subscription.error());
  return StreamStart{*std::move(subscription), position};
}

}  // namespace

Outcome<std::string> stream_of_table(store::Store& store, const std::string& table, bool may_enable) {
  auto description = store.describe_table(table);
  if (!description && description.error().type == store::ErrorType::resource_not_found)
    return trouble(Trouble::absent, "there is no table " + table);
  if (!description) return temporary(description.error());
  if (!description->stream && may_enable) {
    store::UpdateTableRequest request;
    request.table_name = table;
    request.stream =
        store::StreamSpecification{.enabled = true, .view_type = store::StreamViewType::new_and_old_images};
    description = store.update_table(request);
    if (!description) return temporary(description.error());
    base::log_info("metrics", "the table has a change stream now", {{"table", table}});
  }
  if (!description->stream || !description->latest_stream_arn)
    return trouble(Trouble::temporary, "table " + table + " has no change stream");
  if (*description->stream != store::StreamViewType::new_and_old_images)
    return trouble(Trouble::temporary, "the change stream of table " + table + " must have NEW_AND_OLD_IMAGES");
  return *description->latest_stream_arn;
}

Outcome<StreamStart> start_recently(store::Store& store, const std::string& table, const std::string& stream) {
  TRY(const std::vector<store::Shard> shards, all_shards(store, stream));
  const store::SequenceNumber position = before(shards.back());
  TRY(StreamStart start, start_after(store, table, position, position));
  // Does the stream still have what comes after it? A page of no time tells.
  const auto probe = start.subscription->next(1, base::Milliseconds(0));
  if (!probe && probe.error().type == store::ErrorType::trimmed_data_access)
    return start_after(store, table, position, std::nullopt);
  if (!probe) return temporary(probe.error());
  return start_after(store, table, position, position);
}

Outcome<StreamStart> start_with_oldest(store::Store& store, const std::string& table, const std::string& stream) {
  TRY(const std::vector<store::Shard> shards, all_shards(store, stream));
  return start_after(store, table, before(shards.front()), std::nullopt);
}

}  // namespace postino::metrics
