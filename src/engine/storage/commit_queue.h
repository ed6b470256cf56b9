// The way to disk. Everything that waits is written in one synced batch, in the order it was queued.
//
// There is one leader at a time: a waiting caller, or the committer thread when the first entry has a callback. The
// leader takes what is queued, writes it as one RocksDB batch, hands leadership on and reports. While it writes, the
// next batch gathers.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/storage/database.h"
#include "engine/storage/key_locks.h"
#include "engine/storage/keys.h"
#include "engine/storage/statistics.h"

namespace postino::engine {

enum class MutationType : std::uint8_t { put, remove, remove_range };

struct Mutation {
  Family family = Family::items;
  MutationType type = MutationType::put;
  std::string key;    // for a range: its first key
  std::string value;  // for a range: the key after its last
};

// A change record; its key needs the sequence number that the queue gives out.
struct StreamAppend {
  ObjectId stream = 0;
  std::string value;
};

// What was there before a change; its key needs the time of the commit, which the queue gives.
struct UndoAppend {
  ObjectId table = 0;
  std::string value;
};

struct StatisticsDelta {
  ObjectId id = 0;
  std::shared_ptr<Statistics> statistics;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

// When an item expires that had no time to live before.
struct NewExpiry {
  std::int64_t second = 0;
  std::string stored_item_key;
};

// What one request asks the disk to do: all of it or none.
struct CommitEntry {
  std::vector<Mutation> mutations;
  std::vector<NewExpiry> new_expiries;  // become mutations before the entry is queued
  std::vector<StreamAppend> stream_appends;
  std::vector<UndoAppend> undo_appends;
  std::vector<StatisticsDelta> statistics;
  std::vector<std::string> pending_keys;  // to release from KeyLocks when done

  // For callers that do not wait: called once, on the leader's thread.
  std::function<void(const base::Result<void>&)> done;

  // Takes back what the planner did in memory. Called when the entry failed, before anything else is planned.
  std::function<void()> undo;

  bool empty() const { return mutations.empty() && stream_appends.empty(); }
  void put(Family family, std::string key, std::string value);
  void remove(Family family, std::string key);
  void remove_range(Family family, std::string first, std::string end);

 private:
  friend class CommitQueue;
  std::size_t bytes() const;

  Ticket ticket_ = 0;
  RecordNumber first_sequence_number_ = 0;
  RecordNumber first_undo_number_ = 0;
  base::TimePoint time_;  // of an entry with undo records
  std::size_t bytes_ = 0;
  bool finished_ = false;
  base::Result<void> outcome_;
  std::condition_variable ready_;
};

// Wakes those who wait for new stream records.
class StreamSignal {
 public:
  // The number of announcements so far; wait() returns once it exceeds `seen` or `until` has passed.
  std::uint64_t announcements() const;
  void wait(std::uint64_t seen, std::chrono::steady_clock::time_point until);
  void announce();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t announcements_ = 0;
};

class CommitQueue {
 public:
  // Numbers of records begin with `first`, and no commit has a time before `last_time`.
  CommitQueue(Database& database, KeyLocks& locks, const Options& options, RecordNumber first,
              base::TimePoint last_time = {});
  // Writes what is queued. No caller may be left.
  ~CommitQueue();

  // May one more entry be planned? Cheap; checked before planning.
  bool has_room() const;

  // Puts an entry in line and returns its ticket. The caller holds the locks of all keys the entry depends on.
  Ticket enqueue(const std::shared_ptr<CommitEntry>& entry);

  // For entries without `done`: returns when the entry is on disk, or why it is not. Call without holding key locks.
  base::Result<void> wait(const std::shared_ptr<CommitEntry>& entry);

  // Every record queued so far has a smaller sequence number, every later one this or a larger one.
  RecordNumber next_sequence_number() const;

  // Every record with a smaller sequence number is on disk or never will be; no caller has been answered for the others
  // yet.
  RecordNumber settled_sequence_number() const;

  // The times of commits with undo records never go back, even if the clock does: this is now, or the last of them.
  base::TimePoint commit_time() const;
  // The time of a commit that is being planned, while all key locks are held: no later one has an earlier time.
  base::TimePoint take_commit_time();
  // No commit that is queued from now on has an earlier time.
  void begin_time(base::TimePoint least);

  StreamSignal& stream_signal() { return stream_signal_; }

 private:
  using Batch = std::vector<std::shared_ptr<CommitEntry>>;
  using Totals = std::map<ObjectId, StatisticsDelta>;

  void run_committer();
  // Called with the mutex held by `lock`, which is released while writing.
  void lead(std::unique_lock<std::mutex>& lock);
  Batch take_batch();
  static Totals total_statistics(const Batch& batch);
  void append(const Mutation& mutation, rocksdb::WriteBatch& writes) const;
  void append_records(const CommitEntry& entry, rocksdb::WriteBatch& writes) const;
  void append_in_turn(const Batch& batch, rocksdb::WriteBatch& writes) const;
  void append_sorted(const Batch& batch, rocksdb::WriteBatch& writes) const;
  base::Result<void> write(const Batch& batch);
  // Also when it failed: whether it reached the disk may not be known.
  void note_index_puts(const Batch& batch);
  void release_pending(const Batch& batch);
  // Nothing queued can stand when a batch failed, because it may have been planned upon it: it is added to the batch.
  void abandon_all(Batch& batch);
  void wake_next_leader();

  Database& database_;
  KeyLocks& locks_;
  const base::Clock& clock_;
  const std::size_t max_entries_;
  const std::size_t max_bytes_;

  mutable std::mutex mutex_;
  std::condition_variable committer_ready_;
  std::deque<std::shared_ptr<CommitEntry>> queue_;
  std::size_t queued_bytes_ = 0;
  Ticket last_ticket_ = 0;
  RecordNumber next_sequence_number_;
  RecordNumber settled_sequence_number_;
  RecordNumber next_undo_number_;
  base::TimePoint last_time_;   // of a commit
  base::TimePoint least_time_;  // of the next one
  bool leading_ = false;
  bool stopping_ = false;

  StreamSignal stream_signal_;
  std::thread committer_;
};

}  // namespace postino::engine
