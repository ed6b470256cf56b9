#include "app/server/read_only_tables.h"

#include <algorithm>

#include "store/table_setup.h"

namespace postino::app {

namespace {

std::string of_table(std::string_view table) { return "Table " + std::string(table) + " belongs"; }

// `what` is closed.
tl::unexpected<store::Error> refuse_writing(const std::string& what) {
  return store::refuse(store::ErrorType::access_denied, what + " to this server: it can be read only");
}
tl::unexpected<store::Error> refuse_change(const std::string& table) { return refuse_writing(of_table(table)); }

const item::Map& key_of(const store::BatchWrite& write) {
  const auto* const put = std::get_if<store::BatchPut>(&write);
  return put != nullptr ? put->item : std::get<store::BatchDelete>(write).key;
}
const item::Map& key_of(const store::TransactPut& put) { return put.item; }
template <class Action>
const item::Map& key_of(const Action& action) {
  return action.key;
}

bool has_mark(const std::vector<store::Tag>& tags) {
  return std::ranges::find(tags, store::read_only_tag, &store::Tag::key) != tags.end();
}

tl::unexpected<store::Error> refuse_mark() {
  return store::refuse(store::ErrorType::access_denied,
                       "The tag " + std::string(store::read_only_tag) + " is for tables that the server itself makes");
}

}  // namespace

std::string ReadOnlyTables::closed_resource(std::string_view arn) const {
  constexpr std::string_view before = ":table/";
  const std::size_t place = arn.rfind(before);
  if (place == std::string_view::npos) return "";
  std::string table(arn.substr(place + before.size()));
  table.resize(std::min(table.size(), table.find('/')));
  return is_closed(table) ? table : "";
}

std::string ReadOnlyTables::closed_in(std::string_view table_name, const item::Map& key) const {
  if (tables_.contains(std::string(table_name))) return of_table(table_name);
  const auto items = items_.find(table_name);
  if (items == items_.end()) return "";
  const item::AttributeValue* const partition = key.find("PK");
  const auto* const text = partition != nullptr ? partition->get_if<std::string>() : nullptr;
  if (text == nullptr || !text->starts_with(items->second)) return "";
  return "An item of table " + items->first + " whose PK begins with " + items->second + " belongs";
}

std::string ReadOnlyTables::closed_in(const store::BatchWriteItemRequest& request) const {
  for (const store::BatchWriteTable& table : request.tables)
    for (const store::BatchWrite& write : table.writes)
      if (std::string closed = closed_in(table.table_name, key_of(write)); !closed.empty()) return closed;
  return "";
}

// A check of a condition only reads.
std::string ReadOnlyTables::closed_in(const store::TransactWriteItemsRequest& request) const {
  for (const store::TransactAction& action : request.actions) {
    if (std::holds_alternative<store::TransactConditionCheck>(action)) continue;
    std::string closed =
        std::visit([this](const auto& each) { return closed_in(each.table_name, key_of(each)); }, action);
    if (!closed.empty()) return closed;
  }
  return "";
}

template <class Response, class Request>
store::Answer<Response> ReadOnlyTables::write(const Request& request,
                                              store::Answer<Response> (store::Store::*function)(const Request&)) {
  if (const std::string closed = closed_in(request); !closed.empty()) return refuse_writing(closed);
  return (inner().*function)(request);
}

template <class Response, class Request>
void ReadOnlyTables::write(const Request& request, store::Completion<Response> done,
                           void (store::Store::*function)(const Request&, store::Completion<Response>)) {
  if (const std::string closed = closed_in(request); !closed.empty()) return done(refuse_writing(closed));
  (inner().*function)(request, std::move(done));
}

store::Answer<store::WriteItemResponse> ReadOnlyTables::put_item(const store::PutItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::put_item);
}
store::Answer<store::WriteItemResponse> ReadOnlyTables::update_item(const store::UpdateItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::update_item);
}
store::Answer<store::WriteItemResponse> ReadOnlyTables::delete_item(const store::DeleteItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::delete_item);
}
store::Answer<store::BatchWriteItemResponse> ReadOnlyTables::batch_write_item(
    const store::BatchWriteItemRequest& request) {
  return write<store::BatchWriteItemResponse>(request, &store::Store::batch_write_item);
}
store::Answer<store::TransactWriteItemsResponse> ReadOnlyTables::transact_write_items(
    const store::TransactWriteItemsRequest& request) {
  return write<store::TransactWriteItemsResponse>(request, &store::Store::transact_write_items);
}
void ReadOnlyTables::put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) {
  write(request, std::move(done), &store::Store::put_item);
}
void ReadOnlyTables::update_item(const store::UpdateItemRequest& request,
                                 store::Completion<store::WriteItemResponse> done) {
  write(request, std::move(done), &store::Store::update_item);
}
void ReadOnlyTables::delete_item(const store::DeleteItemRequest& request,
                                 store::Completion<store::WriteItemResponse> done) {
  write(request, std::move(done), &store::Store::delete_item);
}
void ReadOnlyTables::batch_write_item(const store::BatchWriteItemRequest& request,
                                      store::Completion<store::BatchWriteItemResponse> done) {
  write(request, std::move(done), &store::Store::batch_write_item);
}
void ReadOnlyTables::transact_write_items(const store::TransactWriteItemsRequest& request,
                                          store::Completion<store::TransactWriteItemsResponse> done) {
  write(request, std::move(done), &store::Store::transact_write_items);
}

