#include "engine/upkeep/maintenance.h"

#include <gmock/gmock.h>

#include "engine/core_tables_testing.h"
#include "engine/streams/stream_operations.h"
#include "engine/streams/stream_shards.h"

namespace postino::engine {
namespace {

using store::StreamViewType;

// Only a test that fails waits so long.

class MaintenanceTest : public CoreTablesTest {
 protected:
  std::string expired_item(const std::string& pk) {
    return R"({"pk":{"S":")" + pk + R"("},"expires":{"N":")" + std::to_string(base::epoch_seconds(clock().now())) +
           R"("}})";
  }
};

TEST_F(MaintenanceTest, ARoundAttendsToEverything) {
  create_table("aaa", StreamViewType::keys_only);
  put("aaa", expired_item("k"));
  enable_time_to_live("aaa", "expires");
  clock().advance(shard_life);
  Maintenance maintenance(core());
  const auto more = maintenance.run_once();
  ASSERT_EQ(outcome_of(more), "ok");
  EXPECT_FALSE(*more);
  EXPECT_FALSE(table("aaa")->time_to_live->backfill.has_value());
  EXPECT_EQ(get("aaa", "k"), "");
  EXPECT_EQ(stream_of("aaa")->shards.size(), 2U);
}

TEST_F(MaintenanceTest, GoesOnAfterAnError) {
  create_table("aaa");
  const auto damage = std::make_shared<CommitEntry>();
  damage->put(Family::items, std::string("\0\0\0", 3) + static_cast<char>(table("aaa")->id) + "damaged", "nonsense");
  core().queue->enqueue(damage);
  ASSERT_TRUE(core().queue->wait(damage));
  create_index("aaa", "by_group", "group");
  create_table("bbb");
  enable_time_to_live("bbb", "expires");
  put("bbb", expired_item("k"));
  Maintenance maintenance(core());
  EXPECT_THAT(outcome_of(maintenance.run_once()), ::testing::StartsWith("InternalServerError: "));
  EXPECT_EQ(get("bbb", "k"), "");
}

using ConcurrentMaintenanceTest = MaintenanceTest;

TEST_F(ConcurrentMaintenanceTest, TheThreadWorksAtTheInterval) {
  core().options.maintenance_interval = base::Milliseconds(1);
  create_table("aaa", StreamViewType::keys_only);
  enable_time_to_live("aaa", "expires");
  auto subscription = StreamOperations(core()).subscribe("aaa", std::nullopt);
  Maintenance maintenance(core());
  maintenance.start();
  put("aaa", expired_item("k"));
  std::vector<store::StreamRecord> records;
  while (records.size() < 2) {
    const auto next = (*subscription)->next(10, long_wait);
    ASSERT_EQ(outcome_of(next), "ok");
    ASSERT_FALSE(next->empty());
    records.insert(records.end(), next->begin(), next->end());
  }
  EXPECT_TRUE(records[1].by_time_to_live);
}

TEST_F(ConcurrentMaintenanceTest, TheThreadCanBeWoken) {
  core().options.maintenance_interval = std::chrono::hours(24);
  create_table("aaa", StreamViewType::keys_only);
  enable_time_to_live("aaa", "expires");
  put("aaa", expired_item("first"));
  auto subscription = StreamOperations(core()).subscribe(
      "aaa", store::place_in_sequence(core().stream_arn(*stream_of("aaa")),
                                      shown_number(core().queue->next_sequence_number() - 1)));
  Maintenance maintenance(core());
  maintenance.start();
  ASSERT_EQ((*subscription)->next(1, long_wait)->size(), 1U);  // its first round is over, or as good as
  put("aaa", expired_item("second"));
  core().wake_maintenance();
  EXPECT_EQ((*subscription)->next(1, long_wait)->front().type, store::ChangeType::insert);
  EXPECT_TRUE((*subscription)->next(1, long_wait)->front().by_time_to_live);
  maintenance.stop();
}

}  // namespace
}  // namespace postino::engine
