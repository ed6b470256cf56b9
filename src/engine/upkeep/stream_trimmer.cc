#include "engine/upkeep/stream_trimmer.h"

#include <algorithm>

#include "engine/storage/keys.h"
#include "engine/streams/stream_record.h"
#include "engine/streams/stream_shards.h"

namespace postino::engine {

namespace {

constexpr std::size_t streams_per_round = 32;
constexpr std::size_t records_per_step = 1'000;

// Readers do not see records that are too old anyway. So trimming may gather a minute's worth instead of changing the
// catalog for every record of a busy stream.
constexpr base::Milliseconds trim_delay = std::chrono::minutes(1);

bool is_over(std::optional<base::TimePoint> closed, base::TimePoint now) {
  return closed && now - *closed > store::stream_retention;
}

// Each stream once, beginning after the one that was served last.
std::vector<StreamPointer> streams_after(const CatalogState& state, ObjectId last) {
  std::vector<StreamPointer> streams;
  for (const auto& [id, stream] : state.streams) streams.push_back(stream);
  const auto first = std::ranges::find_if(streams, [&](const auto& stream) { return stream->id > last; });
  std::ranges::rotate(streams, first);
  return streams;
}

}  // namespace

bool StreamTrimmer::Step::any() const {
  return trim_until > stream->trimmed_until || shards_to_drop > 0 || roll || drop;
}

store::Answer<bool> StreamTrimmer::run_once() {
  const std::lock_guard control(core_.control_mutex);
  const CatalogStatePointer state = core_.catalog->state();
  std::vector<Step> steps;
  bool more = false;
  base::Result<void> looked;  // a damaged stream must not keep the others from being served
  for (const StreamPointer& stream : streams_after(*state, last_)) {
    base::Result<Step> step = next_step(stream);
    if (!step) looked = base::propagate(step.error());
    if (!step || !step->any()) continue;
    more |= step->more_to_trim;
    steps.push_back(std::move(*step));
    if (steps.size() == streams_per_round) break;
  }
  if (!steps.empty()) TRY_VOID(commit(steps));
  TRY_VOID(looked);
  return more || steps.size() == streams_per_round;
}

store::Answer<void> StreamTrimmer::commit(const std::vector<Step>& steps) {
  last_ = steps.back().stream->id;
  return core_.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    for (const Step& step : steps) apply(step, state, entry);
    return {};
  });
}

base::Result<StreamTrimmer::Step> StreamTrimmer::next_step(const StreamPointer& stream) const {
  const base::TimePoint now = core_.now();
  Step step;
  step.stream = stream;
  step.trim_until = stream->trimmed_until;
  const StreamShard& newest = stream->shards.back();
  step.drop = !stream->enabled && is_over(newest.closed, now);
  if (step.drop) return step;
  step.roll = stream->enabled && now - newest.created >= shard_life;
  TRY_VOID(find_records_to_trim(step));
  return step;
}

base::Result<void> StreamTrimmer::find_records_to_trim(Step& step) const {
  const std::string first = stream_key(step.stream->id, step.stream->trimmed_until);
  const std::string end = id_prefix(step.stream->id + 1);
  const rocksdb::Slice lower(first);
  const rocksdb::Slice upper(end);
  const auto records = core_.database->iterate(Family::streams, lower, upper);
  base::TimePoint oldest = core_.now() - store::stream_retention - trim_delay;
  std::size_t count = 0;
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    TRY(const base::TimePoint time, time_of_stream_record(records->value().ToStringView()));
    if (time >= oldest) break;
    if (count == records_per_step) {
      step.more_to_trim = true;
      break;
    }
    oldest = core_.now() - store::stream_retention;  // once it begins, everything too old goes
    step.trim_until = sequence_number_of(records->key().ToStringView()) + 1;
    ++count;
  }
  if (!records->status().ok()) return base::propagate(error_from(records->status()));
  find_shards_to_drop(step, records->Valid(), records->Valid() ? sequence_number_of(records->key().ToStringView()) : 0);
  return {};
}

void StreamTrimmer::find_shards_to_drop(Step& step, bool has_records, RecordNumber first_kept) const {
  const base::TimePoint now = core_.now();
  for (const StreamShard& shard : step.stream->shards) {
    const bool is_last = &shard == &step.stream->shards.back();
    if (is_last || !is_over(shard.closed, now) || (has_records && first_kept < *shard.end)) return;
    ++step.shards_to_drop;
  }
}

void StreamTrimmer::apply(const Step& step, CatalogState& state, CommitEntry& entry) const {
  if (step.drop) {
    remove_stream(entry, *step.stream);
    state.streams.erase(step.stream->id);
    return;
  }
  Stream stream = *step.stream;
  if (step.trim_until > stream.trimmed_until) {
    entry.remove_range(Family::streams, stream_key(stream.id, stream.trimmed_until),
                       stream_key(stream.id, step.trim_until));
    stream.trimmed_until = step.trim_until;
  }
  stream.shards.erase(stream.shards.begin(), stream.shards.begin() + static_cast<std::ptrdiff_t>(step.shards_to_drop));
  if (step.roll) roll_shard(stream, core_.queue->next_sequence_number(), core_.now());
  put_stream(entry, stream);
  state.streams[stream.id] = std::make_shared<const Stream>(std::move(stream));
}

}  // namespace postino::engine
