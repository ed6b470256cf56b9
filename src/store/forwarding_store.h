// A store in front of another one, to which everything goes: for those that do some of it otherwise.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace postino::store {

class ForwardingStore : public Store {
 public:
  // `inner` must outlive it.
  explicit ForwardingStore(Store& inner) : inner_(inner) {}

  bool is_shared() const override { return inner_.is_shared(); }
  Answer<WriteItemResponse> put_item(const PutItemRequest& request) override { return inner_.put_item(request); }
  Answer<WriteItemResponse> update_item(const UpdateItemRequest& request) override {
    return inner_.update_item(request);
  }
  Answer<WriteItemResponse> delete_item(const DeleteItemRequest& request) override {
    return inner_.delete_item(request);
  }
  Answer<BatchWriteItemResponse> batch_write_item(const BatchWriteItemRequest& request) override {
    return inner_.batch_write_item(request);
  }
  Answer<TransactWriteItemsResponse> transact_write_items(const TransactWriteItemsRequest& request) override {
    return inner_.transact_write_items(request);
  }
  void put_item(const PutItemRequest& request, Completion<WriteItemResponse> done) override {
    inner_.put_item(request, std::move(done));
  }
  void update_item(const UpdateItemRequest& request, Completion<WriteItemResponse> done) override {
    inner_.update_item(request, std::move(done));
  }
  void delete_item(const DeleteItemRequest& request, Completion<WriteItemResponse> done) override {
    inner_.delete_item(request, std::move(done));
  }
  void batch_write_item(const BatchWriteItemRequest& request, Completion<BatchWriteItemResponse> done) override {
    inner_.batch_write_item(request, std::move(done));
  }
  void transact_write_items(const TransactWriteItemsRequest& request,
                            Completion<TransactWriteItemsResponse> done) override {
    inner_.transact_write_items(request, std::move(done));
  }
  Answer<GetItemResponse> get_item(const GetItemRequest& request) override { return inner_.get_item(request); }
  Answer<PageResponse> query(const QueryRequest& request) override { return inner_.query(request); }
  Answer<PageResponse> scan(const ScanRequest& request) override { return inner_.scan(request); }
  Answer<BatchGetItemResponse> batch_get_item(const BatchGetItemRequest& request) override {
    return inner_.batch_get_item(request);
  }
  Answer<TransactGetItemsResponse> transact_get_items(const TransactGetItemsRequest& request) override {
    return inner_.transact_get_items(request);
  }
  Answer<TableDescription> create_table(const CreateTableRequest& request) override {
    return inner_.create_table(request);
  }
  Answer<TableDescription> describe_table(const std::string& table_name) override {
    return inner_.describe_table(table_name);
  }
  Answer<TableDescription> update_table(const UpdateTableRequest& request) override {
    return inner_.update_table(request);
  }
  Answer<TableDescription> delete_table(const std::string& table_name) override {
    return inner_.delete_table(table_name);
  }
  Answer<ListTablesResponse> list_tables(const ListTablesRequest& request) override {
    return inner_.list_tables(request);
  }
  Answer<TimeToLiveSpecification> update_time_to_live(const std::string& table_name,
                                                      const TimeToLiveSpecification& specification) override {
    return inner_.update_time_to_live(table_name, specification);
  }
  Answer<TimeToLiveDescription> describe_time_to_live(const std::string& table_name) override {
    return inner_.describe_time_to_live(table_name);
  }
  Answer<PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string& table_name, const PointInTimeRecoverySpecification& specification) override {
    return inner_.update_continuous_backups(table_name, specification);
  }
  Answer<PointInTimeRecoveryDescription> describe_continuous_backups(const std::string& table_name) override {
    return inner_.describe_continuous_backups(table_name);
  }
  Answer<TableDescription> restore_table_to_point_in_time(const RestoreToPointInTimeRequest& request) override {
    return inner_.restore_table_to_point_in_time(request);
  }
  Answer<void> tag_resource(const std::string& arn, const std::vector<Tag>& tags) override {
    return inner_.tag_resource(arn, tags);
  }
  Answer<void> untag_resource(const std::string& arn, const std::vector<std::string>& keys) override {
    return inner_.untag_resource(arn, keys);
  }
  Answer<ListTagsResponse> list_tags_of_resource(const std::string& arn) override {
    return inner_.list_tags_of_resource(arn);
  }
  ResourceSettings* resource_settings() override { return inner_.resource_settings(); }
  TableBackups* table_backups() override { return inner_.table_backups(); }
  TableTransfers* table_transfers() override { return inner_.table_transfers(); }
  Answer<ListStreamsResponse> list_streams(const ListStreamsRequest& request) override {
    return inner_.list_streams(request);
  }
  Answer<StreamDescription> describe_stream(const DescribeStreamRequest& request) override {
    return inner_.describe_stream(request);
  }
  Answer<std::string> get_shard_iterator(const GetShardIteratorRequest& request) override {
    return inner_.get_shard_iterator(request);
  }
  std::optional<std::string> stream_of(const std::string& shard_iterator) override {
    return inner_.stream_of(shard_iterator);
  }
  Answer<GetRecordsResponse> get_records(const GetRecordsRequest& request) override {
    return inner_.get_records(request);
  }
  Answer<std::unique_ptr<Subscription>> subscribe(const std::string& table_name,
                                                  std::optional<StreamPlace> after) override {
    return inner_.subscribe(table_name, std::move(after));
  }

 protected:
  Store& inner() { return inner_; }

 private:
  Store& inner_;
};

}  // namespace postino::store
