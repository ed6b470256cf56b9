// A store in which other programs may read a table, and change nothing in it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "store/store.h"

namespace postino::app {

// Everything goes to `inner`, but for what would change the table or an item of it: AccessDeniedException. Without a
// table (an empty name) nothing is refused.
class ReadOnlyTable final : public store::Store {
 public:
  // `inner` must outlive it.
  ReadOnlyTable(store::Store& inner, std::string table) : inner_(inner), table_(std::move(table)) {}

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override;
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override;
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest& request) override;
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override;
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
  store::Answer<store::TableDescription> update_table(const store::UpdateTableRequest& request) override;
  store::Answer<store::TableDescription> delete_table(const std::string& table_name) override;
  store::Answer<store::TimeToLiveSpecification> update_time_to_live(
      const std::string& table_name, const store::TimeToLiveSpecification& specification) override;
  store::Answer<store::PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) override;
  store::Answer<void> tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) override;
  store::Answer<void> untag_resource(const std::string& arn, const std::vector<std::string>& keys) override;

  store::Answer<store::GetItemResponse> get_item(const store::GetItemRequest& request) override {
    return inner_.get_item(request);
  }
  store::Answer<store::PageResponse> query(const store::QueryRequest& request) override {
    return inner_.query(request);
  }
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) override { return inner_.scan(request); }
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override {
    return inner_.batch_get_item(request);
  }
  store::Answer<store::TransactGetItemsResponse> transact_get_items(
      const store::TransactGetItemsRequest& request) override {
    return inner_.transact_get_items(request);
  }
  store::Answer<store::TableDescription> describe_table(const std::string& table_name) override {
    return inner_.describe_table(table_name);
  }
  store::Answer<store::ListTablesResponse> list_tables(const store::ListTablesRequest& request) override {
    return inner_.list_tables(request);
  }
  store::Answer<store::TimeToLiveDescription> describe_time_to_live(const std::string& table_name) override {
    return inner_.describe_time_to_live(table_name);
  }
  store::Answer<store::PointInTimeRecoveryDescription> describe_continuous_backups(
      const std::string& table_name) override {
    return inner_.describe_continuous_backups(table_name);
  }
  store::Answer<store::ListTagsResponse> list_tags_of_resource(const std::string& arn) override {
    return inner_.list_tags_of_resource(arn);
  }
  store::Answer<store::ListStreamsResponse> list_streams(const store::ListStreamsRequest& request) override {
    return inner_.list_streams(request);
  }
  store::Answer<store::StreamDescription> describe_stream(const store::DescribeStreamRequest& request) override {
    return inner_.describe_stream(request);
  }
  store::Answer<std::string> get_shard_iterator(const store::GetShardIteratorRequest& request) override {
    return inner_.get_shard_iterator(request);
  }
  store::Answer<store::GetRecordsResponse> get_records(const store::GetRecordsRequest& request) override {
    return inner_.get_records(request);
  }
  store::Answer<std::unique_ptr<store::Subscription>> subscribe(const std::string& table_name,
                                                                std::optional<store::SequenceNumber> after) override {
    return inner_.subscribe(table_name, after);
  }

 private:
  bool is_closed(const std::string& table_name) const { return !table_.empty() && table_name == table_; }
  // By the name of a resource, which ends with that of the table.
  bool is_closed_resource(std::string_view arn) const;
  bool writes(const store::BatchWriteItemRequest& request) const;
  bool writes(const store::TransactWriteItemsRequest& request) const;
  // What every request about one table has.
  template <class Request>
  bool writes(const Request& request) const {
    return is_closed(request.table_name);
  }
  store::Error refusal() const;
  template <class Response, class Request>
  store::Answer<Response> write(const Request& request,
                                store::Answer<Response> (store::Store::*function)(const Request&));
  template <class Response, class Request>
  void write(const Request& request, store::Completion<Response> done,
             void (store::Store::*function)(const Request&, store::Completion<Response>));

  store::Store& inner_;
  const std::string table_;
};

}  // namespace postino::app
