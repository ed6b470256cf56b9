#include "engine/upkeep/index_backfill.h"

#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <thread>

#include "engine/catalog/item_keys.h"
#include "engine/core_tables_testing.h"
#include "engine/storage/keys.h"

namespace postino::engine {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class IndexBackfillTest : public CoreTablesTest {
 protected:
  static std::string item(int pk, const std::string& group) {
    return R"({"pk":{"S":"key)" + std::to_string(pk) + R"("},"group":{"S":")" + group + R"("}})";
  }
  void put_many(int count) {
    std::shared_ptr<CommitEntry> last;
    for (int i = 0; i < count; ++i) last = queue_put("aaa", item(i, "g" + std::to_string(i % 7)));
    ASSERT_TRUE(core().queue->wait(last));
  }
  bool run_once() {
    const auto more = run_index_backfill_once(core());
    EXPECT_EQ(outcome_of(more), "ok");
    return more.value_or(false);
  }
  bool ready() { return index("aaa", "by_group").ready(); }
};

TEST_F(IndexBackfillTest, FillsAnIndexChunkByChunk) {
  create_table("aaa");
  put_many(250);
  create_index("aaa", "by_group", "group");
  ASSERT_FALSE(ready());
  EXPECT_TRUE(run_once());
  EXPECT_FALSE(ready());
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), SizeIs(100));
  EXPECT_TRUE(run_once());
  EXPECT_FALSE(run_once());
  EXPECT_TRUE(ready());
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), SizeIs(250));
  expect_index_exact("aaa", "by_group");
  EXPECT_FALSE(run_once());
}

TEST_F(IndexBackfillTest, AChunkOfLargeItemsIsSmaller) {
  create_table("aaa");
  const std::string large(100'000, 'x');
  for (int i = 0; i < 9; ++i)
    put("aaa", R"({"pk":{"S":")" + std::to_string(i) + R"("},"group":{"S":"g"},"v":{"S":")" + large + R"("}})");
  create_index("aaa", "by_group", "group");
  EXPECT_TRUE(run_once());
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), SizeIs(3));
  while (run_once()) continue;
  expect_index_exact("aaa", "by_group");
}

TEST_F(IndexBackfillTest, ResumesAfterARestart) {
  create_table("aaa");
  put_many(250);
  create_index("aaa", "by_group", "group");
  EXPECT_TRUE(run_once());
  reopen();
  ASSERT_FALSE(ready());
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), SizeIs(100));
  EXPECT_TRUE(run_once());
  EXPECT_FALSE(run_once());
  expect_index_exact("aaa", "by_group");
  reopen();
  EXPECT_TRUE(ready());
  expect_index_exact("aaa", "by_group");
}

TEST_F(IndexBackfillTest, SkipsItemsThatTheIndexCannotHold) {
  create_table("aaa");
  put("aaa", R"({"pk":{"S":"none"}})");
  put("aaa", R"({"pk":{"S":"number"},"group":{"N":"1"}})");
  put("aaa", R"({"pk":{"S":"empty"},"group":{"S":""}})");
  put("aaa", R"({"pk":{"S":"large"},"group":{"S":")" + std::string(2'049, 'x') + R"("}})");
  put("aaa", R"({"pk":{"S":"just"},"group":{"S":")" + std::string(2'048, 'x') + R"("}})");
  create_index("aaa", "by_group", "group");
  EXPECT_FALSE(run_once());
  EXPECT_TRUE(ready());
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), SizeIs(1));
  expect_index_exact("aaa", "by_group");
  // What was skipped must not be taken out again.
  for (const char* pk : {"none", "number", "empty", "large"}) remove("aaa", pk);
  expect_index_exact("aaa", "by_group");
  EXPECT_EQ(index("aaa", "by_group").statistics->count, 1);
}

