#include "app/server/read_only_table.h"

#include <algorithm>

namespace postino::app {

store::Error ReadOnlyTable::refusal() const {
  return {store::ErrorType::access_denied, "Table " + table_ + " has the audit of this server: it can be read only"};
}

bool ReadOnlyTable::is_closed_resource(std::string_view arn) const {
  return !table_.empty() && arn.ends_with(":table/" + table_);
}

bool ReadOnlyTable::writes(const store::BatchWriteItemRequest& request) const {
  return std::ranges::any_of(request.tables,
                             [this](const store::BatchWriteTable& table) { return is_closed(table.table_name); });
}

// A check of a condition only reads.
bool ReadOnlyTable::writes(const store::TransactWriteItemsRequest& request) const {
  return std::ranges::any_of(request.actions, [this](const store::TransactAction& action) {
    return !std::holds_alternative<store::TransactConditionCheck>(action) &&
           std::visit([this](const auto& each) { return is_closed(each.table_name); }, action);
  });
}

template <class Response, class Request>
store::Answer<Response> ReadOnlyTable::write(const Request& request,
                                             store::Answer<Response> (store::Store::*function)(const Request&)) {
  if (writes(request)) return tl::unexpected<store::Error>(refusal());
  return (inner().*function)(request);
}

template <class Response, class Request>
void ReadOnlyTable::write(const Request& request, store::Completion<Response> done,
                          void (store::Store::*function)(const Request&, store::Completion<Response>)) {
  if (writes(request)) return done(tl::unexpected<store::Error>(refusal()));
  (inner().*function)(request, std::move(done));
}

store::Answer<store::WriteItemResponse> ReadOnlyTable::put_item(const store::PutItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::put_item);
}
store::Answer<store::WriteItemResponse> ReadOnlyTable::update_item(const store::UpdateItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::update_item);
}
store::Answer<store::WriteItemResponse> ReadOnlyTable::delete_item(const store::DeleteItemRequest& request) {
  return write<store::WriteItemResponse>(request, &store::Store::delete_item);
}
store::Answer<store::BatchWriteItemResponse> ReadOnlyTable::batch_write_item(
    const store::BatchWriteItemRequest& request) {
  return write<store::BatchWriteItemResponse>(request, &store::Store::batch_write_item);
}
store::Answer<store::TransactWriteItemsResponse> ReadOnlyTable::transact_write_items(
    const store::TransactWriteItemsRequest& request) {
  return write<store::TransactWriteItemsResponse>(request, &store::Store::transact_write_items);
}
void ReadOnlyTable::put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) {
  write(request, std::move(done), &store::Store::put_item);
}
void ReadOnlyTable::update_item(const store::UpdateItemRequest& request,
                                store::Completion<store::WriteItemResponse> done) {
  write(request, std::move(done), &store::Store::update_item);
}
void ReadOnlyTable::delete_item(const store::DeleteItemRequest& request,
                                store::Completion<store::WriteItemResponse> done) {
  write(request, std::move(done), &store::Store::delete_item);
}
void ReadOnlyTable::batch_write_item(const store::BatchWriteItemRequest& request,
                                     store::Completion<store::BatchWriteItemResponse> done) {
  write(request, std::move(done), &store::Store::batch_write_item);
}
void ReadOnlyTable::transact_write_items(const store::TransactWriteItemsRequest& request,
                                         store::Completion<store::TransactWriteItemsResponse> done) {
  write(request, std::move(done), &store::Store::transact_write_items);
}

store::Answer<store::TableDescription> ReadOnlyTable::create_table(const store::CreateTableRequest& request) {
  return write<store::TableDescription>(request, &store::Store::create_table);
}
store::Answer<store::TableDescription> ReadOnlyTable::update_table(const store::UpdateTableRequest& request) {
  return write<store::TableDescription>(request, &store::Store::update_table);
}
store::Answer<store::TableDescription> ReadOnlyTable::delete_table(const std::string& table_name) {
  if (is_closed(table_name)) return tl::unexpected<store::Error>(refusal());
  return inner().delete_table(table_name);
}
store::Answer<store::TimeToLiveSpecification> ReadOnlyTable::update_time_to_live(
    const std::string& table_name, const store::TimeToLiveSpecification& specification) {
  if (is_closed(table_name)) return tl::unexpected<store::Error>(refusal());
  return inner().update_time_to_live(table_name, specification);
}
store::Answer<store::PointInTimeRecoveryDescription> ReadOnlyTable::update_continuous_backups(
    const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) {
  if (is_closed(table_name)) return tl::unexpected<store::Error>(refusal());
  return inner().update_continuous_backups(table_name, specification);
}
store::Answer<void> ReadOnlyTable::tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) {
  if (is_closed_resource(arn)) return tl::unexpected<store::Error>(refusal());
  return inner().tag_resource(arn, tags);
}
store::Answer<void> ReadOnlyTable::untag_resource(const std::string& arn, const std::vector<std::string>& keys) {
  if (is_closed_resource(arn)) return tl::unexpected<store::Error>(refusal());
  return inner().untag_resource(arn, keys);
}

}  // namespace postino::app
