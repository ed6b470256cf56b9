// A store that has nothing and takes nothing: what comes before the store is tried with it.
#pragma once

#include "store/store.h"

namespace postino::fuzz {

class EmptyStore final : public store::Store {
 public:
  template <class Response>
  static store::Answer<Response> refuse() {
    return store::refuse(store::ErrorType::resource_not_found, "Requested resource not found");
  }

  store::Answer<store::GetItemResponse> get_item(const store::GetItemRequest&) override {
    return refuse<store::GetItemResponse>();
  }
  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest&) override {
    return refuse<store::WriteItemResponse>();
  }
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest&) override {
    return refuse<store::WriteItemResponse>();
  }
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest&) override {
    return refuse<store::WriteItemResponse>();
  }
  store::Answer<store::PageResponse> query(const store::QueryRequest&) override {
    return refuse<store::PageResponse>();
  }
  store::Answer<store::PageResponse> scan(const store::ScanRequest&) override { return refuse<store::PageResponse>(); }
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest&) override {
    return refuse<store::BatchGetItemResponse>();
  }
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest&) override {
    return refuse<store::BatchWriteItemResponse>();
  }
  store::Answer<store::TransactGetItemsResponse> transact_get_items(const store::TransactGetItemsRequest&) override {
    return refuse<store::TransactGetItemsResponse>();
  }
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest&) override {
    return refuse<store::TransactWriteItemsResponse>();
  }
  void put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(put_item(request));
  }
  void update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(update_item(request));
  }
  void delete_item(const store::DeleteItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(delete_item(request));
  }
  void batch_write_item(const store::BatchWriteItemRequest& request,
                        store::Completion<store::BatchWriteItemResponse> done) override {
    done(batch_write_item(request));
  }
  void transact_write_items(const store::TransactWriteItemsRequest& request,
                            store::Completion<store::TransactWriteItemsResponse> done) override {
    done(transact_write_items(request));
  }

  store::Answer<store::TableDescription> create_table(const store::CreateTableRequest&) override {
    return refuse<store::TableDescription>();
  }
  store::Answer<store::TableDescription> describe_table(const std::string&) override {
    return refuse<store::TableDescription>();
  }
  store::Answer<store::TableDescription> update_table(const store::UpdateTableRequest&) override {
    return refuse<store::TableDescription>();
  }
  store::Answer<store::TableDescription> delete_table(const std::string&) override {
    return refuse<store::TableDescription>();
  }
  store::Answer<store::ListTablesResponse> list_tables(const store::ListTablesRequest&) override {
    return store::ListTablesResponse();
  }
  store::Answer<store::TimeToLiveSpecification> update_time_to_live(const std::string&,
                                                                    const store::TimeToLiveSpecification&) override {
    return refuse<store::TimeToLiveSpecification>();
  }
  store::Answer<store::TimeToLiveDescription> describe_time_to_live(const std::string&) override {
    return refuse<store::TimeToLiveDescription>();
  }
  store::Answer<store::PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string&, const store::PointInTimeRecoverySpecification&) override {
    return refuse<store::PointInTimeRecoveryDescription>();
  }
  store::Answer<store::PointInTimeRecoveryDescription> describe_continuous_backups(const std::string&) override {
    return refuse<store::PointInTimeRecoveryDescription>();
  }
  store::Answer<void> tag_resource(const std::string&, const std::vector<store::Tag>&) override {
    return refuse<void>();
  }
  store::Answer<void> untag_resource(const std::string&, const std::vector<std::string>&) override {
    return refuse<void>();
  }
  store::Answer<store::ListTagsResponse> list_tags_of_resource(const std::string&) override {
    return refuse<store::ListTagsResponse>();
  }

  store::Answer<store::ListStreamsResponse> list_streams(const store::ListStreamsRequest&) override {
    return store::ListStreamsResponse();
  }
  store::Answer<store::StreamDescription> describe_stream(const store::DescribeStreamRequest&) override {
    return refuse<store::StreamDescription>();
  }
  store::Answer<std::string> get_shard_iterator(const store::GetShardIteratorRequest&) override {
    return refuse<std::string>();
  }
  store::Answer<store::GetRecordsResponse> get_records(const store::GetRecordsRequest&) override {
    return refuse<store::GetRecordsResponse>();
  }
  store::Answer<std::unique_ptr<store::Subscription>> subscribe(const std::string&,
                                                                std::optional<store::StreamPlace>) override {
    return refuse<std::unique_ptr<store::Subscription>>();
  }
};

}  // namespace postino::fuzz
