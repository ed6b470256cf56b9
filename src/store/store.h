// The Store: DynamoDB's data model as typed requests and answers. Services and the wire API use nothing else.
//
// Every function may be called from any thread. Errors are DynamoDB's, with its messages. A write that was answered
// is durable (unless the store was configured otherwise); a write that was refused changed nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/error.h"
#include "store/item_operations.h"
#include "store/stream.h"
#include "store/table_operations.h"
#include "store/transaction.h"

namespace postino::store {

// Called exactly once, possibly before the function that took it returns, on an unspecified thread; must not block.
template <class Response>
using Completion = std::function<void(Answer<Response>)>;

// What can be kept with tables for those who control them, where the store itself keeps it. Any thread.
class ResourceSettings {
 public:
  virtual ~ResourceSettings() = default;

  // Policies of resources. Is there any at all? Asked for each request, so it must cost nothing.
  virtual bool has_policies() const = 0;
  // The one that protects what the ARN names: a table, an index of it, a stream. nullptr: none.
  virtual ResourcePolicyPointer policy_of(std::string_view arn) const = 0;
  // Of the resource itself; policy_not_found when it has none, or one of another revision than the expected.
  virtual Answer<ResourcePolicyPointer> get_policy(const std::string& arn) = 0;
  // The text has been checked. The answer is the policy's new revision, or the old one if the text is the same.
  virtual Answer<std::string> put_policy(const std::string& arn, const std::string& text,
                                         const std::optional<std::string>& expected_revision) = 0;
  // The answer is the revision that went; nullopt: there was no policy.
  virtual Answer<std::optional<std::string>> delete_policy(const std::string& arn,
                                                           const std::optional<std::string>& expected_revision) = 0;

  // Contributor insights.
  virtual Answer<InsightsDescription> describe_insights(const InsightsTarget& target) = 0;
  virtual Answer<InsightsDescription> update_insights(const InsightsTarget& target, bool enabled,
                                                      std::optional<InsightsMode> mode) = 0;
  // Of all tables, or of one and its global indexes; only what has had them.
  virtual Answer<std::vector<InsightsDescription>> list_insights(const std::optional<std::string>& table_name) = 0;
};

// Backups of tables, where the store itself makes them. Any thread.
class TableBackups {
 public:
  virtual ~TableBackups() = default;

  // What is answered before is in it, and the image is one of a single commit. It is being created when this returns.
  virtual Answer<BackupSummary> create_backup(const std::string& table_name, const std::string& backup_name) = 0;
  virtual Answer<BackupDescription> describe_backup(const std::string& arn) = 0;
  virtual Answer<BackupDescription> delete_backup(const std::string& arn) = 0;
  virtual Answer<ListBackupsResponse> list_backups(const ListBackupsRequest& request) = 0;
  // The new table is being created until it has all items.
  virtual Answer<TableDescription> restore_table_from_backup(const RestoreFromBackupRequest& request) = 0;
};

// Each is used by one thread at a time, must not outlive the store, and reads what was there when it was made.
class ItemReader {
 public:
  virtual ~ItemReader() = default;
  virtual Answer<ItemPortion> next() = 0;
};
class ChangeReader {
 public:
  virtual ~ChangeReader() = default;
  virtual Answer<ChangePortion> next() = 0;
};

// What exports and imports of whole tables need of a store. Any thread.
class TableTransfers {
 public:
  virtual ~TableTransfers() = default;

  // By its ARN: as it was at the end of the second that the time is in, or of the last one that can be restored.
  virtual Answer<PastTable> past_table(const std::string& table_arn, std::optional<base::TimePoint> time) = 0;
  // All items as they were at the end of that second; fails if the table or its records are gone by now.
  virtual Answer<std::unique_ptr<ItemReader>> read_items(const PastTable& table) = 0;
  // What the commits of the seconds from `from` on, and before the table's own, did to its items.
  virtual Answer<std::unique_ptr<ChangeReader>> read_changes(const PastTable& table, base::TimePoint from) = 0;

  // Makes a table that is being created until it is opened, and the record, in one commit.
  virtual Answer<TableDescription> begin_import(const CreateTableRequest& request, const TransferRecord& record) = 0;
  // Puts items into such a table, each in the place of one with its key. Of several with one key, the last one stays.
  virtual Answer<ImportedItems> import_items(const std::string& table_name, std::vector<item::Item> items) = 0;
  // Opens the table, if there is one, or removes it; and replaces the record, in one commit.
  virtual Answer<void> end_import(const std::string& table_name, bool keep_table, const TransferRecord& record) = 0;

