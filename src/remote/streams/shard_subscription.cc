#include "remote/streams/shard_subscription.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "base/hash.h"
#include "base/log.h"
#include "remote/streams/followed_shards.h"
#include "store/change_feed.h"

namespace postino::remote {

namespace {

constexpr base::Milliseconds between_shard_reads{200};  // of one shard
constexpr base::Milliseconds longest_shard_idle{1'000};
constexpr base::Milliseconds between_descriptions{30'000};
constexpr base::Milliseconds first_look_for_children{500};
// Of a stream behind its table. One that comes later is noticed when a record is older than the moment that has passed
// before it by more than clocks may differ: the service's clock is known to some seconds.
constexpr base::Milliseconds longest_lag{10'000};
constexpr base::Milliseconds clock_tolerance{10'000};
constexpr base::Milliseconds longest_timeout = std::chrono::hours(24 * 365);
constexpr base::Backoff throttled_pauses{.first = base::Milliseconds(400), .longest = base::Milliseconds(10'000)};
constexpr int short_pages_at_end = 5;
constexpr std::int64_t short_page_bytes = 512 << 10;  // a page that has less may be the last
constexpr std::int64_t answer_bytes = 4 << 20;        // of one answer, about

bool asks_for_patience(const store::Error& error) {
  return error.type == store::ErrorType::provisioned_throughput_exceeded ||
         error.type == store::ErrorType::request_limit_exceeded || error.type == store::ErrorType::throttling ||
         error.type == store::ErrorType::limit_exceeded;
}

tl::unexpected<store::Error> stream_has_ended() {
  return store::refuse(store::ErrorType::resource_not_found, "Requested resource not found: The stream has ended");
}

// What a page tells about the shard it came from.
void note_page(FollowedShard& shard, const store::GetRecordsResponse& page, base::Milliseconds asked, bool is_short) {
  shard.throttled = 0;
  shard.idle =
      page.records.empty() ? std::clamp(2 * shard.idle, between_shard_reads, longest_shard_idle) : between_shard_reads;
  shard.short_pages = is_short ? shard.short_pages + 1 : 0;
  if (shard.short_pages >= short_pages_at_end) shard.caught_up = asked;
}

class ShardSubscription final : public store::Subscription {
 public:
  ShardSubscription(store::Store& store, const base::Clock& clock, std::string stream,
                    std::function<void(base::Milliseconds)> wait)
      : store_(store), clock_(clock), stream_(std::move(stream)), wait_(std::move(wait)) {}

  store::Answer<void> begin(const std::optional<store::StreamPlace>& after);

  store::Answer<std::vector<store::StreamRecord>> next(int limit, base::Milliseconds timeout) override;
  store::StreamPlace place() const override { return {.stream = stream_, .positions = shards_.positions()}; }
  store::Answer<store::StreamMoment> present_end() override;
  bool has_passed(const store::StreamMoment& moment) const override {
    const bool has_passed = shards_.are_caught_up(moment.time, described_);
    if (has_passed) passed_ = std::max(passed_.value_or(moment.time), moment.time);
    return has_passed;
  }
  void close() override;

 private:
  // What a call of next() has gathered.
  struct Gathered {
    std::vector<store::StreamRecord> records;
    std::int64_t bytes = 0;
    std::size_t limit = 0;
    bool is_full() const { return records.size() >= limit || bytes >= answer_bytes; }
  };

  store::Answer<void> describe();
  FollowedShard* next_due(base::Milliseconds deadline);
  store::Answer<void> read_round(base::Milliseconds deadline, Gathered& gathered);
  store::Answer<void> read(FollowedShard& shard, Gathered& gathered);
  store::Answer<store::GetRecordsResponse> page_of(FollowedShard& shard, int limit);
  store::Answer<void> make_iterator(FollowedShard& shard);
  void take(FollowedShard& shard, store::GetRecordsResponse page, base::Milliseconds asked, Gathered& gathered);
  store::Answer<void> cope(FollowedShard& shard, const store::Error& error);
  bool comes_too_late(const store::GetRecordsResponse& page) const;
  base::Milliseconds turn_of(const FollowedShard& shard, base::Milliseconds deadline) const;
  bool had_its_turn(const FollowedShard& shard, base::Milliseconds deadline) const {
    return shard.round >= first_round_ || shard.not_before > deadline;
  }
  bool pause_until_next_turn(base::Milliseconds deadline);
  void pause(base::Milliseconds time);
  bool is_closed();

  store::Store& store_;
  const base::Clock& clock_;
  const std::string stream_;
  const std::function<void(base::Milliseconds)> wait_;

  FollowedShards shards_;
  bool is_disabled_ = false;
  base::Milliseconds described_{0};         // when the last description was asked for
  base::Milliseconds next_description_{0};  // when the next one is due
  base::Milliseconds look_for_children_ = first_look_for_children;
  int descriptions_throttled_ = 0;
  std::uint64_t round_ = 0;                           // in which shards are read
  std::uint64_t first_round_ = 0;                     // of the present call
  std::string last_read_;                             // the shard that was read last: others come first
  bool has_ended_ = false;                            // the stream is not there any more
  mutable std::optional<base::Milliseconds> passed_;  // the last moment of which it was said that it has passed

  std::mutex mutex_;
  std::condition_variable closing_;
  bool is_closed_ = false;
};

store::Answer<void> ShardSubscription::begin(const std::optional<store::StreamPlace>& after) {
  described_ = clock_.monotonic();
  TRY(const store::StreamDescription description, describe_whole_stream(store_, stream_));
  if (description.shards.empty())
    return store::refuse(store::ErrorType::service_unavailable, "the stream " + stream_ + " has no shards yet");
  next_description_ = described_ + between_descriptions;
  is_disabled_ = description.status == store::StreamStatus::disabled;
  if (!after) {
    shards_.begin(description.shards);
    return shards_.check_number();
  }
  TRY_VOID(shards_.go_on(description.shards, *after));
  TRY_VOID(shards_.check_number());
  // Whether the place is one of this stream, and nothing is missing behind it, is known now.
  for (FollowedShard* const shard : shards_.readable()) {
    const auto made = make_iterator(*shard);
    if (!made && !asks_for_patience(made.error())) return base::propagate(made.error());
  }
  return {};
}

store::Answer<void> ShardSubscription::describe() {
  const base::Milliseconds now = clock_.monotonic();
  const auto description = describe_whole_stream(store_, stream_);
  if (!description && asks_for_patience(description.error())) {
    next_description_ = now + throttled_pauses.equal_jitter(++descriptions_throttled_, base::fast_hash(stream_));
    return {};
  }
  if (!description && description.error().type == store::ErrorType::resource_not_found) {
    has_ended_ = true;
    return {};
  }
  if (!description) return base::propagate(description.error());
  descriptions_throttled_ = 0;
  described_ = now;
  is_disabled_ = description->status == store::StreamStatus::disabled;
  shards_.look_again(description->shards);
  TRY_VOID(shards_.check_number());
  next_description_ = now + between_descriptions;
  if (shards_.has_parent_without_children()) {
    // They may be shown a little after their parent has ended.
    next_description_ = now + look_for_children_;
    look_for_children_ = std::min(2 * look_for_children_, between_descriptions);
  }
  return {};
}

store::Answer<std::vector<store::StreamRecord>> ShardSubscription::next(int limit, base::Milliseconds timeout) {
  const base::Milliseconds deadline = clock_.monotonic() + std::clamp(timeout, base::Milliseconds(0), longest_timeout);
  first_round_ = round_ + 1;
  Gathered gathered;
  gathered.limit = static_cast<std::size_t>(std::clamp(limit, 1, store::max_records_per_read));
  while (!is_closed()) {
    const auto described = clock_.monotonic() >= next_description_ ? describe() : store::Answer<void>();
    if (has_ended_ || (is_disabled_ && shards_.have_all_been_read())) return stream_has_ended();
    const auto read = read_round(deadline, gathered);
    if (!gathered.records.empty()) return std::move(gathered.records);  // an error comes again
    if (!read) return base::propagate(read.error());
    if (!described) return base::propagate(described.error());
    if (!pause_until_next_turn(deadline)) break;
  }
  return std::move(gathered.records);
}

// When a shard is read: after its pause, or at the end of the call at the latest, but never more often than it may be.
base::Milliseconds ShardSubscription::turn_of(const FollowedShard& shard, base::Milliseconds deadline) const {
  if (!shard.read_at) return shard.not_before;
  const base::Milliseconds earliest = std::max(*shard.read_at + between_shard_reads, shard.not_before);
  const base::Milliseconds usual = std::max(earliest, *shard.read_at + shard.idle);
  return had_its_turn(shard, deadline) ? usual : std::max(earliest, std::min(usual, deadline));
}

// The one whose turn it is in this round, behind the one that was read last; nullptr: there is none.
FollowedShard* ShardSubscription::next_due(base::Milliseconds deadline) {
  FollowedShard* first = nullptr;
  for (FollowedShard* const shard : shards_.readable()) {
    if (shard->round == round_ || turn_of(*shard, deadline) > clock_.monotonic()) continue;
    if (*shard->id > last_read_) return shard;
    if (first == nullptr) first = shard;
  }
  return first;
}

// Each once at most, and with those that come in the place of others.
store::Answer<void> ShardSubscription::read_round(base::Milliseconds deadline, Gathered& gathered) {
  ++round_;
  while (FollowedShard* const shard = next_due(deadline)) {
    last_read_ = *shard->id;
    TRY_VOID(read(*shard, gathered));
    if (gathered.is_full() || is_closed()) break;
  }
  return {};
}

store::Answer<void> ShardSubscription::read(FollowedShard& shard, Gathered& gathered) {
  const base::Milliseconds asked = clock_.monotonic();
  shard.read_at = asked;
  shard.round = round_;
  auto page = page_of(shard, static_cast<int>(gathered.limit - gathered.records.size()));
  if (!page && page.error().type == store::ErrorType::expired_iterator) {
    shard.iterator.reset();
    page = page_of(shard, static_cast<int>(gathered.limit - gathered.records.size()));
  }
  if (!page) return cope(shard, page.error());
  if (comes_too_late(*page)) {
    passed_.reset();
    base::log_warning("store", "a change stream came too late behind its table: readers who must know start over",
                      {{"stream", stream_}});
    return store::refuse(store::ErrorType::trimmed_data_access,
                         "The stream came later behind its table than was assumed");
  }
  take(shard, *std::move(page), asked, gathered);
  return {};
}

// Who was told that everything from before a moment was read has done something that is wrong.
bool ShardSubscription::comes_too_late(const store::GetRecordsResponse& page) const {
  if (!passed_) return false;
  const base::Milliseconds named = *passed_ - longest_lag;
  const base::TimePoint oldest = clock_.now() - (clock_.monotonic() - named) - clock_tolerance;
  return std::ranges::any_of(page.records, [&](const store::StreamRecord& record) {
    return record.time > base::TimePoint() && record.time < oldest;  // a store need not tell the time
  });
}

store::Answer<store::GetRecordsResponse> ShardSubscription::page_of(FollowedShard& shard, int limit) {
  if (!shard.iterator) TRY_VOID(make_iterator(shard));
  store::GetRecordsRequest request;
  request.shard_iterator = *shard.iterator;
  request.limit = limit;
  request.stream_arn = stream_;
  return store_.get_records(request);
}

store::Answer<void> ShardSubscription::make_iterator(FollowedShard& shard) {
  store::GetShardIteratorRequest request;
  request.stream_arn = stream_;
  request.shard_id = *shard.id;
  if (!shard.position.is_none()) {
    request.type = store::IteratorType::after_sequence_number;
    request.sequence_number = shard.position.text();
  } else if (!shard.from_oldest && !shard.starting.is_none()) {
    // This tells if its first records are gone.
    request.type = store::IteratorType::at_sequence_number;
    request.sequence_number = shard.starting.text();
  }
  auto iterator = store_.get_shard_iterator(request);
  if (!iterator && iterator.error().type == store::ErrorType::validation &&
      request.type == store::IteratorType::at_sequence_number) {
    // A store need not know a number that no record has.
    request.type = store::IteratorType::trim_horizon;
    request.sequence_number.reset();
    iterator = store_.get_shard_iterator(request);
  }
  if (!iterator) return base::propagate(iterator.error());
  shard.iterator = *std::move(iterator);
  shard.short_pages = 0;
  return {};
}

void ShardSubscription::take(FollowedShard& shard, store::GetRecordsResponse page, base::Milliseconds asked,
                             Gathered& gathered) {
  std::int64_t bytes = 0;
  for (const store::StreamRecord& record : page.records) bytes += record.size_bytes;
  const bool is_short = gathered.records.size() + page.records.size() < gathered.limit && bytes < short_page_bytes;
  note_page(shard, page, asked, is_short);
  gathered.bytes += bytes;
  shard.from_oldest = false;  // what was there to begin with is known: from now on, records that go are missed
  if (!page.records.empty()) shard.position = page.records.back().sequence_number;
  for (store::StreamRecord& record : page.records) {
    record.shard = shard.id;
    gathered.records.push_back(std::move(record));
  }
  shard.iterator = std::move(page.next_shard_iterator);
  if (shard.iterator || shards_.end(shard)) return;
  look_for_children_ = first_look_for_children;
  next_description_ = std::min(next_description_, clock_.monotonic());
}

store::Answer<void> ShardSubscription::cope(FollowedShard& shard, const store::Error& error) {
  if (asks_for_patience(error)) {
    const std::uint64_t number = base::fast_hash(*shard.id) + round_;
    shard.not_before = clock_.monotonic() + throttled_pauses.equal_jitter(++shard.throttled, number);
    return {};
  }
  if (error.type != store::ErrorType::resource_not_found) return base::propagate(error);
  // The shard is gone, or the stream.
  const auto description = describe_whole_stream(store_, stream_);
  if (!description && description.error().type == store::ErrorType::resource_not_found) return stream_has_ended();
  if (!description) return base::propagate(description.error());
  const auto& shards = description->shards;
  if (std::ranges::find(shards, *shard.id, &store::Shard::id) != shards.end()) return base::propagate(error);
  return store::refuse(store::ErrorType::trimmed_data_access, "The shard " + *shard.id + " is not kept any more");
}

// False: the call is over.
bool ShardSubscription::pause_until_next_turn(base::Milliseconds deadline) {
  const base::Milliseconds now = clock_.monotonic();
  const std::vector<FollowedShard*> readable = shards_.readable();
  const bool is_complete =
      std::ranges::all_of(readable, [&](const FollowedShard* shard) { return had_its_turn(*shard, deadline); });
  // What has ended may have children that can be read now.
  if (now >= deadline && is_complete && now < next_description_) return false;
  base::Milliseconds wake = is_complete ? std::min(deadline, next_description_) : next_description_;
  for (const FollowedShard* const shard : readable) wake = std::min(wake, turn_of(*shard, deadline));
  if (wake > now) pause(wake - now);
  return true;
}

void ShardSubscription::pause(base::Milliseconds time) {
  if (wait_) return wait_(time);
  std::unique_lock lock(mutex_);
  closing_.wait_for(lock, time, [&] { return is_closed_; });
}

bool ShardSubscription::is_closed() {
  const std::lock_guard lock(mutex_);
  return is_closed_;
}

void ShardSubscription::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  closing_.notify_all();
}

store::Answer<store::StreamMoment> ShardSubscription::present_end() {
  const base::Milliseconds time = clock_.monotonic() + longest_lag;
  next_description_ = std::min(next_description_, time);
  return store::StreamMoment{.number = {}, .time = time};
}

}  // namespace

store::Answer<std::unique_ptr<store::Subscription>> subscribe_to_shards(store::Store& store, const base::Clock& clock,
                                                                        const std::string& table,
                                                                        std::optional<store::StreamPlace> after,
                                                                        std::function<void(base::Milliseconds)> wait) {
  TRY(const store::TableDescription description, store.describe_table(table));
  if (!description.stream || !description.latest_stream_arn)
    return store::refuse(store::ErrorType::resource_not_found,
                         "Requested resource not found: Table: " + table + " has no enabled stream");
  if (after && after->stream != *description.latest_stream_arn) return store::refuse_invalid("Invalid StreamArn");
  auto subscription =
      std::make_unique<ShardSubscription>(store, clock, *description.latest_stream_arn, std::move(wait));
  TRY_VOID(subscription->begin(after));
  return subscription;
}

}  // namespace postino::remote
