#include "store/change_feed.h"

#include "base/check.h"

namespace postino::store {

namespace {

Answer<std::vector<Shard>> all_shards(Store& store, const std::string& stream) {
  std::vector<Shard> shards;
  DescribeStreamRequest request;
  request.stream_arn = stream;
  do {
    TRY(const StreamDescription description, store.describe_stream(request));
    shards.insert(shards.end(), description.shards.begin(), description.shards.end());
    request.exclusive_start_shard_id = description.last_evaluated_shard_id;
  } while (request.exclusive_start_shard_id);
  if (shards.empty()) return refuse(ErrorType::service_unavailable, "the stream " + stream + " has no shards yet");
  return shards;
}

// The record before the first of a shard.
SequenceNumber before(const Shard& shard) { return shard.starting > 0 ? shard.starting - 1 : 0; }

// Does the stream have what comes after this record? A page of no time tells.
Answer<bool> reaches_back(Store& store, const std::string& table, SequenceNumber position) {
  TRY(const std::unique_ptr<Subscription> probe, store.subscribe(table, position));
  const auto records = probe->next(1, base::Milliseconds(0));
  if (!records && records.error().type == ErrorType::trimmed_data_access) return false;
  if (!records) return base::propagate(records.error());
  return true;
}

}  // namespace

Answer<std::string> ChangeFeed::present_stream() {
  TRY(const TableDescription description, store_.describe_table(table_));
  if (!description.stream || !description.latest_stream_arn)
    return refuse(ErrorType::resource_not_found, "table " + table_ + " has no change stream");
  return *description.latest_stream_arn;
}

void ChangeFeed::take(std::unique_ptr<Subscription> subscription) {
  const std::lock_guard lock(mutex_);
  subscription_ = std::move(subscription);
  if (subscription_ && is_closed_) subscription_->close();
}

void ChangeFeed::drop() { take(nullptr); }

void ChangeFeed::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  if (subscription_) subscription_->close();
}

void ChangeFeed::go_on_behind(StreamPlace place) {
  drop();
  place_ = std::move(place);
}

Answer<void> ChangeFeed::begin(Start start) {
  drop();
  TRY(std::string stream, present_stream());
  TRY(const std::vector<Shard> shards, all_shards(store_, stream));
  const SequenceNumber position = before(start == Start::oldest ? shards.front() : shards.back());
  std::optional<SequenceNumber> after;
  if (start == Start::present) {
    TRY(const bool is_reached, reaches_back(store_, table_, position));
    if (is_reached) after = position;
  }
  TRY(std::unique_ptr<Subscription> subscription, store_.subscribe(table_, after));
  take(std::move(subscription));
  place_ = StreamPlace{std::move(stream), position};
  return {};
}

Answer<std::string> ChangeFeed::open() {
  CHECK(place_);
  if (subscription_) return std::string();
  TRY(const std::string stream, present_stream());
  if (stream != place_->stream) return std::string("the table has another stream");
  auto subscription = store_.subscribe(table_, place_->position);
  // A position that the store has not reached is one of another store, or of a later state of this one.
  if (!subscription && subscription.error().type == ErrorType::validation)
    return std::string("the checkpoint is ahead of the stream");
  if (!subscription) return base::propagate(subscription.error());
  take(*std::move(subscription));
  return std::string();
}

Answer<Changes> ChangeFeed::next(int limit, base::Milliseconds timeout) {
  TRY(std::string missed, open());
  if (!missed.empty()) return Changes{.records = {}, .missed = std::move(missed)};
  auto records = subscription_->next(limit, timeout);
  if (records) return Changes{.records = *std::move(records), .missed = ""};
  drop();
  if (records.error().type == ErrorType::trimmed_data_access)
    return Changes{.records = {}, .missed = "changes were gone before they were handled"};
  // The stream has ended: the table may have another one by the next call.
  if (records.error().type == ErrorType::resource_not_found) return Changes();
  return base::propagate(records.error());
}

}  // namespace postino::store