  // Records are durable when this returns.
  virtual Answer<void> put_record(const TransferRecord& record) = 0;
  virtual Answer<void> remove_record(const std::string& id) = 0;
  virtual Answer<std::vector<TransferRecord>> records() = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // May other processes use it at the same time? Then what this process remembers of it may be old, indexes may lag
  // behind items, and the answer to a write may be lost after the write was done.
  virtual bool is_shared() const { return false; }

  // Items.
  virtual Answer<GetItemResponse> get_item(const GetItemRequest& request) = 0;
  virtual Answer<WriteItemResponse> put_item(const PutItemRequest& request) = 0;
  virtual Answer<WriteItemResponse> update_item(const UpdateItemRequest& request) = 0;
  virtual Answer<WriteItemResponse> delete_item(const DeleteItemRequest& request) = 0;
  virtual Answer<PageResponse> query(const QueryRequest& request) = 0;
  virtual Answer<PageResponse> scan(const ScanRequest& request) = 0;
  virtual Answer<BatchGetItemResponse> batch_get_item(const BatchGetItemRequest& request) = 0;
  virtual Answer<BatchWriteItemResponse> batch_write_item(const BatchWriteItemRequest& request) = 0;
  virtual Answer<TransactGetItemsResponse> transact_get_items(const TransactGetItemsRequest& request) = 0;
  virtual Answer<TransactWriteItemsResponse> transact_write_items(const TransactWriteItemsRequest& request) = 0;

  // The writes again, for callers that must not wait for the disk: the answer goes to `done`.
  virtual void put_item(const PutItemRequest& request, Completion<WriteItemResponse> done) = 0;
  virtual void update_item(const UpdateItemRequest& request, Completion<WriteItemResponse> done) = 0;
  virtual void delete_item(const DeleteItemRequest& request, Completion<WriteItemResponse> done) = 0;
  virtual void batch_write_item(const BatchWriteItemRequest& request, Completion<BatchWriteItemResponse> done) = 0;
  virtual void transact_write_items(const TransactWriteItemsRequest& request,
                                    Completion<TransactWriteItemsResponse> done) = 0;

  // Tables.
  virtual Answer<TableDescription> create_table(const CreateTableRequest& request) = 0;
  virtual Answer<TableDescription> describe_table(const std::string& table_name) = 0;
  virtual Answer<TableDescription> update_table(const UpdateTableRequest& request) = 0;
  virtual Answer<TableDescription> delete_table(const std::string& table_name) = 0;
  virtual Answer<ListTablesResponse> list_tables(const ListTablesRequest& request) = 0;
  virtual Answer<TimeToLiveSpecification> update_time_to_live(const std::string& table_name,
                                                              const TimeToLiveSpecification& specification) = 0;
  virtual Answer<TimeToLiveDescription> describe_time_to_live(const std::string& table_name) = 0;
  virtual Answer<PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string& table_name, const PointInTimeRecoverySpecification& specification) = 0;
  virtual Answer<PointInTimeRecoveryDescription> describe_continuous_backups(const std::string& table_name) = 0;
  // The new table is being created until it has all items.
  virtual Answer<TableDescription> restore_table_to_point_in_time(const RestoreToPointInTimeRequest& request) = 0;
  virtual Answer<void> tag_resource(const std::string& arn, const std::vector<Tag>& tags) = 0;
  virtual Answer<void> untag_resource(const std::string& arn, const std::vector<std::string>& keys) = 0;
  virtual Answer<ListTagsResponse> list_tags_of_resource(const std::string& arn) = 0;
  // nullptr: this store keeps none. It lives as long as the store.
  virtual ResourceSettings* resource_settings() { return nullptr; }
  // Likewise.
  virtual TableBackups* table_backups() { return nullptr; }
  virtual TableTransfers* table_transfers() { return nullptr; }

  // Streams.
  virtual Answer<ListStreamsResponse> list_streams(const ListStreamsRequest& request) = 0;
  virtual Answer<StreamDescription> describe_stream(const DescribeStreamRequest& request) = 0;
  virtual Answer<std::string> get_shard_iterator(const GetShardIteratorRequest& request) = 0;
  virtual Answer<GetRecordsResponse> get_records(const GetRecordsRequest& request) = 0;
  // The ARN of the stream that a shard iterator reads; nullopt: it is none of this store's.
  virtual std::optional<std::string> stream_of(const std::string& shard_iterator) = 0;
  // Follows the table's enabled stream: behind the given place, or from the oldest record kept. A place may name any
  // shards that DescribeStream shows, with numbers that are none: then what comes is what is in them, and in their
  // children. validation: the place is one of another stream, of another store, or of a later state of this one;
  // trimmed_data_access: records behind it are gone, unless next() tells.
  virtual Answer<std::unique_ptr<Subscription>> subscribe(const std::string& table_name,
                                                          std::optional<StreamPlace> after) = 0;
};

}  // namespace postino::store
