// A change stream as the catalog knows it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/storage/keys.h"
#include "store/stream.h"
#include "store/table.h"

namespace postino::engine {

// A shard is a range of a stream's sequence numbers. The last one is open while the stream is enabled.
struct StreamShard {
  std::uint64_t number = 0;  // 0, 1, 2, ... within the stream
  base::TimePoint created;
  RecordNumber first = 0;
  std::optional<RecordNumber> end;  // exclusive
  std::optional<base::TimePoint> closed;
  std::optional<base::TimePoint> parent_created;  // part of the parent's name, which outlives the parent
};

// Streams outlive being disabled, and their table, by the time their records are kept.
struct Stream {
  ObjectId id = 0;
  std::string table_name;
  std::string label;
  store::StreamViewType view = store::StreamViewType::keys_only;
  base::TimePoint created;
  store::KeySchema key_schema;
  bool enabled = true;
  std::vector<StreamShard> shards;  // oldest first
  RecordNumber trimmed_until = 0;   // records with smaller numbers may be gone; none with larger ones is
  store::ResourcePolicyPointer policy;
};
using StreamPointer = std::shared_ptr<const Stream>;

}  // namespace postino::engine
