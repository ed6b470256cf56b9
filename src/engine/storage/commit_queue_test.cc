#include "engine/storage/commit_queue.h"

#include <gmock/gmock.h>

#include "base/temporary_directory.h"
#include "engine/memory_directory_testing.h"
#include "engine/storage/keys.h"

namespace postino::engine {
namespace {

using ::testing::ElementsAre;

// Entries are written together: the one who waits for the first leads all that are in line.
class CommitQueueTest : public ::testing::Test {
 protected:
  CommitQueueTest() {
    options_.directory = directory_.path();
    database_ = Database::open(options_, nullptr).value();
    queue_ = std::make_unique<CommitQueue>(*database_, locks_, options_, 1);
  }

  CommitEntry& add_entry() {
    entries_.push_back(std::make_shared<CommitEntry>());
    return *entries_.back();
  }
  void write_together() {
    for (const auto& entry : entries_) queue_->enqueue(entry);
    for (const auto& entry : entries_) EXPECT_TRUE(queue_->wait(entry));
    entries_.clear();
  }
  std::vector<std::string> keys(Family family) {
    const std::string first;
    const std::string end(32, '\xFF');
    const rocksdb::Slice lower(first);
    const rocksdb::Slice upper(end);
    std::vector<std::string> found;
    const auto entries = database_->iterate(family, lower, upper);
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) found.push_back(entries->key().ToString());
    return found;
  }
  std::string value(Family family, const std::string& key) {
    const auto found = database_->get(family, key);
    return found && *found ? (*found)->ToString() : "none";
  }

  base::TemporaryDirectory directory_{memory_directory()};
  Options options_;
  std::unique_ptr<Database> database_;
  KeyLocks locks_;
  std::unique_ptr<CommitQueue> queue_;
  std::vector<std::shared_ptr<CommitEntry>> entries_;
};

TEST_F(CommitQueueTest, OfTwoMutationsOfAKeyTheLaterOneCounts) {
  CommitEntry& first = add_entry();
  first.put(Family::items, "b", "first");
  first.put(Family::items, "a", "first");
  first.put(Family::items, "a", "again");
  first.put(Family::items, "gone", "first");
  first.put(Family::indexes, "a", "another family");
  CommitEntry& second = add_entry();
  second.remove(Family::items, "gone");
  second.put(Family::items, "b", "second");
  second.remove(Family::items, "back");
  add_entry().put(Family::items, "back", "third");
  write_together();
  EXPECT_EQ(value(Family::items, "a"), "again");
  EXPECT_EQ(value(Family::items, "b"), "second");
  EXPECT_EQ(value(Family::items, "gone"), "none");
  EXPECT_EQ(value(Family::items, "back"), "third");
  EXPECT_EQ(value(Family::indexes, "a"), "another family");
}

TEST_F(CommitQueueTest, RangeRemovesWhatWasWrittenBeforeItAndNothingElse) {
  constexpr ObjectId dropped = 7;
  constexpr ObjectId other = 8;
  CommitEntry& before = add_entry();
  before.put(Family::items, id_prefix(dropped) + "old", "x");
  before.put(Family::items, id_prefix(other) + "old", "x");
  before.stream_appends = {{dropped, "record"}, {other, "record"}};
  CommitEntry& drop = add_entry();
  drop.remove_range(Family::items, id_prefix(dropped), id_prefix(dropped + 1));
  drop.remove_range(Family::streams, id_prefix(dropped), id_prefix(dropped + 1));
  CommitEntry& after = add_entry();
  after.put(Family::items, id_prefix(dropped) + "a", "x");
  after.stream_appends = {{dropped, "record"}};
  write_together();
  EXPECT_THAT(keys(Family::items), ElementsAre(id_prefix(dropped) + "a", id_prefix(other) + "old"));
  EXPECT_THAT(keys(Family::streams), ElementsAre(stream_key(dropped, 3), stream_key(other, 2)));
}

TEST_F(CommitQueueTest, WhatIsWrittenTogetherIsOneCommit) {
  const WriteCounts before = database_->counts();
  add_entry().put(Family::items, "a", std::string(1'000, 'x'));
  CommitEntry& other = add_entry();
  other.put(Family::indexes, "a", "x");
  other.remove(Family::indexes, "b");
  write_together();
  const WriteCounts after = database_->counts();
  EXPECT_EQ(after.commits - before.commits, 1U);
  EXPECT_EQ(after.keys - before.keys, 3U);
  EXPECT_GT(after.bytes - before.bytes, 1'000U);
  EXPECT_LT(after.bytes - before.bytes, 1'100U);
}

TEST_F(CommitQueueTest, UndoRecordsHaveTimesThatNeverGoBack) {
  const auto clock = std::make_shared<base::ManualClock>(base::TimePoint(std::chrono::seconds(1'000)));
  options_.clock = clock;
  queue_ = std::make_unique<CommitQueue>(*database_, locks_, options_, 1, base::TimePoint(std::chrono::seconds(900)));
  add_entry().undo_appends = {{7, "first"}, {7, "second"}};
  write_together();
  clock->set_by(-std::chrono::seconds(200));
  add_entry().undo_appends = {{7, "third"}};
  write_together();
  EXPECT_EQ(queue_->commit_time(), base::TimePoint(std::chrono::seconds(1'000)));
  queue_->begin_time(base::TimePoint(std::chrono::seconds(1'001)));
  EXPECT_EQ(queue_->commit_time(), base::TimePoint(std::chrono::seconds(1'000)));
  add_entry().undo_appends = {{7, "fourth"}};
  write_together();
  EXPECT_THAT(keys(Family::undo), ElementsAre(undo_key(7, 1'000'000, 1), undo_key(7, 1'000'000, 2),
                                              undo_key(7, 1'000'000, 3), undo_key(7, 1'001'000, 4)));
  EXPECT_EQ(value(Family::undo, undo_key(7, 1'000'000, 3)), "third");
}

TEST_F(CommitQueueTest, NoTimeIsBeforeTheLastOfAnEarlierOpening) {
  options_.clock = std::make_shared<base::ManualClock>(base::TimePoint(std::chrono::seconds(1'000)));
  queue_ = std::make_unique<CommitQueue>(*database_, locks_, options_, 1, base::TimePoint(std::chrono::seconds(2'000)));
  add_entry().undo_appends = {{7, "record"}};
  write_together();
  EXPECT_THAT(keys(Family::undo), ElementsAre(undo_key(7, 2'000'000, 1)));
}

}  // namespace
}  // namespace postino::engine
