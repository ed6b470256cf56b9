#include "engine/storage/commit_queue.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"
#include "engine/storage/keys.h"
#include "engine/storage/statistics.h"

namespace postino::engine {

namespace {

// One batch: enough to make the sync cheap per write, little enough to keep the wait of the first one short.
constexpr std::size_t max_batch_entries = 1'024;
constexpr std::size_t max_batch_bytes = 8 << 20;

rocksdb::Slice slice(const std::string& bytes) { return {bytes.data(), bytes.size()}; }

bool has_range(const std::shared_ptr<CommitEntry>& entry) {
  return std::ranges::find(entry->mutations, MutationType::remove_range, &Mutation::type) != entry->mutations.end();
}

// Of what was in line behind a batch that failed. It never came to the disk, whatever is known of that batch.
base::Result<void> refused_behind(const base::Result<void>& outcome) {
  if (outcome) return {};
  return base::fail(base::ErrorCode::exhausted, outcome.error().message);
}

bool is_index_put(const Mutation& mutation) {
  return mutation.family == Family::indexes && mutation.type == MutationType::put;
}

}  // namespace

void CommitEntry::put(Family family, std::string key, std::string value) {
  mutations.push_back({family, MutationType::put, std::move(key), std::move(value)});
}

void CommitEntry::remove(Family family, std::string key) {
  mutations.push_back({family, MutationType::remove, std::move(key), {}});
}

void CommitEntry::remove_range(Family family, std::string first, std::string end) {
  mutations.push_back({family, MutationType::remove_range, std::move(first), std::move(end)});
}

std::size_t CommitEntry::bytes() const {
  std::size_t total = 0;
  for (const Mutation& mutation : mutations) total += mutation.key.size() + mutation.value.size();
  for (const StreamAppend& append : stream_appends) total += append.value.size();
  for (const UndoAppend& append : undo_appends) total += append.value.size();
  return total;
}

std::uint64_t StreamSignal::announcements() const {
  std::lock_guard lock(mutex_);
  return announcements_;
}

void StreamSignal::wait(std::uint64_t seen, std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return announcements_ > seen; });
}

void StreamSignal::announce() {
  {
    std::lock_guard lock(mutex_);
    ++announcements_;
  }
  changed_.notify_all();
}

CommitQueue::CommitQueue(Database& database, KeyLocks& locks, const Options& options, RecordNumber first,
                         base::TimePoint last_time)
    : database_(database),
      locks_(locks),
      clock_(*options.clock),
      max_entries_(options.max_waiting_writes),
      max_bytes_(options.max_waiting_bytes),
      next_sequence_number_(first),
      settled_sequence_number_(first),
      next_undo_number_(first),
      last_time_(last_time),
      committer_([this] { run_committer(); }) {}

CommitQueue::~CommitQueue() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  committer_ready_.notify_one();
  committer_.join();
}

bool CommitQueue::has_room() const {
  std::lock_guard lock(mutex_);
  return queue_.size() < max_entries_ && queued_bytes_ < max_bytes_;
}

Ticket CommitQueue::enqueue(const std::shared_ptr<CommitEntry>& entry) {
  CHECK(entry->new_expiries.empty());
  entry->bytes_ = entry->bytes();
  std::lock_guard lock(mutex_);
  CHECK(!stopping_);
  entry->ticket_ = ++last_ticket_;
  entry->first_sequence_number_ = next_sequence_number_;
  next_sequence_number_ += entry->stream_appends.size();
  if (!entry->undo_appends.empty()) {
    entry->time_ = last_time_ = std::max({last_time_, least_time_, clock_.now()});
    entry->first_undo_number_ = next_undo_number_;
    next_undo_number_ += entry->undo_appends.size();
  }
  queued_bytes_ += entry->bytes_;
  queue_.push_back(entry);
  if (entry->done && !leading_) committer_ready_.notify_one();
  return entry->ticket_;
}

base::Result<void> CommitQueue::wait(const std::shared_ptr<CommitEntry>& entry) {
  std::unique_lock lock(mutex_);
  while (!entry->finished_) {
    if (!leading_)
      lead(lock);
    else
      entry->ready_.wait(lock);
  }
  return entry->outcome_;
}

RecordNumber CommitQueue::next_sequence_number() const {
  std::lock_guard lock(mutex_);
  return next_sequence_number_;
}

RecordNumber CommitQueue::settled_sequence_number() const {
  std::lock_guard lock(mutex_);
  return settled_sequence_number_;
}

base::TimePoint CommitQueue::commit_time() const {
  std::lock_guard lock(mutex_);
  return std::max(last_time_, clock_.now());
}

base::TimePoint CommitQueue::take_commit_time() {
  std::lock_guard lock(mutex_);
  return last_time_ = std::max({last_time_, least_time_, clock_.now()});
}

void CommitQueue::begin_time(base::TimePoint least) {
  std::lock_guard lock(mutex_);
  least_time_ = std::max(least_time_, least);
}

void CommitQueue::run_committer() {
  std::unique_lock lock(mutex_);
  while (true) {
    // A caller that waits for its entry leads itself.
    committer_ready_.wait(lock, [&] { return (stopping_ || (!queue_.empty() && queue_.front()->done)) && !leading_; });
    if (queue_.empty()) return;
    lead(lock);
  }
}

