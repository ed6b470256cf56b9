// The shards of a stream: their names, and how the last one gives way to the next.
#pragma once

#include <string>
#include <string_view>

#include "engine/catalog/stream.h"

namespace postino::engine {

inline constexpr base::Milliseconds shard_life = std::chrono::hours(4);
inline constexpr RecordNumber no_end = ~RecordNumber{0};

// "shardId-", the time of creation and a mark of stream and number: the same for the same shard at all times.
std::string shard_id(ObjectId stream, std::uint64_t number, base::TimePoint created);
std::string shard_id(const Stream& stream, const StreamShard& shard);

// nullptr when the stream has no such shard (any more).
const StreamShard* find_shard(const Stream& stream, std::string_view id);
const StreamShard* find_shard(const Stream& stream, std::uint64_t number);

// One past the numbers that the shard's records can have.
inline RecordNumber end_of(const StreamShard& shard) { return shard.end.value_or(no_end); }

// The shard as callers see it.
store::Shard describe_shard(const Stream& stream, const StreamShard& shard);

// Closes the open shard and opens its child. Everything queued so far has a number below `next`.
void roll_shard(Stream& stream, RecordNumber next, base::TimePoint now);

}  // namespace postino::engine
