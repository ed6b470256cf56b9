// A store that fails, or ends, at one of its writes: everything else goes to the store behind it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/forwarding_store.h"

namespace postino::reminders {

enum class WriteFault {
  none,
  refused,       // this write is not done, and says so
  unknown,       // this write is done, and says that it does not know
  ended_before,  // from this write on nothing is done: the process has ended
  ended_after,   // the same after this write
};

class FailingStore final : public store::ForwardingStore {
 public:
  // It must outlive this one.
  explicit FailingStore(store::Store& inner) : ForwardingStore(inner) {}

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
    return inner().get_item(request);
  }
  store::Answer<store::PageResponse> query(const store::QueryRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner().query(request);
  }
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner().scan(request);
  }
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner().batch_get_item(request);
  }
  store::Answer<store::TransactGetItemsResponse> transact_get_items(
      const store::TransactGetItemsRequest& request) override {
    if (has_ended_) return ended();
    meet();
    return inner().transact_get_items(request);
  }
  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override {
    return write<store::WriteItemResponse>([&] { return inner().put_item(request); });
  }
  void put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(put_item(request));
  }
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override {
    return write<store::WriteItemResponse>([&] { return inner().update_item(request); });
  }
  void update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(update_item(request));
  }
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest& request) override {
    return write<store::WriteItemResponse>([&] { return inner().delete_item(request); });
  }
  void delete_item(const store::DeleteItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    done(delete_item(request));
  }
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override {
    return write<store::BatchWriteItemResponse>([&] { return inner().batch_write_item(request); });
  }
  void batch_write_item(const store::BatchWriteItemRequest& request,
                        store::Completion<store::BatchWriteItemResponse> done) override {
    done(batch_write_item(request));
  }
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override {
    return write<store::TransactWriteItemsResponse>([&] { return inner().transact_write_items(request); });
  }
  void transact_write_items(const store::TransactWriteItemsRequest& request,
                            store::Completion<store::TransactWriteItemsResponse> done) override {
    done(transact_write_items(request));
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