CommitQueue::Batch CommitQueue::take_batch() {
  Batch batch;
  std::size_t bytes = 0;
  while (!queue_.empty() && batch.size() < max_batch_entries && bytes < max_batch_bytes) {
    bytes += queue_.front()->bytes_;
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  queued_bytes_ -= bytes;
  return batch;
}

void CommitQueue::lead(std::unique_lock<std::mutex>& lock) {
  leading_ = true;
  Batch batch = take_batch();
  const std::size_t written = batch.size();
  lock.unlock();
  const base::Result<void> outcome = write(batch);
  if (outcome) {
    release_pending(batch);
  } else {
    abandon_all(batch);
  }
  const bool streamed = std::ranges::any_of(batch, [](const auto& entry) { return !entry->stream_appends.empty(); });
  if (streamed) stream_signal_.announce();

  lock.lock();
  leading_ = false;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto& entry = batch[i];
    entry->outcome_ = i < written ? outcome : refused_behind(outcome);
    entry->finished_ = true;
    settled_sequence_number_ = entry->first_sequence_number_ + entry->stream_appends.size();
  }
  wake_next_leader();
  lock.unlock();
  for (const auto& entry : batch) {
    if (entry->done)
      entry->done(entry->outcome_);
    else
      entry->ready_.notify_one();
  }
  batch.clear();
  lock.lock();
}

void CommitQueue::wake_next_leader() {
  if (queue_.empty()) {
    if (stopping_) committer_ready_.notify_one();
  } else if (queue_.front()->done) {
    committer_ready_.notify_one();
  } else {
    queue_.front()->ready_.notify_one();
  }
}

CommitQueue::Totals CommitQueue::total_statistics(const Batch& batch) {
  Totals totals;
  for (const auto& entry : batch) {
    for (const StatisticsDelta& delta : entry->statistics) {
      StatisticsDelta& total = totals[delta.id];
      total.statistics = delta.statistics;
      total.count += delta.count;
      total.bytes += delta.bytes;
    }
  }
  return totals;
}

void CommitQueue::append(const Mutation& mutation, rocksdb::WriteBatch& writes) const {
  rocksdb::ColumnFamilyHandle* family = database_.handle(mutation.family);
  switch (mutation.type) {
    case MutationType::put:
      writes.Put(family, slice(mutation.key), slice(mutation.value));
      break;
    case MutationType::remove:
      writes.Delete(family, slice(mutation.key));
      break;
    case MutationType::remove_range:
      writes.DeleteRange(family, slice(mutation.key), slice(mutation.value));
      break;
  }
}

void CommitQueue::append_records(const CommitEntry& entry, rocksdb::WriteBatch& writes) const {
  RecordNumber number = entry.first_sequence_number_;
  for (const StreamAppend& append : entry.stream_appends)
    writes.Put(database_.handle(Family::streams), stream_key(append.stream, number++), slice(append.value));
  number = entry.first_undo_number_;
  for (const UndoAppend& append : entry.undo_appends)
    writes.Put(database_.handle(Family::undo), undo_key(append.table, base::epoch_milliseconds(entry.time_), number++),
               slice(append.value));
}

// Entry by entry: ranges remove what entries before them have written, and nothing of those after.
void CommitQueue::append_in_turn(const Batch& batch, rocksdb::WriteBatch& writes) const {
  for (const auto& entry : batch) {
    for (const Mutation& mutation : entry->mutations) append(mutation, writes);
    append_records(*entry, writes);
  }
}

// In the order of the keys: the memtable finds the place of a key fastest near that of the one before. Of two mutations
// of a key the later one stays the later one.
void CommitQueue::append_sorted(const Batch& batch, rocksdb::WriteBatch& writes) const {
  std::vector<const Mutation*> mutations;
  for (const auto& entry : batch)
    for (const Mutation& mutation : entry->mutations) mutations.push_back(&mutation);
  std::ranges::stable_sort(mutations, {},
                           [](const Mutation* mutation) { return std::tie(mutation->family, mutation->key); });
  for (const Mutation* mutation : mutations) append(*mutation, writes);
  for (const auto& entry : batch) append_records(*entry, writes);
}

base::Result<void> CommitQueue::write(const Batch& batch) {
  std::size_t bytes = 0;
  for (const auto& entry : batch) bytes += entry->bytes_ + entry->mutations.size() * 16;
  rocksdb::WriteBatch writes(bytes + 64);
  // The counts come first: dropping a table later in the batch drops them too.
  const Totals totals = total_statistics(batch);
  for (const auto& [id, total] : totals)
    writes.Put(database_.handle(Family::meta), statistics_key(id),
               encode_statistics(total.statistics->count + total.count, total.statistics->bytes + total.bytes));
  if (std::ranges::any_of(batch, has_range))
    append_in_turn(batch, writes);
  else
    append_sorted(batch, writes);
  if (writes.Count() == 0) return {};

  const base::Result<void> written = database_.write(writes);
  note_index_puts(batch);
  TRY_VOID(written);
  for (const auto& [id, total] : totals) {
    total.statistics->count += total.count;
    total.statistics->bytes += total.bytes;
  }
  return {};
}

void CommitQueue::note_index_puts(const Batch& batch) {
  std::vector<std::string_view> keys;
  for (const auto& entry : batch)
    for (const Mutation& mutation : entry->mutations)
      if (is_index_put(mutation)) keys.push_back(mutation.key);
  if (!keys.empty()) database_.empty_ranges().note_puts(keys);
}

void CommitQueue::release_pending(const Batch& batch) {
  for (const auto& entry : batch)
    for (const std::string& key : entry->pending_keys) locks_.release(key, entry->ticket_);
}

void CommitQueue::abandon_all(Batch& batch) {
  const KeyLocks::Guard guard = locks_.lock_all();
  locks_.forget_all_pending();
  {
    std::lock_guard lock(mutex_);
    queued_bytes_ = 0;
    batch.insert(batch.end(), std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
    queue_.clear();
  }
  for (const auto& entry : batch)
    if (entry->undo) entry->undo();
}

}  // namespace postino::engine
