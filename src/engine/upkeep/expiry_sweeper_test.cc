#include "engine/upkeep/expiry_sweeper.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "engine/catalog/item_keys.h"
#include "engine/core_tables_testing.h"
#include "engine/streams/stream_operations.h"
#include "engine/upkeep/index_backfill.h"

namespace postino::engine {
namespace {

using store::StreamViewType;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t five_years = 5LL * 365 * 24 * 3600;

class ExpirySweeperTest : public CoreTablesTest {
 protected:
  std::int64_t now() { return base::epoch_seconds(clock().now()); }
  static std::string item(const std::string& pk, std::int64_t expires) {
    return R"({"pk":{"S":")" + pk + R"("},"expires":{"N":")" + std::to_string(expires) + R"("}})";
  }
  bool run_once() {
    const auto more = sweeper_.run_once();
    EXPECT_EQ(outcome_of(more), "ok");
    return more.value_or(false);
  }
  void put_many(const std::string& table_name, int count, std::int64_t expires) {
    std::shared_ptr<CommitEntry> last;
    for (int i = 0; i < count; ++i) last = queue_put(table_name, item(std::to_string(i), expires));
    ASSERT_TRUE(core().queue->wait(last));
  }
  std::size_t items(const std::string& table_name) { return stored_keys(Family::items, table(table_name)->id).size(); }
  std::vector<store::StreamRecord> stream_records(const std::string& table_name) {
    auto subscription = StreamOperations(core()).subscribe(table_name, std::nullopt);
    auto records = (*subscription)->next(store::max_records_per_read, base::Milliseconds(0));
    EXPECT_EQ(outcome_of(records), "ok");
    return *std::move(records);
  }

  ExpirySweeper sweeper_{core()};
};

TEST_F(ExpirySweeperTest, DeletesWhatHasExpired) {
  create_table("aaa");
  enable_time_to_live("aaa", "expires");
  put("aaa", item("past", now() - 10));
  put("aaa", item("now", now()));
  put("aaa", item("next", now() + 1));
  EXPECT_FALSE(run_once());
  EXPECT_EQ(get("aaa", "past"), "");
  EXPECT_EQ(get("aaa", "now"), "");
  EXPECT_NE(get("aaa", "next"), "");
  EXPECT_THAT(stored_keys(Family::expiry, table("aaa")->id), SizeIs(1));
  EXPECT_EQ(table("aaa")->statistics->count, 1);
  clock().advance(std::chrono::seconds(1));
  EXPECT_FALSE(run_once());
  EXPECT_EQ(get("aaa", "next"), "");
  EXPECT_THAT(stored_keys(Family::expiry, table("aaa")->id), IsEmpty());
  EXPECT_EQ(table("aaa")->statistics->count, 0);
  EXPECT_EQ(table("aaa")->statistics->bytes, 0);
}

TEST_F(ExpirySweeperTest, TheDeletionIsInIndexesAndInTheStream) {
  create_table("aaa", StreamViewType::old_image);
  create_index("aaa", "by_group", "group");
  enable_time_to_live("aaa", "expires");
  put("aaa", R"({"pk":{"S":"k"},"group":{"S":"g"},"expires":{"N":")" + std::to_string(now()) + R"("}})");
  ASSERT_THAT(actual_index_keys("aaa", "by_group"), SizeIs(1));
  run_once();
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), IsEmpty());
  expect_index_exact("aaa", "by_group");
  const auto records = stream_records("aaa");
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_FALSE(records[0].by_time_to_live);
  EXPECT_EQ(records[1].type, store::ChangeType::remove);
  EXPECT_TRUE(records[1].by_time_to_live);
  EXPECT_EQ(records[1].old_image->find("group")->as<std::string>(), "g");
}

TEST_F(ExpirySweeperTest, LeavesWhatIsNoExpiry) {
  create_table("aaa");
  enable_time_to_live("aaa", "expires");
  put("aaa", R"({"pk":{"S":"text"},"expires":{"S":"1"}})");
  put("aaa", R"({"pk":{"S":"none"}})");
  put("aaa", item("too old", now() - five_years - 1));
  put("aaa", item("old enough", now() - five_years));
  put("aaa", R"({"pk":{"S":"fraction"},"expires":{"N":")" + std::to_string(now()) + R"(.9"}})");
  run_once();
  EXPECT_NE(get("aaa", "text"), "");
  EXPECT_NE(get("aaa", "none"), "");
  EXPECT_NE(get("aaa", "too old"), "");
  EXPECT_EQ(get("aaa", "old enough"), "");
  EXPECT_EQ(get("aaa", "fraction"), "");
}

TEST_F(ExpirySweeperTest, AsksTheGuardBeforeItDeletes) {
  create_table("aaa");
  enable_time_to_live("aaa", "expires");
  int asked = 0;
  bool is_finished = false;
  sweeper_.set_guard([&](const std::string& table_name, const item::Item& seen) {
    ++asked;
    EXPECT_EQ(table_name, "aaa");
    return is_finished || seen.find("pk")->as<std::string>() != "unfinished";
  });
  put("aaa", item("finished", now() - 5));
  put("aaa", item("unfinished", now() - 4));
  put("aaa", item("also finished", now() - 3));
  run_once();
  run_once();
  EXPECT_EQ(get("aaa", "finished"), "");
  EXPECT_NE(get("aaa", "unfinished"), "");
  EXPECT_EQ(get("aaa", "also finished"), "");
  EXPECT_EQ(asked, 3) << "it is not asked about the same item in every round";
  EXPECT_THAT(stored_keys(Family::expiry, table("aaa")->id), SizeIs(1));
  put("aaa", item("later", now()));
  run_once();
  EXPECT_EQ(get("aaa", "later"), "") << "others do not wait";
  is_finished = true;
  clock().advance(std::chrono::hours(1));
  run_once();
  EXPECT_EQ(get("aaa", "unfinished"), "");
}

