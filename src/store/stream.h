// The change stream of a table: every change, in commit order, kept for a day.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/error.h"
#include "store/read_allowance.h"
#include "store/table.h"

namespace postino::store {

inline constexpr base::Milliseconds stream_retention = std::chrono::hours(24);
inline constexpr base::Milliseconds shard_iterator_life = std::chrono::minutes(15);
inline constexpr int max_records_per_read = 1'000;

using SequenceNumber = std::uint64_t;

// DynamoDB shows sequence numbers as 21 to 40 decimal digits; ours have 21, in numeric order.
std::string format_sequence_number(SequenceNumber number);
std::optional<SequenceNumber> parse_sequence_number(std::string_view text);

enum class ChangeType { insert, modify, remove };

struct StreamRecord {
  SequenceNumber sequence_number = 0;
  ChangeType type = ChangeType::insert;
  base::TimePoint time;
  item::Key keys;
  std::optional<item::Item> old_image;  // images as the view type has them
  std::optional<item::Item> new_image;
  std::int64_t size_bytes = 0;
  bool by_time_to_live = false;  // deleted by the service because it had expired
  StreamViewType view_type = StreamViewType::keys_only;
};

struct ListStreamsRequest {
  std::optional<std::string> table_name;
  std::optional<int> limit;  // 1 to 100
  std::optional<std::string> exclusive_start_stream_arn;
};
struct StreamSummary {
  std::string arn;
  std::string table_name;
  std::string label;
};
struct ListStreamsResponse {
  std::vector<StreamSummary> streams;
  std::optional<std::string> last_evaluated_stream_arn;
};

struct Shard {
  std::string id;
  std::optional<std::string> parent_id;
  SequenceNumber starting = 0;
  std::optional<SequenceNumber> ending;  // set once the shard is closed
};
struct DescribeStreamRequest {
  std::string stream_arn;
  std::optional<int> limit;  // 1 to 100
  std::optional<std::string> exclusive_start_shard_id;
  std::optional<std::string> children_of_shard_id;  // ShardFilter CHILD_SHARDS
};
struct StreamDescription {
  StreamSummary summary;
  StreamStatus status = StreamStatus::enabled;
  StreamViewType view_type = StreamViewType::keys_only;
  base::TimePoint created;
  KeySchema key_schema;
  std::vector<Shard> shards;
  std::optional<std::string> last_evaluated_shard_id;
};

enum class IteratorType { trim_horizon, latest, at_sequence_number, after_sequence_number };
struct GetShardIteratorRequest {
  std::string stream_arn;
  std::string shard_id;
  IteratorType type = IteratorType::trim_horizon;
  std::optional<std::string> sequence_number;
};
struct GetRecordsRequest {
  std::string shard_iterator;
  std::optional<int> limit;            // 1 to 1000
  ReadAllowance* allowance = nullptr;  // of the caller; nullptr: as much as it takes
};
struct GetRecordsResponse {
  std::vector<StreamRecord> records;
  std::optional<std::string> next_shard_iterator;  // absent once a closed shard is read to its end
};

// Follows a table's stream from a position, across shards, inside the process. Used by one thread at a time; close()
// may be called from any thread.
class Subscription {
 public:
  virtual ~Subscription() = default;

  // Up to `limit` records after the last one returned. Waits up to `timeout` for the first; empty when none came or
  // the subscription is closed. Fails with trimmed_data_access when records it had not yet seen are gone, and with
  // resource_not_found when the stream was disabled, or its table deleted, and everything in it has been read.
  virtual Answer<std::vector<StreamRecord>> next(int limit, base::Milliseconds timeout) = 0;

  // Every record of a write that a reader of the table can have seen before this call has a smaller number. So who has
  // come so far has seen all of them, however fast others write. nullopt: it is not known; then this is certain only
  // when next() finds nothing more.
  virtual Answer<std::optional<SequenceNumber>> present_end() = 0;

  // Wakes a waiting next().
  virtual void close() = 0;
};

}  // namespace postino::store
