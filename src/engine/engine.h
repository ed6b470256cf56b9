// The embedded store: DynamoDB's data model on RocksDB, in this process.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/storage/options.h"
#include "engine/storage/write_health.h"
#include "store/store.h"

namespace rocksdb {
class Env;
}

namespace postino::engine {

class Engine final : public store::Store {
 public:
  // Opens or creates the store in options.directory and recovers what a crash left. Fails when another process has it
  // open, or the data is of a newer version or damaged. `env` lets a test stand between the store and the disk.
  static base::Result<std::unique_ptr<Engine>> open(Options options, rocksdb::Env* env = nullptr);
  // Writes that were taken are on disk when this returns. Subscriptions must be gone before.
  ~Engine() override;

  // One round of expiry, trimming, index backfill and table changes that are due; true when there is more to do right
  // away. For stores opened without background threads.
  store::Answer<bool> run_maintenance_once();

  // Are writes refused because of the disk? Any thread, at once.
  WriteHealth write_health() const;
  // Any thread, at once.
  WriteCounts write_counts() const;
  // Was there no store before it was opened?
  bool is_new() const;

  // See engine/store_backup.h. One at a time; others may go on with all else.
  base::Result<void> make_checkpoint(const std::filesystem::path& directory);

  // Asks before an item expires. See Options::expiry_needs_guard.
  void guard_expiry(ExpiryGuard guard);

  store::Answer<store::GetItemResponse> get_item(const store::GetItemRequest& request) override;
  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override;
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override;
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest& request) override;
  store::Answer<store::PageResponse> query(const store::QueryRequest& request) override;
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) override;
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override;
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override;
  store::Answer<store::TransactGetItemsResponse> transact_get_items(
      const store::TransactGetItemsRequest& request) override;
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override;

  void put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void delete_item(const store::DeleteItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void batch_write_item(const store::BatchWriteItemRequest& request,
                        store::Completion<store::BatchWriteItemResponse> done) override;
  void transact_write_items(const store::TransactWriteItemsRequest& request,
                            store::Completion<store::TransactWriteItemsResponse> done) override;

  store::Answer<store::TableDescription> create_table(const store::CreateTableRequest& request) override;
  store::Answer<store::TableDescription> describe_table(const std::string& table_name) override;
  store::Answer<store::TableDescription> update_table(const store::UpdateTableRequest& request) override;
  store::Answer<store::TableDescription> delete_table(const std::string& table_name) override;
  store::Answer<store::ListTablesResponse> list_tables(const store::ListTablesRequest& request) override;
  store::Answer<store::TimeToLiveSpecification> update_time_to_live(
      const std::string& table_name, const store::TimeToLiveSpecification& specification) override;
  store::Answer<store::TimeToLiveDescription> describe_time_to_live(const std::string& table_name) override;
  store::Answer<store::PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) override;
  store::Answer<store::PointInTimeRecoveryDescription> describe_continuous_backups(
      const std::string& table_name) override;
  store::Answer<store::TableDescription> restore_table_to_point_in_time(
      const store::RestoreToPointInTimeRequest& request) override;
  store::Answer<void> tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) override;
  store::Answer<void> untag_resource(const std::string& arn, const std::vector<std::string>& keys) override;
  store::Answer<store::ListTagsResponse> list_tags_of_resource(const std::string& arn) override;
  store::ResourceSettings* resource_settings() override;
  store::TableBackups* table_backups() override;
  store::TableTransfers* table_transfers() override;

  store::Answer<store::ListStreamsResponse> list_streams(const store::ListStreamsRequest& request) override;
  store::Answer<store::StreamDescription> describe_stream(const store::DescribeStreamRequest& request) override;
  store::Answer<std::string> get_shard_iterator(const store::GetShardIteratorRequest& request) override;
  std::optional<std::string> stream_of(const std::string& shard_iterator) override;
  store::Answer<store::GetRecordsResponse> get_records(const store::GetRecordsRequest& request) override;
  store::Answer<std::unique_ptr<store::Subscription>> subscribe(const std::string& table_name,
                                                                std::optional<store::StreamPlace> after) override;

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  // The parts, after everything that is due by now has happened: every request goes this way.
  Parts& current();

  std::unique_ptr<Parts> parts_;
};

}  // namespace postino::engine
