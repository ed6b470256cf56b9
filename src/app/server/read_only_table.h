// A store in which other programs may read a table, and change nothing in it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "store/forwarding_store.h"

namespace postino::app {

// Everything goes to `inner`, but for what would change the table or an item of it: AccessDeniedException. Without a
// table (an empty name) nothing is refused.
class ReadOnlyTable final : public store::ForwardingStore {
 public:
  // `inner` must outlive it.
  ReadOnlyTable(store::Store& inner, std::string table) : ForwardingStore(inner), table_(std::move(table)) {}

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

  const std::string table_;
};

}  // namespace postino::app