TEST_F(ExpirySweeperTest, WaitsForTheGuardThatItNeeds) {
  core().options.expiry_needs_guard = true;
  create_table("aaa");
  enable_time_to_live("aaa", "expires");
  put("aaa", item("past", now() - 5));
  EXPECT_FALSE(run_once());
  EXPECT_NE(get("aaa", "past"), "");
  sweeper_.set_guard([](const std::string&, const item::Item&) { return true; });
  run_once();
  EXPECT_EQ(get("aaa", "past"), "");
}

TEST_F(ExpirySweeperTest, LeavesItemsThatWereRevived) {
  create_table("aaa");
  enable_time_to_live("aaa", "expires");
  put("aaa", item("k", now()));
  put("aaa", item("k", now() + 100));
  run_once();
  EXPECT_NE(get("aaa", "k"), "");
  // As a write that is not on disk yet revives it.
  put("aaa", item("k", now()));
  const auto on_its_way = queue_put("aaa", item("k", now() + 200));
  run_once();
  ASSERT_TRUE(core().queue->wait(on_its_way));
  EXPECT_NE(get("aaa", "k"), "");
  EXPECT_THAT(stored_keys(Family::expiry, table("aaa")->id), SizeIs(1));
}

TEST_F(ExpirySweeperTest, ClearsAwayEntriesThatDoNotHold) {
  create_table("aaa");
  enable_time_to_live("aaa", "expires");
  put("aaa", item("k", now() + 100));
  const auto entry = std::make_shared<CommitEntry>();
  for (const char* pk : {"k", "gone"})
    entry->put(Family::expiry, expiry_key(table("aaa")->id, now() - 1, item_key(*table("aaa"), {{"pk", pk}})), {});
  core().queue->enqueue(entry);
  ASSERT_TRUE(core().queue->wait(entry));
  ASSERT_THAT(stored_keys(Family::expiry, table("aaa")->id), SizeIs(3));
  run_once();
  EXPECT_NE(get("aaa", "k"), "");
  EXPECT_THAT(stored_keys(Family::expiry, table("aaa")->id), SizeIs(1));
}

TEST_F(ExpirySweeperTest, WaitsUntilTheEntriesAreComplete) {
  create_table("aaa");
  put("aaa", item("k", now()));
  enable_time_to_live("aaa", "expires");
  ASSERT_TRUE(table("aaa")->time_to_live->backfill.has_value());
  run_once();
  EXPECT_NE(get("aaa", "k"), "");
  ASSERT_EQ(outcome_of(run_index_backfill_once(core())), "ok");
  run_once();
  EXPECT_EQ(get("aaa", "k"), "");
}

TEST_F(ExpirySweeperTest, WorksInBoundedRoundsAndServesEveryTable) {
  for (const char* name : {"aaa", "bbb"}) {
    create_table(name);
    enable_time_to_live(name, "expires");
    put_many(name, 500, now());
  }
  EXPECT_TRUE(run_once());
  EXPECT_EQ(items("aaa") + items("bbb"), 800U);
  EXPECT_EQ(items("aaa"), items("bbb"));
  int rounds = 1;
  while (run_once()) ++rounds;
  EXPECT_LE(rounds, 5 + 1);
  EXPECT_EQ(items("aaa") + items("bbb"), 0U);
}

TEST_F(ExpirySweeperTest, ATableMayGoBetweenRounds) {
  create_table("aaa");
  enable_time_to_live("aaa", "expires");
  put_many("aaa", 500, now());
  EXPECT_TRUE(run_once());
  delete_table("aaa");
  create_table("aaa");
  put("aaa", item("0", now()));
  run_once();
  EXPECT_FALSE(run_once());
  EXPECT_NE(get("aaa", "0"), "") << "the new table has no time to live";
}

using ConcurrentExpirySweeperTest = ExpirySweeperTest;

// Writers let their items expire and revive them; a sweep may come between, but never undo a later write.
TEST_F(ConcurrentExpirySweeperTest, NeverUndoesAWrite) {
  constexpr int writers = 3;
  constexpr int writes = 150;
  create_table("aaa", StreamViewType::new_and_old_images);
  enable_time_to_live("aaa", "expires");
  std::atomic<int> running = writers;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < writes; ++i)
        put("aaa", item("key" + std::to_string(writer), i + 1 < writes && i % 2 == 0 ? now() - i : now() + 1'000 + i));
      --running;
    });
  while (running > 0) run_once();
  for (std::thread& thread : threads) thread.join();
  run_once();
  EXPECT_EQ(items("aaa"), static_cast<std::size_t>(writers));
  EXPECT_EQ(table("aaa")->statistics->count, writers);

  std::map<std::string, std::optional<item::Item>> images;
  for (const store::StreamRecord& record : stream_records("aaa")) {
    auto& image = images[record.keys.find("pk")->as<std::string>()];
    EXPECT_EQ(record.old_image, image);
    image = record.new_image;
  }
}

}  // namespace
}  // namespace postino::engine