store::Answer<store::TableDescription> ReadOnlyTables::create_table(const store::CreateTableRequest& request) {
  if (has_mark(request.tags)) return refuse_mark();
  return write<store::TableDescription>(request, &store::Store::create_table);
}
store::Answer<store::TableDescription> ReadOnlyTables::update_table(const store::UpdateTableRequest& request) {
  return write<store::TableDescription>(request, &store::Store::update_table);
}
store::Answer<store::TableDescription> ReadOnlyTables::delete_table(const std::string& table_name) {
  if (is_closed(table_name)) return refuse_change(table_name);
  return inner().delete_table(table_name);
}
store::Answer<store::TimeToLiveSpecification> ReadOnlyTables::update_time_to_live(
    const std::string& table_name, const store::TimeToLiveSpecification& specification) {
  if (is_closed(table_name)) return refuse_change(table_name);
  return inner().update_time_to_live(table_name, specification);
}
store::Answer<store::PointInTimeRecoveryDescription> ReadOnlyTables::update_continuous_backups(
    const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) {
  if (is_closed(table_name)) return refuse_change(table_name);
  return inner().update_continuous_backups(table_name, specification);
}
// What is in such a table may be read, in a table of another name, too.
store::Answer<store::TableDescription> ReadOnlyTables::restore_table_to_point_in_time(
    const store::RestoreToPointInTimeRequest& request) {
  if (is_closed(request.target_table_name)) return refuse_change(request.target_table_name);
  return inner().restore_table_to_point_in_time(request);
}
store::Answer<store::BackupSummary> ReadOnlyTables::create_backup(const std::string& table_name,
                                                                  const std::string& backup_name) {
  return inner().table_backups()->create_backup(table_name, backup_name);
}
store::Answer<store::BackupDescription> ReadOnlyTables::describe_backup(const std::string& arn) {
  return inner().table_backups()->describe_backup(arn);
}
store::Answer<store::BackupDescription> ReadOnlyTables::delete_backup(const std::string& arn) {
  if (const std::string closed = closed_resource(arn); !closed.empty()) return refuse_change(closed);
  return inner().table_backups()->delete_backup(arn);
}
store::Answer<store::ListBackupsResponse> ReadOnlyTables::list_backups(const store::ListBackupsRequest& request) {
  return inner().table_backups()->list_backups(request);
}
store::Answer<store::TableDescription> ReadOnlyTables::restore_table_from_backup(
    const store::RestoreFromBackupRequest& request) {
  if (is_closed(request.target_table_name)) return refuse_change(request.target_table_name);
  return inner().table_backups()->restore_table_from_backup(request);
}
store::Answer<void> ReadOnlyTables::tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) {
  if (const std::string closed = closed_resource(arn); !closed.empty()) return refuse_change(closed);
  if (has_mark(tags)) return refuse_mark();
  return inner().tag_resource(arn, tags);
}
store::Answer<void> ReadOnlyTables::untag_resource(const std::string& arn, const std::vector<std::string>& keys) {
  if (const std::string closed = closed_resource(arn); !closed.empty()) return refuse_change(closed);
  return inner().untag_resource(arn, keys);
}

}  // namespace postino::app
