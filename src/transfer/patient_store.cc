#include "transfer/patient_store.h"

#include "store/retry.h"

namespace postino::transfer {

namespace {

// Nothing was done, and it is no fault of the request.
bool is_refused_for_now(const store::Error& error) {
  using enum store::ErrorType;
  if (error.type == transaction_canceled) return store::worth_repeating(error);
  return error.type == provisioned_throughput_exceeded || error.type == request_limit_exceeded ||
         error.type == throttling || error.type == service_unavailable;
}

}  // namespace

void PatientStore::note_success() {
  if (!is_troubled_.load(std::memory_order_relaxed)) return;
  is_troubled_ = false;
}

bool PatientStore::wait(int failures, const std::string& cause) {
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    is_news = !is_troubled_.exchange(true);
    if (is_news) troubled_since_ = clock_.monotonic();
    if (clock_.monotonic() - troubled_since_ >= patience_.longest) return false;
  }
  if (is_news && patience_.tell) patience_.tell(cause);
  patience_.sleep(patience_.pauses.equal_jitter(failures, random_));
  return true;
}

template <class Call>
auto PatientStore::call(bool is_repeatable, const Call& make_call) -> decltype(make_call()) {
  for (int failures = 1;; ++failures) {
    auto answer = make_call();
    if (answer) {
      note_success();
      return answer;
    }
    const store::Error& error = answer.error();
    const bool may_be_repeated =
        is_refused_for_now(error) || (is_repeatable && error.type == store::ErrorType::internal_server_error);
    if (!may_be_repeated || !wait(failures, error.message)) return answer;
  }
}

store::Answer<store::GetItemResponse> PatientStore::get_item(const store::GetItemRequest& request) {
  return call(true, [&] { return inner().get_item(request); });
}
store::Answer<store::PageResponse> PatientStore::query(const store::QueryRequest& request) {
  return call(true, [&] { return inner().query(request); });
}
store::Answer<store::PageResponse> PatientStore::scan(const store::ScanRequest& request) {
  return call(true, [&] { return inner().scan(request); });
}
store::Answer<store::BatchGetItemResponse> PatientStore::batch_get_item(const store::BatchGetItemRequest& request) {
  return call(true, [&] { return inner().batch_get_item(request); });
}
store::Answer<store::TransactGetItemsResponse> PatientStore::transact_get_items(
    const store::TransactGetItemsRequest& request) {
  return call(true, [&] { return inner().transact_get_items(request); });
}

store::Answer<store::WriteItemResponse> PatientStore::put_item(const store::PutItemRequest& request) {
  return call(!request.condition && request.return_values == store::ReturnValues::none,
              [&] { return inner().put_item(request); });
}
store::Answer<store::WriteItemResponse> PatientStore::update_item(const store::UpdateItemRequest& request) {
  return call(false, [&] { return inner().update_item(request); });
}
store::Answer<store::WriteItemResponse> PatientStore::delete_item(const store::DeleteItemRequest& request) {
  return call(false, [&] { return inner().delete_item(request); });
}
store::Answer<store::BatchWriteItemResponse> PatientStore::batch_write_item(
    const store::BatchWriteItemRequest& request) {
  return call(true, [&] { return inner().batch_write_item(request); });
}
store::Answer<store::TransactWriteItemsResponse> PatientStore::transact_write_items(
    const store::TransactWriteItemsRequest& request) {
  return call(false, [&] { return inner().transact_write_items(request); });
}

}  // namespace postino::transfer
