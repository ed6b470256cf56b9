// A store in which other programs may read some tables, and change nothing in them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/forwarding_store.h"

namespace postino::app {

// By table: items whose key PK begins like this are the server's own, in a table that other programs write to.
using ReadOnlyItems = std::map<std::string, std::string, std::less<>>;

// Everything goes to `inner`, but for what would change one of these tables, or an item of it, or one of these items:
// AccessDeniedException. So is what would give another table the tag of such tables (store/table_setup.h).
class ReadOnlyTables final : public store::ForwardingStore, private store::TableBackups {
 public:
  // `inner` must outlive it.
  ReadOnlyTables(store::Store& inner, std::set<std::string> tables, ReadOnlyItems items = {})
      : ForwardingStore(inner), tables_(std::move(tables)), items_(std::move(items)) {}

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
  store::Answer<store::TableDescription> restore_table_to_point_in_time(
      const store::RestoreToPointInTimeRequest& request) override;
  store::TableBackups* table_backups() override { return inner().table_backups() == nullptr ? nullptr : this; }
  store::Answer<void> tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) override;
  store::Answer<void> untag_resource(const std::string& arn, const std::vector<std::string>& keys) override;

 private:
  // Backups may be made of these tables; those that are there stay.
  store::Answer<store::BackupSummary> create_backup(const std::string& table_name,
                                                    const std::string& backup_name) override;
  store::Answer<store::BackupDescription> describe_backup(const std::string& arn) override;
  store::Answer<store::BackupDescription> delete_backup(const std::string& arn) override;
  store::Answer<store::ListBackupsResponse> list_backups(const store::ListBackupsRequest& request) override;
  store::Answer<store::TableDescription> restore_table_from_backup(
      const store::RestoreFromBackupRequest& request) override;

  bool is_closed(const std::string& table_name) const { return tables_.contains(table_name); }
  // By the name of a resource, which ends with that of the table.
  std::string closed_resource(std::string_view arn) const;
  // What a request would change of what is closed, in words; empty: nothing.
  std::string closed_in(std::string_view table_name, const item::Map& key) const;
  std::string closed_in(const store::PutItemRequest& request) const {
    return closed_in(request.table_name, request.item);
  }
  std::string closed_in(const store::UpdateItemRequest& request) const {
    return closed_in(request.table_name, request.key);
  }
  std::string closed_in(const store::DeleteItemRequest& request) const {
    return closed_in(request.table_name, request.key);
  }
  std::string closed_in(const store::BatchWriteItemRequest& request) const;
  std::string closed_in(const store::TransactWriteItemsRequest& request) const;
  std::string closed_in(const store::CreateTableRequest& request) const { return closed_in(request.table_name, {}); }
  std::string closed_in(const store::UpdateTableRequest& request) const { return closed_in(request.table_name, {}); }
  template <class Response, class Request>
  store::Answer<Response> write(const Request& request,
                                store::Answer<Response> (store::Store::*function)(const Request&));
  template <class Response, class Request>
  void write(const Request& request, store::Completion<Response> done,
             void (store::Store::*function)(const Request&, store::Completion<Response>));

  const std::set<std::string> tables_;
  const ReadOnlyItems items_;
};

}  // namespace postino::app
