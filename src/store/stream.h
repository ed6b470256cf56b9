// The change stream of a table: every change, kept for a day, those of one item in the order of their commits.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/error.h"
#include "store/read_allowance.h"
#include "store/table.h"

namespace postino::store {

inline constexpr base::Milliseconds stream_retention = std::chrono::hours(24);
inline constexpr base::Milliseconds shard_iterator_life = std::chrono::minutes(15);
inline constexpr int max_records_per_read = 1'000;

// The number of a change record: decimal digits that ascend within a shard. Each store has numbers of its own; those of
// Amazon DynamoDB have 21 to 40 digits. A small value, compared as a number. The default one is before every other, and
// has no text: nothing was read yet.
class SequenceNumber {
 public:
  static constexpr std::size_t most_digits = 40;

  constexpr SequenceNumber() { digits_.fill('0'); }
  // From 1 to 40 digits; nullopt: it is something else.
  static std::optional<SequenceNumber> parse(std::string_view text);

  // As it was parsed.
  std::string text() const;
  constexpr bool is_none() const { return width_ == 0; }

  friend constexpr bool operator==(const SequenceNumber&, const SequenceNumber&) = default;
  // Those of equal value, which differ in zeros at their front, by their length.
  friend constexpr std::strong_ordering operator<=>(const SequenceNumber&, const SequenceNumber&) = default;

 private:
  std::array<char, most_digits> digits_{};  // zeros in front, so that their order is that of the numbers
  std::uint8_t width_ = 0;                  // of the text
};

enum class ChangeType { insert, modify, remove };

struct StreamRecord {
  SequenceNumber sequence_number;
  // The shard it came from, where each shard has an order of its own; nullptr: the stream is one sequence across its
  // shards, as that of the embedded store is.
  std::shared_ptr<const std::string> shard;
  ChangeType type = ChangeType::insert;
  base::TimePoint time;
  item::Key keys;
  std::optional<item::Item> old_image;  // images as the view type has them
  std::optional<item::Item> new_image;
  std::int64_t size_bytes = 0;
  bool by_time_to_live = false;  // deleted by the service because it had expired
  StreamViewType view_type = StreamViewType::keys_only;
};

// What a record is called in its stream: the text of its number, and behind that, where shards have numbers of their
// own, a mark of its shard.
std::string name_of(const StreamRecord& record);

// Where a reader of a stream is: the last record that it is done with, in each shard that is not done to its end.
//
// The children of a shard come when it is done. Those that have no position here have not begun; those that have one
// go on behind it. Ancestors of the shards here are done.
struct StreamPlace {
  std::string stream;  // its ARN
  // By the shard's id. A number that is none: nothing of the shard is done. A stream that is one sequence across its
  // shards has a single position, that of the shard "".
  std::map<std::string, SequenceNumber, std::less<>> positions;

  // The record is done, and all before it in its shard.
  void move_to(const StreamRecord& record);
  bool has_done(const StreamRecord& record) const;

  friend bool operator==(const StreamPlace&, const StreamPlace&) = default;
};
// In a stream that is one sequence.
StreamPlace place_in_sequence(std::string stream, SequenceNumber position);

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
  SequenceNumber starting;
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
  std::string stream_arn = {};         // of the iterator, if the caller knows it: calls are counted by it
};
struct GetRecordsResponse {
  std::vector<StreamRecord> records;
  std::optional<std::string> next_shard_iterator;  // absent once a closed shard is read to its end
};

// A moment of a stream, for the subscription that named it: that of a number, or of the clock that cannot be set.
struct StreamMoment {
  SequenceNumber number;
  base::Milliseconds time{0};
};

// Follows a table's stream from a place, across shards, inside the process. Used by one thread at a time; close() may
// be called from any thread.
class Subscription {
 public:
  virtual ~Subscription() = default;

  // Up to `limit` records after those returned before: those of one item in their order. Waits up to `timeout` for the
  // first; empty when none came or the subscription is closed. Fails with trimmed_data_access when records it had not
  // yet seen are gone, and with resource_not_found when the stream was disabled, or its table deleted, and everything
  // in it has been read.
  virtual Answer<std::vector<StreamRecord>> next(int limit, base::Milliseconds timeout) = 0;

  // The place of a reader who is done with all that next() has returned. It moves on also where nothing is written:
  // shards end, and others begin in their place.
  virtual StreamPlace place() const = 0;

  // A moment behind every record of a write that a reader of the table can have seen before this call.
  virtual Answer<StreamMoment> present_end() = 0;
  // Has next() returned all records from before it? Sooner or later it has, while its reader goes on calling next():
  // however fast others write, or where a stream has several shards at a time, if the reader is faster than they.
  virtual bool has_passed(const StreamMoment& moment) const = 0;

  // Wakes a waiting next().
  virtual void close() = 0;
};

}  // namespace postino::store
