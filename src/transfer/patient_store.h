// A store that waits where others give up: while its store is throttled or away, calls are tried again for minutes, not
// for seconds. For work that takes hours, where a minute more does no harm.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/random.h"
#include "store/forwarding_store.h"

namespace postino::transfer {

struct Patience {
  base::Milliseconds longest = std::chrono::minutes(10);  // without any call that works
  base::Backoff pauses{base::Milliseconds(100), base::Milliseconds(5'000)};
  std::function<void(base::Milliseconds)> sleep;
  // Once in each time of trouble, with its cause, by the thread that met it. May be empty.
  std::function<void(const std::string& cause)> tell = {};
};

// Repeated are calls of which it is certain that nothing was done, and those that change nothing when they are done
// twice: reads, batches, and puts without a condition. Safe to use from any thread. Writes
// that are answered later go to the store as they are, and so do tables.
class PatientStore final : public store::ForwardingStore {
 public:
  // All must outlive it.
  PatientStore(store::Store& inner, Patience patience, const base::Clock& clock, base::Random& random)
      : ForwardingStore(inner), patience_(std::move(patience)), clock_(clock), random_(random) {}

  using ForwardingStore::batch_write_item;
  using ForwardingStore::delete_item;
  using ForwardingStore::put_item;
  using ForwardingStore::transact_write_items;
  using ForwardingStore::update_item;

  store::Answer<store::GetItemResponse> get_item(const store::GetItemRequest& request) override;
  store::Answer<store::PageResponse> query(const store::QueryRequest& request) override;
  store::Answer<store::PageResponse> scan(const store::ScanRequest& request) override;
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override;
  store::Answer<store::TransactGetItemsResponse> transact_get_items(
      const store::TransactGetItemsRequest& request) override;

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override;
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override;
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest& request) override;
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override;
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override;

 private:
  template <class Call>
  auto call(bool is_repeatable, const Call& make_call) -> decltype(make_call());
  // Waits; false when it has been waited for long enough.
  bool wait(int failures, const std::string& cause);
  void note_success();

  const Patience patience_;
  const base::Clock& clock_;
  base::Random& random_;
  std::atomic<bool> is_troubled_ = false;
  std::mutex mutex_;
  base::Milliseconds troubled_since_{0};  // monotonic
};

}  // namespace postino::transfer
