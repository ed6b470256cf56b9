#include "store/change_feed.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "base/check.h"

namespace postino::store {

namespace {

// The shards that have no children: what is written from now on is in them, and in children that they will have.
StreamPlace beginning_of_leaves(const std::string& stream, const std::vector<Shard>& shards) {
  std::set<std::string> parents;
  for (const Shard& shard : shards)
    if (shard.parent_id) parents.insert(*shard.parent_id);
  StreamPlace place{.stream = stream, .positions = {}};
  for (const Shard& shard : shards)
    if (!parents.contains(shard.id)) place.positions.emplace(shard.id, SequenceNumber());
  return place;
}

constexpr std::string_view changes_gone = "changes were gone before they were handled";

}  // namespace

Answer<StreamDescription> describe_whole_stream(Store& store, const std::string& stream) {
  DescribeStreamRequest request;
  request.stream_arn = stream;
  TRY(StreamDescription whole, store.describe_stream(request));
  while (whole.last_evaluated_shard_id) {
    if (whole.shards.size() > most_described_shards)
      return refuse(ErrorType::service_unavailable, "the stream " + stream + " has too many shards to be followed");
    request.exclusive_start_shard_id = whole.last_evaluated_shard_id;
    TRY(StreamDescription page, store.describe_stream(request));
    std::ranges::move(page.shards, std::back_inserter(whole.shards));
    whole.status = page.status;
    whole.last_evaluated_shard_id = page.last_evaluated_shard_id;
  }
  return whole;
}

Answer<std::string> ChangeFeed::present_stream() {
  TRY(const TableDescription description, store_.describe_table(table_));
  if (!description.stream || !description.latest_stream_arn)
    return refuse(ErrorType::resource_not_found, "table " + table_ + " has no change stream");
  return *description.latest_stream_arn;
}

void ChangeFeed::take(std::unique_ptr<Subscription> subscription) {
  undone_ = 0;
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

// Of shards that have lost their first records, everything that there is.
Answer<std::unique_ptr<Subscription>> ChangeFeed::subscribe_to_present(const std::string& stream) {
  TRY(const StreamDescription description, describe_whole_stream(store_, stream));
  if (description.shards.empty())
    return refuse(ErrorType::service_unavailable, "the stream " + stream + " has no shards yet");
  auto subscription = store_.subscribe(table_, beginning_of_leaves(stream, description.shards));
  if (!subscription && subscription.error().type == ErrorType::trimmed_data_access)
    return store_.subscribe(table_, std::nullopt);
  return subscription;
}

Answer<void> ChangeFeed::begin(Start start) {
  drop();
  TRY(const std::string stream, present_stream());
  TRY(std::unique_ptr<Subscription> subscription,
      start == Start::present ? subscribe_to_present(stream) : store_.subscribe(table_, std::nullopt));
  take(std::move(subscription));
  place_ = subscription_->place();
  return {};
}

void ChangeFeed::move_to(const StreamRecord& record) {
  place_->move_to(record);
  if (undone_ > 0) --undone_;
  // Only now are the shards done that have ended before it.
  if (undone_ == 0 && subscription_) place_ = subscription_->place();
}

Answer<std::string> ChangeFeed::open() {
  CHECK(place_);
  if (subscription_) return std::string();
  TRY(const std::string stream, present_stream());
  if (stream != place_->stream) return std::string("the table has another stream");
  auto subscription = store_.subscribe(table_, place_);
  // A position that the store has not reached is one of another store, or of a later state of this one.
  if (!subscription && subscription.error().type == ErrorType::validation)
    return std::string("the checkpoint is ahead of the stream");
  if (!subscription && subscription.error().type == ErrorType::trimmed_data_access) return std::string(changes_gone);
  if (!subscription) return base::propagate(subscription.error());
  take(*std::move(subscription));
  return std::string();
}

Answer<Changes> ChangeFeed::next(int limit, base::Milliseconds timeout) {
  TRY(std::string missed, open());
  if (!missed.empty()) return Changes{.records = {}, .missed = std::move(missed)};
  auto records = subscription_->next(limit, timeout);
  if (records) {
    undone_ += records->size();
    if (undone_ == 0) place_ = subscription_->place();
    return Changes{.records = *std::move(records), .missed = ""};
  }
  drop();
  if (records.error().type == ErrorType::trimmed_data_access)
    return Changes{.records = {}, .missed = std::string(changes_gone)};
  // The stream has ended: the table may have another one by the next call.
  if (records.error().type == ErrorType::resource_not_found) return Changes();
  return base::propagate(records.error());
}

}  // namespace postino::store
