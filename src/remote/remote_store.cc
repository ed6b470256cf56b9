#include "remote/remote_store.h"

#include <utility>

#include "base/this_thread.h"
#include "remote/calls/caller.h"

namespace postino::remote {

namespace {

constexpr std::size_t most_waiting_writes = 1'000;

// Puts the thread to rest; others go on.
void rest(base::Milliseconds time) { base::Pause().wait(time); }

}  // namespace

base::Result<std::unique_ptr<RemoteStore>> RemoteStore::create(RemoteOptions options, const base::Clock& clock,
                                                               base::Random& random) {
  CallerOptions calls;
  calls.streams_endpoint = options.streams_endpoint.value_or(options.endpoint);
  calls.endpoint = std::move(options.endpoint);
  calls.region = std::move(options.region);
  calls.credentials = std::move(options.credentials);
  calls.tls = std::move(options.tls);
  calls.call_time = options.call_time;
  calls.attempts = options.attempts;
  calls.most_calls = options.most_calls;
  calls.needed = std::move(options.needed);
  calls.shutdown_deadline = std::move(options.shutdown_deadline);
  calls.sleep = options.sleep ? std::move(options.sleep) : rest;
  TRY(std::unique_ptr<Caller> caller, Caller::create(std::move(calls), clock, random));
  caller->counts().set_observer(std::move(options.traffic));
  return std::unique_ptr<RemoteStore>(new RemoteStore(std::move(caller), random));
}

RemoteStore::RemoteStore(std::unique_ptr<Caller> caller, base::Random& random)
    : caller_(std::move(caller)), random_(random), writers_(caller_->options().most_calls, most_waiting_writes) {}

RemoteStore::~RemoteStore() { writers_.stop(); }

std::vector<std::string> RemoteStore::problems() const { return caller_->problems(Api::data); }
std::vector<std::string> RemoteStore::stream_problems() const { return caller_->problems(Api::streams); }
std::vector<RemoteCounts> RemoteStore::counts() const { return caller_->counts().all(); }
base::TimePoint RemoteStore::now_there() const { return caller_->service_clock().now(); }

namespace {

store::Answer<store::WriteItemResponse> write_now(RemoteStore& store, const store::PutItemRequest& request) {
  return store.put_item(request);
}
store::Answer<store::WriteItemResponse> write_now(RemoteStore& store, const store::UpdateItemRequest& request) {
  return store.update_item(request);
}
store::Answer<store::WriteItemResponse> write_now(RemoteStore& store, const store::DeleteItemRequest& request) {
  return store.delete_item(request);
}
store::Answer<store::BatchWriteItemResponse> write_now(RemoteStore& store,
                                                       const store::BatchWriteItemRequest& request) {
  return store.batch_write_item(request);
}
store::Answer<store::TransactWriteItemsResponse> write_now(RemoteStore& store,
                                                           const store::TransactWriteItemsRequest& request) {
  return store.transact_write_items(request);
}

}  // namespace

template <class Response, class Request>
void RemoteStore::run_later(const Request& request, store::Completion<Response> done) {
  if (!writers_.try_submit([this, request, done] { done(write_now(*this, request)); }))
    done(store::refuse(store::ErrorType::service_unavailable, "too many writes are waiting for DynamoDB"));
}

void RemoteStore::put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) {
  run_later(request, std::move(done));
}

void RemoteStore::update_item(const store::UpdateItemRequest& request,
                              store::Completion<store::WriteItemResponse> done) {
  run_later(request, std::move(done));
}

void RemoteStore::delete_item(const store::DeleteItemRequest& request,
                              store::Completion<store::WriteItemResponse> done) {
  run_later(request, std::move(done));
}

void RemoteStore::batch_write_item(const store::BatchWriteItemRequest& request,
                                   store::Completion<store::BatchWriteItemResponse> done) {
  run_later(request, std::move(done));
}

void RemoteStore::transact_write_items(const store::TransactWriteItemsRequest& request,
                                       store::Completion<store::TransactWriteItemsResponse> done) {
  run_later(request, std::move(done));
}

}  // namespace postino::remote