TEST_F(IndexBackfillTest, WritesBetweenChunksAreNeitherLostNorCountedTwice) {
  create_table("aaa");
  put_many(250);
  create_index("aaa", "by_group", "group");
  EXPECT_TRUE(run_once());
  for (int i = 0; i < 250; i += 5) put("aaa", item(i, "changed"));
  for (int i = 1; i < 250; i += 5) remove("aaa", "key" + std::to_string(i));
  for (int i = 250; i < 300; ++i) put("aaa", item(i, "new"));
  while (run_once()) continue;
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), SizeIs(250));
  expect_index_exact("aaa", "by_group");
}

TEST_F(IndexBackfillTest, SeesWritesThatAreOnTheirWay) {
  create_table("aaa");
  put_many(50);
  create_index("aaa", "by_group", "group");
  std::vector<std::shared_ptr<CommitEntry>> queued;
  for (int i = 0; i < 50; i += 2) queued.push_back(queue_put("aaa", item(i, "changed")));
  for (int i = 1; i < 50; i += 2) queued.push_back(queue_delete("aaa", "key" + std::to_string(i)));
  for (int i = 50; i < 60; ++i) queued.push_back(queue_put("aaa", item(i, "new")));
  EXPECT_FALSE(run_once());
  for (const auto& entry : queued) ASSERT_TRUE(core().queue->wait(entry));
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), SizeIs(25 + 10));
  expect_index_exact("aaa", "by_group");
}

TEST_F(IndexBackfillTest, FillsTheExpiryOfATimeToLive) {
  create_table("aaa");
  const std::int64_t now = base::epoch_seconds(clock().now());
  for (int i = 0; i < 150; ++i)
    put("aaa",
        R"({"pk":{"S":"key)" + std::to_string(i) + R"("},"expires":{"N":")" + std::to_string(now + i) + R"("}})");
  put("aaa", R"({"pk":{"S":"none"}})");
  enable_time_to_live("aaa", "expires");
  EXPECT_TRUE(run_once());
  EXPECT_FALSE(run_once());
  EXPECT_FALSE(table("aaa")->time_to_live->backfill.has_value());
  const auto keys = stored_keys(Family::expiry, table("aaa")->id);
  EXPECT_THAT(keys, SizeIs(150));
  EXPECT_THAT(keys, Contains(expiry_key(table("aaa")->id, now + 149, item_key(*table("aaa"), {{"pk", "key149"}}))));
}

TEST_F(IndexBackfillTest, OtherTablesAreLeftAlone) {
  create_table("aaa");
  create_table("bbb");
  create_table("ccc");
  put("aaa", item(1, "a"));
  put("bbb", item(2, "b"));
  put("ccc", item(3, "c"));
  create_index("bbb", "by_group", "group");
  while (run_once()) continue;
  EXPECT_THAT(actual_index_keys("bbb", "by_group"), SizeIs(1));
  expect_index_exact("bbb", "by_group");
}

using ConcurrentIndexBackfillTest = IndexBackfillTest;

TEST_F(ConcurrentIndexBackfillTest, IsExactWhileWritersGoOn) {
  constexpr int keys = 600;
  constexpr int writers = 3;
  create_table("aaa");
  put_many(keys);
  create_index("aaa", "by_group", "group");
  std::atomic<bool> filled = false;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([&, writer] {
      std::mt19937 random(static_cast<unsigned>(writer));
      for (int i = 0; i < 100 || !filled; ++i) {
        const int pk = static_cast<int>(random() % (keys + 100));
        switch (random() % 3) {
          case 0:
            remove("aaa", "key" + std::to_string(pk));
            break;
          case 1:
            put("aaa", item(pk, "w" + std::to_string(random() % 5)));
            break;
          default:
            put("aaa", R"({"pk":{"S":"key)" + std::to_string(pk) + R"("}})");
        }
      }
    });
  while (run_once()) continue;
  filled = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(ready());
  EXPECT_THAT(actual_index_keys("aaa", "by_group"), ::testing::Not(IsEmpty()));
  expect_index_exact("aaa", "by_group");
}

}  // namespace
}  // namespace postino::engine
