// A store that fails, or ends, at one of its writes: everything else goes to the store behind it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace postino::reminders {

enum class WriteFault {
  none,
  refused,       // this write is not done, and says so
  unknown,       // this write is done, and says that it does not know
  ended_before,  // from this write on nothing is done: the process has ended
  ended_after,   // the same after this write
};

class FailingStore final : public store::Store {
 public:
  // It must outlive this one.
  explicit FailingStore(store::Store& inner) : inner_(inner) {}

  // The write with this number fails, counted from 1 and from now on.
  void fail_at(int number, WriteFault fault) {
    writes_ = 0;
    number_ = number;
    fault_ = fault;
    has_ended_ = false;
  }
  // Called once, before the read or write with this number, counted from 1 and from now on.
  void meet_at(int number, std::function<void()> meeting) {
    calls_ = 0;
    meeting_number_ = number;
    meets_reads_ = true;
    meeting_ = std::move(meeting);
  }
  // The same, with only the writes counted.
  void meet_at_write(int number, std::function<void()> meeting) {
    meet_at(number, std::move(meeting));
    meets_reads_ = false;
  }
  // Has the write come that was to fail?
  bool has_failed() const { return writes_ >= number_; }

  store::Answer<store::GetItemResponse> get_item(const store::GetItemRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner_.get_item(request);
  }
  store::Answer<store::PageResponse> query(const store::QueryRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner_.query(request);
  }
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner_.scan(request);
  }
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner_.batch_get_item(request);
  }
  store::Answer<store::TransactGetItemsResponse> transact_get_items(
      const store::TransactGetItemsRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner_.transact_get_items(request);
  }
  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override {
    return write<store::WriteItemResponse>([&] { return inner_.put_item(request); });
  }
  void put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(put_item(request));
  }
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override {
    return write<store::WriteItemResponse>([&] { return inner_.update_item(request); });
  }
  void update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(update_item(request));
  }
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest& request) override {
    return write<store::WriteItemResponse>([&] { return inner_.delete_item(request); });
  }
  void delete_item(const store::DeleteItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(delete_item(request));
  }
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override {
    return write<store::BatchWriteItemResponse>([&] { return inner_.batch_write_item(request); });
  }
  void batch_write_item(const store::BatchWriteItemRequest& request,
                        store::Completion<store::BatchWriteItemResponse> done) override {
    done(batch_write_item(request));
  }
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override {
    return write<store::TransactWriteItemsResponse>([&] { return inner_.transact_write_items(request); });
  }
  void transact_write_items(const store::TransactWriteItemsRequest& request,
                            store::Completion<store::TransactWriteItemsResponse> done) override {
    done(transact_write_items(request));
  }
  store::Answer<store::TableDescription> create_table(const store::CreateTableRequest& request) override {
    return inner_.create_table(request);
  }
  store::Answer<store::TableDescription> describe_table(const std::string& table_name) override {
    return inner_.describe_table(table_name);
  }
  store::Answer<store::TableDescription> update_table(const store::UpdateTableRequest& request) override {
    return inner_.update_table(request);
  }
  store::Answer<store::TableDescription> delete_table(const std::string& table_name) override {
    return inner_.delete_table(table_name);
  }
  store::Answer<store::ListTablesResponse> list_tables(const store::ListTablesRequest& request) override {
    return inner_.list_tables(request);
  }
  store::Answer<store::TimeToLiveSpecification> update_time_to_live(
      const std::string& table_name, const store::TimeToLiveSpecification& specification) override {
    return inner_.update_time_to_live(table_name, specification);
  }
  store::Answer<store::TimeToLiveDescription> describe_time_to_live(const std::string& table_name) override {
    return inner_.describe_time_to_live(table_name);
  }
  store::Answer<store::PointInTimeRecoveryDescription> update_continuous_backups(
      const std::string& table_name, const store::PointInTimeRecoverySpecification& specification) override {
    return inner_.update_continuous_backups(table_name, specification);
  }
  store::Answer<store::PointInTimeRecoveryDescription> describe_continuous_backups(
      const std::string& table_name) override {
    return inner_.describe_continuous_backups(table_name);
  }
  store::Answer<void> tag_resource(const std::string& arn, const std::vector<store::Tag>& tags) override {
    return inner_.tag_resource(arn, tags);
  }
  store::Answer<void> untag_resource(const std::string& arn, const std::vector<std::string>& keys) override {
    return inner_.untag_resource(arn, keys);
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
  static tl::unexpected<store::Error> ended() {
    return store::refuse(store::ErrorType::internal_server_error, "the process has ended");
  }

  void meet(bool at_read = true) {
    if (at_read && !meets_reads_) return;
    if (++calls_ == meeting_number_) std::exchange(meeting_, nullptr)();
  }

  template <class Response, class Call>
  store::Answer<Response> write(const Call& call) {
    if (has_ended_) return ended();
    meet(false);
    const int number = ++writes_;
    if (number != number_ || fault_ == WriteFault::none) return call();
    if (fault_ == WriteFault::refused) return store::refuse(store::ErrorType::service_unavailable, "not now");
    has_ended_ = fault_ != WriteFault::unknown;
    if (fault_ != WriteFault::ended_before) (void)call();
    return store::refuse(store::ErrorType::internal_server_error, "the disk failed");
  }

  store::Store& inner_;
  std::atomic<int> writes_ = 0;
  std::atomic<int> calls_ = 0;
  int number_ = 0;
  WriteFault fault_ = WriteFault::none;
  std::atomic<bool> has_ended_ = false;
  int meeting_number_ = 0;
  bool meets_reads_ = true;
  std::function<void()> meeting_;
};

}  // namespace postino::reminders
