#include "engine/streams/stream_operations.h"

#include <algorithm>

#include "engine/streams/shard_iterator.h"
#include "engine/streams/stream_arn.h"
#include "engine/streams/stream_reader.h"
#include "engine/streams/stream_shards.h"
#include "engine/streams/stream_subscription.h"
#include "store/constraints.h"

namespace postino::engine {

namespace {

constexpr int max_page = 100;  // of streams and of shards

store::Answer<int> checked_limit(std::optional<int> limit, int maximum) {
  store::Constraints constraints;
  constraints.check_at_least("limit", limit.value_or(maximum), 1);
  constraints.check_at_most("limit", limit.value_or(maximum), maximum);
  TRY_VOID(constraints.outcome());
  return limit.value_or(maximum);
}

store::Error no_such_stream(const std::string& arn) {
  return {store::ErrorType::resource_not_found, "Requested resource not found: Stream: " + arn + " not found"};
}

store::StreamSummary summary_of(const Core& core, const Stream& stream) {
  return {core.stream_arn(stream), stream.table_name, stream.label};
}

store::StreamStatus status_of(const Core& core, const Stream& stream) {
  const TablePointer table = core.catalog->find(stream.table_name);
  const bool changing = table && table->transition && table->latest_stream_label == stream.label;
  if (changing && table->transition->stream) return *table->transition->stream;
  if (changing && table->transition->status == store::TableStatus::creating) return store::StreamStatus::enabling;
  return stream.enabled ? store::StreamStatus::enabled : store::StreamStatus::disabled;
}

store::Answer<StreamPointer> find_stream_by_arn(const Core& core, const std::string& arn) {
  if (!is_stream_arn(arn)) return store::refuse_invalid("Invalid StreamArn");
  const CatalogStatePointer state = core.catalog->state();
  const auto found =
      std::ranges::find_if(state->streams, [&](const auto& entry) { return core.stream_arn(*entry.second) == arn; });
  if (found != state->streams.end()) return found->second;
  return base::propagate(no_such_stream(arn));
}

// The shards that the request asks for, before paging.
std::vector<const StreamShard*> selected_shards(const Stream& stream, const store::DescribeStreamRequest& request) {
  std::vector<const StreamShard*> selected;
  const StreamShard* start =
      request.exclusive_start_shard_id ? find_shard(stream, *request.exclusive_start_shard_id) : nullptr;
  if (request.exclusive_start_shard_id && start == nullptr) return selected;
  for (const StreamShard& shard : stream.shards) {
    if (start != nullptr && shard.number <= start->number) continue;
    if (request.children_of_shard_id && describe_shard(stream, shard).parent_id != request.children_of_shard_id)
      continue;
    selected.push_back(&shard);
  }
  return selected;
}

bool takes_number(store::IteratorType type) {
  return type == store::IteratorType::at_sequence_number || type == store::IteratorType::after_sequence_number;
}

store::Answer<std::optional<RecordNumber>> checked_number(const store::GetShardIteratorRequest& request) {
  if (!takes_number(request.type)) {
    if (request.sequence_number)
      return store::refuse_invalid("SequenceNumber must not be specified for this ShardIteratorType");
    return std::nullopt;
  }
  if (!request.sequence_number)
    return store::refuse_invalid(
        "SequenceNumber is required for ShardIteratorType AT_SEQUENCE_NUMBER and "
        "AFTER_SEQUENCE_NUMBER");
  const auto shown = store::SequenceNumber::parse(*request.sequence_number);
  const auto number = shown ? record_number(*shown) : std::nullopt;
  if (!number) return store::refuse_invalid("Invalid SequenceNumber");
  return number;
}

// A number that the shard has given out or, if there is none, its first.
bool belongs_to(const StreamShard& shard, RecordNumber number, const Core& core) {
  const RecordNumber end = shard.end.value_or(core.queue->next_sequence_number());
  return number == shard.first || (number > shard.first && number < end);
}

store::Answer<RecordNumber> position_of(const Core& core, StreamReader& reader, const StreamShard& shard,
                                        store::IteratorType type, std::optional<RecordNumber> number) {
  if (type == store::IteratorType::trim_horizon) return reader.oldest_kept(shard.first, end_of(shard));
  if (type == store::IteratorType::latest) return std::clamp(reader.settled(), shard.first, end_of(shard));
  if (*number < reader.stream()->trimmed_until) return trimmed_data();
  if (!belongs_to(shard, *number, core)) return store::refuse_invalid("Invalid SequenceNumber");
  TRY(const bool trimmed, reader.trimmed(*number, end_of(shard)));
  if (trimmed) return trimmed_data();
  return type == store::IteratorType::at_sequence_number ? *number : std::min(*number + 1, end_of(shard));
}

// Of the first record that comes behind the place.
store::Answer<RecordNumber> position_behind(const Core& core, StreamReader& reader, const store::StreamPlace& place) {
  if (place.positions.size() != 1) return store::refuse_invalid("Invalid SequenceNumber");
  const auto& [shard_name, shown] = *place.positions.begin();
  if (shard_name.empty()) {
    const auto number = record_number(shown);
    if (!number || *number >= core.queue->next_sequence_number())
      return store::refuse_invalid("Invalid SequenceNumber");
    return *number + 1;
  }
  const StreamShard* const shard = find_shard(*reader.stream(), shard_name);
  if (shard == nullptr || !shown.is_none()) return store::refuse_invalid("Invalid SequenceNumber");
  return reader.oldest_kept(shard->first, no_end);
}

}  // namespace

store::Answer<store::ListStreamsResponse> StreamOperations::list(const store::ListStreamsRequest& request) {
  TRY(const int limit, checked_limit(request.limit, max_page));
  const auto& start = request.exclusive_start_stream_arn;
  if (start && !is_stream_arn(*start)) return store::refuse_invalid("Invalid StreamArn");

  // In the order of their ARNs, so that a page can start after a stream that is gone by now.
  std::vector<store::StreamSummary> streams;
  const CatalogStatePointer state = core_.catalog->state();
  for (const auto& [id, stream] : state->streams) {
    if (request.table_name && stream->table_name != *request.table_name) continue;
    if (start && core_.stream_arn(*stream) <= *start) continue;
    streams.push_back(summary_of(core_, *stream));
  }
  std::ranges::sort(streams, {}, &store::StreamSummary::arn);

  store::ListStreamsResponse response;
  if (streams.size() > static_cast<std::size_t>(limit)) {
    streams.resize(static_cast<std::size_t>(limit));
    response.last_evaluated_stream_arn = streams.back().arn;
  }
  response.streams = std::move(streams);
  return response;
}

store::Answer<store::StreamDescription> StreamOperations::describe(const store::DescribeStreamRequest& request) {
  TRY(const int limit, checked_limit(request.limit, max_page));
  TRY(const StreamPointer stream, find_stream_by_arn(core_, request.stream_arn));
  store::StreamDescription description;
  description.summary = summary_of(core_, *stream);
  description.status = status_of(core_, *stream);
  description.view_type = stream->view;
  description.created = stream->created;
  description.key_schema = stream->key_schema;
  const std::vector<const StreamShard*> shards = selected_shards(*stream, request);
  for (const StreamShard* shard : shards) {
    if (description.shards.size() == static_cast<std::size_t>(limit)) {
      description.last_evaluated_shard_id = description.shards.back().id;
      break;
    }
    description.shards.push_back(describe_shard(*stream, *shard));
  }
  return description;
}

store::Answer<std::string> StreamOperations::shard_iterator(const store::GetShardIteratorRequest& request) {
  TRY(const auto number, checked_number(request));
  TRY(const StreamPointer found, find_stream_by_arn(core_, request.stream_arn));
  StreamReader reader(core_, found->id);
  if (reader.stream() == nullptr) return base::propagate(no_such_stream(request.stream_arn));
  const StreamShard* shard = find_shard(*reader.stream(), request.shard_id);
  if (shard == nullptr)
    return store::refuse(store::ErrorType::resource_not_found, "Requested resource not found: Shard does not exist");
  TRY(const RecordNumber position, position_of(core_, reader, *shard, request.type, number));
  return encode_shard_iterator({found->id, shard->number, position, core_.now()});
}

std::optional<std::string> StreamOperations::stream_of(const std::string& shard_iterator) {
  const auto iterator = decode_shard_iterator(shard_iterator, core_.now());
  if (!iterator) return std::nullopt;
  const StreamReader reader(core_, iterator->stream);
  if (reader.stream() == nullptr) return std::nullopt;
  return core_.stream_arn(*reader.stream());
}

store::Answer<store::GetRecordsResponse> StreamOperations::records(const store::GetRecordsRequest& request) {
  TRY(const int limit, checked_limit(request.limit, store::max_records_per_read));
  TRY(ShardIterator iterator, decode_shard_iterator(request.shard_iterator, core_.now()));
  StreamReader reader(core_, iterator.stream);
  if (reader.stream() == nullptr)
    return store::refuse(store::ErrorType::resource_not_found, "Requested resource not found: Stream not found");
  const StreamShard* shard = find_shard(*reader.stream(), iterator.shard);
  // The oldest shards go when their records are gone.
  if (shard == nullptr && iterator.shard < reader.stream()->shards.front().number) return trimmed_data();
  if (shard == nullptr || iterator.position < shard->first || iterator.position > end_of(*shard))
    return invalid_shard_iterator();

  TRY(const bool trimmed, reader.trimmed(iterator.position, end_of(*shard)));
  if (trimmed) return trimmed_data();
  TRY(StreamReader::Page page, reader.read(iterator.position, end_of(*shard), limit, request.allowance));
  if (core_.options.traffic) core_.options.traffic->count_stream_read();
  store::GetRecordsResponse response;
  response.records = std::move(page.records);
  // A shard that was closed a moment ago may have records on their way to disk.
  const bool drained = page.complete && reader.settled() >= end_of(*shard);
  if (!drained) {
    iterator.position = page.next;
    iterator.issued = core_.now();
    response.next_shard_iterator = encode_shard_iterator(iterator);
  }
  return response;
}

store::Answer<std::unique_ptr<store::Subscription>> StreamOperations::subscribe(
    const std::string& table_name, const std::optional<store::StreamPlace>& after) {
  const TablePointer table = core_.catalog->find(table_name);
  if (!table) return base::propagate(no_such_table(table_name));
  StreamReader reader(core_, table->stream ? table->stream->id : 0);
  if (reader.stream() == nullptr)
    return store::refuse(store::ErrorType::resource_not_found,
                         "Requested resource not found: Table: " + table_name + " has no enabled stream");
  std::string arn = core_.stream_arn(*reader.stream());
  if (after && after->stream != arn) return store::refuse_invalid("Invalid StreamArn");
  TRY(const RecordNumber position,
      after ? position_behind(core_, reader, *after) : store::Answer<RecordNumber>(reader.oldest_kept(0, no_end)));
  return std::make_unique<StreamSubscription>(core_, table->stream->id, std::move(arn), position);
}

}  // namespace postino::engine
