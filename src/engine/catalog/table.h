// A table as the engine works with it: an immutable snapshot of its definition, with its keys and indexes worked out.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/throughput_bucket.h"
#include "engine/storage/keys.h"
#include "engine/storage/statistics.h"
#include "store/table.h"
#include "store/table_operations.h"
#include "store/traffic.h"

namespace postino::engine {

struct KeyPart {
  std::string name;
  item::Type type = item::Type::string;
};

// Indexes and TTL entries of items that existed before are made in the background, in key order. A write to a key
// beyond the cursor leaves them alone: the backfill will meet the item as that write left it.
struct Backfill {
  std::string cursor;  // the last stored key that was worked on
};

// Who counts the traffic of a table or an index, once it has been asked for: see Options::traffic. Like its counts, a
// table or an index keeps it when its definition changes.
struct ObservedTraffic {
  std::once_flag asked;
  std::shared_ptr<store::TrafficMeter> meter;
};

// Contributor insights, once they were switched on or off.
struct Insights {
  bool enabled = false;
  store::InsightsMode mode = store::InsightsMode::accessed_and_throttled_keys;
  base::TimePoint changed;
};

struct Index {
  ObjectId id = 0;
  bool global = true;
  std::string name;
  std::vector<KeyPart> hash;   // one to four for a global index, one for a local one
  std::vector<KeyPart> range;  // none to four for a global index, one for a local one
  store::ProjectionType projection = store::ProjectionType::all;
  std::vector<std::string> non_key_attributes;
  std::vector<std::string> kept;  // names of the attributes an entry has, sorted; empty when all
  std::optional<Backfill> backfill;
  store::ThroughputDescription throughput;
  std::optional<store::OnDemandThroughput> on_demand;
  store::Throughput warm;
  std::optional<Insights> insights;  // of a global index
  std::shared_ptr<Statistics> statistics;
  std::shared_ptr<ThroughputMeter> meter;  // of a global index; local ones live on the table's
  std::shared_ptr<ObservedTraffic> traffic = std::make_shared<ObservedTraffic>();

  bool ready() const { return !backfill.has_value(); }
};

struct TimeToLive {
  std::string attribute;
  std::optional<Backfill> backfill;
};

struct TimeToLiveChange {
  base::TimePoint time;
  std::string attribute;
};

struct EnabledStream {
  ObjectId id = 0;
  store::StreamViewType view = store::StreamViewType::keys_only;
};

// Every change of the table leaves a record in the column family `undo`: see catalog/undo_record.h.
struct PointInTimeRecovery {
  // No record is earlier, and no change later that has none. The epoch: as yet it is only a setting, which earlier
  // versions kept without records. It begins with the start.
  base::TimePoint enabled_at;
  int period_days = 35;
  std::optional<base::TimePoint> trimmed_until;  // records before are gone
};

// What a new table, or the image of a backup, is being filled with. A table serves no items before it has all of them;
// then this goes.
struct Restore {
  std::string source_arn;  // of the table
  ObjectId source = 0;     // the same table, which keeps its records until this is done; or the image of a backup
  base::TimePoint time;    // whose last commit made the table what this one becomes: a second, unless it says otherwise
  std::optional<std::string> backup;             // the id of the backup, if the source is one
  std::optional<base::TimePoint> changes_after;  // commits from then on are no part of it; nullopt: of later seconds

  base::TimePoint end() const { return changes_after.value_or(time + std::chrono::seconds(1)); }
};

// A change that is under way until it is due, as AWS shows it: see Options::realistic_timing.
struct Transition {
  store::TableStatus status = store::TableStatus::updating;  // or creating, or deleting
  base::TimePoint started;
  base::TimePoint due;
  // Of an update: what is left to do when it is due; as a request, because the table may change in other ways until
  // then.
  store::UpdateTableRequest remaining;
  // And what was done when it started, but is shown as under way.
  std::optional<std::string> allocating_index;  // its filling starts when the transition is due
  std::optional<store::StreamStatus> stream;    // enabling or disabling
};

struct Table {
  ObjectId id = 0;
  std::string name;
  std::string uuid;
  base::TimePoint created;
  std::vector<store::AttributeDefinition> attribute_definitions;
  KeyPart hash;
  std::optional<KeyPart> range;
  std::vector<Index> indexes;  // in the order of their definition
  store::BillingMode billing_mode = store::BillingMode::provisioned;
  std::optional<base::TimePoint> last_switch_to_pay_per_request;
  store::ThroughputDescription throughput;
  std::optional<store::OnDemandThroughput> on_demand;
  store::Throughput warm;
  std::optional<store::TableClass> table_class;
  std::optional<base::TimePoint> table_class_changed;
  std::optional<store::EncryptionSpecification> encryption;
  bool deletion_protection = false;
  std::optional<base::TimePoint> deletion_protection_changed;
  std::optional<TimeToLive> time_to_live;
  std::optional<TimeToLiveChange> last_time_to_live_change;
  std::optional<PointInTimeRecovery> recovery;
  bool is_imported = false;  // it is being filled by an import, and serves no requests until it is opened
  bool is_recorded = false;  // changes leave undo records as long as a backup of it is being made
  std::optional<EnabledStream> stream;
  std::optional<std::string> latest_stream_label;
  std::vector<store::Tag> tags;
  store::ResourcePolicyPointer policy;
  std::optional<Insights> insights;
  std::optional<Transition> transition;
  std::optional<Restore> restore;
  std::shared_ptr<Statistics> statistics;
  std::shared_ptr<ThroughputMeter> meter;
  std::shared_ptr<ObservedTraffic> traffic = std::make_shared<ObservedTraffic>();

  // Does every change leave an undo record?
  bool keeps_undo_records() const { return recovery || is_recorded; }
  const Index* find_index(std::string_view index_name) const;
  Index* find_index(std::string_view index_name);
  bool has_local_indexes() const;
  // Can items be read and written? Not while the table is being created or deleted.
  bool serves_items() const {
    return !restore && !is_imported && (!transition || transition->status == store::TableStatus::updating);
  }
  bool is_being_created() const {
    return restore || is_imported || (transition && transition->status == store::TableStatus::creating);
  }
  // Is the index new, and its filling not to be started yet?
  bool is_allocating(const Index& index) const { return transition && transition->allocating_index == index.name; }
  // Is it part of the table's own primary key?
  bool is_key(std::string_view attribute) const;
};

using TablePointer = std::shared_ptr<const Table>;

// Works out `kept` of an index from its projection and the keys of index and table.
void work_out_kept_attributes(Index& index, const Table& table);

// The key schema in the form callers know.
store::KeySchema key_schema_of(const Table& table);
store::KeySchema key_schema_of(const Index& index);

}  // namespace postino::engine
