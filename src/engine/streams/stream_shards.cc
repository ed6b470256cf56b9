#include "engine/streams/stream_shards.h"

#include <algorithm>
#include <cstdio>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace postino::engine {

std::string shard_id(ObjectId stream, std::uint64_t number, base::TimePoint created) {
  std::string identity;
  base::append_big_endian(identity, stream);
  base::append_big_endian(identity, number);
  char text[64];
  std::snprintf(text, sizeof text, "shardId-%020lld-%08x", static_cast<long long>(base::epoch_milliseconds(created)),
                static_cast<unsigned>(base::fast_hash(identity)));
  return text;
}

std::string shard_id(const Stream& stream, const StreamShard& shard) {
  return shard_id(stream.id, shard.number, shard.created);
}

const StreamShard* find_shard(const Stream& stream, std::string_view id) {
  const auto found =
      std::ranges::find_if(stream.shards, [&](const auto& shard) { return shard_id(stream, shard) == id; });
  return found == stream.shards.end() ? nullptr : &*found;
}

const StreamShard* find_shard(const Stream& stream, std::uint64_t number) {
  const auto found = std::ranges::find(stream.shards, number, &StreamShard::number);
  return found == stream.shards.end() ? nullptr : &*found;
}

store::Shard describe_shard(const Stream& stream, const StreamShard& shard) {
  store::Shard result;
  result.id = shard_id(stream, shard);
  if (shard.parent_created) result.parent_id = shard_id(stream.id, shard.number - 1, *shard.parent_created);
  result.starting = shown_number(shard.first);
  // A shard that never had a record ends where it starts.
  if (shard.end) result.ending = shown_number(std::max(shard.first, *shard.end - 1));
  return result;
}

void roll_shard(Stream& stream, RecordNumber next, base::TimePoint now) {
  CHECK(stream.enabled && !stream.shards.empty());
  StreamShard& open = stream.shards.back();
  open.end = next;
  open.closed = now;
  StreamShard child;
  child.number = open.number + 1;
  child.created = now;
  child.first = next;
  child.parent_created = open.created;
  stream.shards.push_back(child);
}

}  // namespace postino::engine
