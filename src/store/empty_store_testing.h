// A store that has nothing and takes nothing: what comes before the store is tried with it.
#pragma once

#include "store/store.h"

namespace postino::store {

class EmptyStore : public Store {
 public:
  template <class Response>
  static Answer<Response> refuse() {
    return store::refuse(ErrorType::resource_not_found, "Requested resource not found");
  }

  Answer<GetItemResponse> get_item(const GetItemRequest&) override { return refuse<GetItemResponse>(); }
  Answer<WriteItemResponse> put_item(const PutItemRequest&) override { return refuse<WriteItemResponse>(); }
  Answer<WriteItemResponse> update_item(const UpdateItemRequest&) override { return refuse<WriteItemResponse>(); }
  Answer<WriteItemResponse> delete_item(const DeleteItemRequest&) override { return refuse<WriteItemResponse>(); }
  Answer<PageResponse> query(const QueryRequest&) override { return refuse<PageResponse>(); }
  Answer<PageResponse> scan(const ScanRequest&) override { return refuse<PageResponse>(); }
  Answer<BatchGetItemResponse> batch_get_item(const BatchGetItemRequest&) override {
    return refuse<BatchGetItemResponse>();
  }
  Answer<BatchWriteItemResponse> batch_write_item(const BatchWriteItemRequest&) override {
    return refuse<BatchWriteItemResponse>();
  }
  Answer<TransactGetItemsResponse> transact_get_items(const TransactGetItemsRequest&) override {
    return refuse<TransactGetItemsResponse>();
  }
  Answer<TransactWriteItemsResponse> transact_write_items(const TransactWriteItemsRequest&) override {
    return refuse<TransactWriteItemsResponse>();
  }
  void put_item(const PutItemRequest& request, Completion<WriteItemResponse> done) override { done(put_item(request)); }
  void update_item(const UpdateItemRequest& request, Completion<WriteItemResponse> done) override {
    done(update_item(request));
  }
  void delete_item(const DeleteItemRequest& request, Completion<WriteItemResponse> done) override {
    done(delete_item(request));
  }
  void batch_write_item(const BatchWriteItemRequest& request, Completion<BatchWriteItemResponse> done) override {
    done(batch_write_item(request));
  }
  void transact_write_items(const TransactWriteItemsRequest& request,
                            Completion<TransactWriteItemsResponse> done) override {
    done(transact_write_items(request));
  }

  Answer<TableDescription> create_table(const CreateTableRequest&) override { return refuse<TableDescription>(); }
  Answer<TableDescription> describe_table(const std::string&) override { return refuse<TableDescription>(); }
  Answer<TableDescription> update_table(const UpdateTableRequest&) override { return refuse<TableDescription>(); }
  Answer<TableDescription> delete_table(const std::string&) override { return refuse<TableDescription>(); }
  Answer<ListTablesResponse> list_tables(const ListTablesRequest&) override { return ListTablesResponse(); }
  Answer<TimeToLiveSpecification> update_time_to_live(const std::string&, const TimeToLiveSpecification&) override {
    return refuse<TimeToLiveSpecification>();
  }
  Answer<TimeToLiveDescription> describe_time_to_live(const std::string&) override {
    return refuse<TimeToLiveDescription>();
  }
  Answer<PointInTimeRecoveryDescription> update_continuous_backups(const std::string&,
                                                                   const PointInTimeRecoverySpecification&) override {
    return refuse<PointInTimeRecoveryDescription>();
  }
  Answer<PointInTimeRecoveryDescription> describe_continuous_backups(const std::string&) override {
    return refuse<PointInTimeRecoveryDescription>();
  }
  Answer<TableDescription> restore_table_to_point_in_time(const RestoreToPointInTimeRequest&) override {
    return refuse<TableDescription>();
  }
  Answer<void> tag_resource(const std::string&, const std::vector<Tag>&) override { return refuse<void>(); }
  Answer<void> untag_resource(const std::string&, const std::vector<std::string>&) override { return refuse<void>(); }
  Answer<ListTagsResponse> list_tags_of_resource(const std::string&) override { return refuse<ListTagsResponse>(); }

  Answer<ListStreamsResponse> list_streams(const ListStreamsRequest&) override { return ListStreamsResponse(); }
  Answer<StreamDescription> describe_stream(const DescribeStreamRequest&) override {
    return refuse<StreamDescription>();
  }
  Answer<std::string> get_shard_iterator(const GetShardIteratorRequest&) override { return refuse<std::string>(); }
  std::optional<std::string> stream_of(const std::string&) override { return std::nullopt; }
  Answer<GetRecordsResponse> get_records(const GetRecordsRequest&) override { return refuse<GetRecordsResponse>(); }
  Answer<std::unique_ptr<Subscription>> subscribe(const std::string&, std::optional<StreamPlace>) override {
    return refuse<std::unique_ptr<Subscription>>();
  }
};

}  // namespace postino::store
