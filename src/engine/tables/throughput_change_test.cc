#include "engine/tables/throughput_change.h"

#include "engine/catalog/core_testing.h"

namespace postino::engine {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

store::ThroughputDescription provisioned_units(std::int64_t read, std::int64_t write) {
  store::ThroughputDescription throughput;
  throughput.provisioned = {read, write};
  return throughput;
}

TEST(ThroughputChange, EqualValuesAreRefused) {
  store::ThroughputDescription throughput = provisioned_units(1, 1);
  EXPECT_EQ(change_provisioned(throughput, {1, 1}, "", test_start).error().message,
            "The provisioned throughput for the table will not change. The requested value equals the current value. "
            "Current ReadCapacityUnits provisioned for the table: 1. Requested ReadCapacityUnits: 1. Current "
            "WriteCapacityUnits provisioned for the table: 1. Requested WriteCapacityUnits: 1. Refer to the Amazon "
            "DynamoDB Developer Guide for current limits and how to request higher limits.");
  EXPECT_TRUE(
      change_provisioned(throughput, {1, 1}, "by-a", test_start)
          .error()
          .message.starts_with("The provisioned throughput for the index by-a will not change. The requested "
                               "value equals the current value. Current ReadCapacityUnits provisioned for index "
                               "by-a: 1. Requested ReadCapacityUnits: 1. "));
}

TEST(ThroughputChange, BookkeepingOfIncreasesAndDecreases) {
  store::ThroughputDescription throughput = provisioned_units(2, 2);
  ASSERT_TRUE(change_provisioned(throughput, {3, 2}, "", test_start));
  EXPECT_EQ(throughput.last_increase, test_start);
  EXPECT_FALSE(throughput.last_decrease);
  EXPECT_EQ(decreases_today(throughput, test_start), 0);
  // Up in one and down in the other is one decrease and one increase.
  const base::TimePoint later = test_start + minutes(1);
  ASSERT_TRUE(change_provisioned(throughput, {1, 9}, "", later));
  EXPECT_EQ(throughput.last_increase, later);
  EXPECT_EQ(throughput.last_decrease, later);
  EXPECT_EQ(decreases_today(throughput, later), 1);
  EXPECT_EQ(throughput.provisioned, (store::Throughput{1, 9}));
}

TEST(ThroughputChange, FourDecreasesADayThenOneAnHour) {
  store::ThroughputDescription throughput = provisioned_units(10, 10);
  for (int read = 9; read >= 6; --read) ASSERT_TRUE(change_provisioned(throughput, {read, 10}, "", test_start));
  const store::Error refused = change_provisioned(throughput, {5, 10}, "", test_start + minutes(59)).error();
  EXPECT_EQ(refused.type, store::ErrorType::limit_exceeded);
  EXPECT_EQ(refused.message,
            "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After the "
            "first 4 decreases, each subsequent decrease in the same UTC day can be performed at most once every 3600 "
            "seconds. Number of decreases today: 4. Last decrease at Friday, January 2, 2026 at 3:04:05 AM Coordinated "
            "Universal Time. Next decrease can be made at Friday, January 2, 2026 at 4:04:05 AM Coordinated Universal "
            "Time");
  EXPECT_EQ(throughput.provisioned.read_units, 6);
  EXPECT_TRUE(change_provisioned(throughput, {20, 10}, "", test_start + minutes(59)));
  EXPECT_TRUE(change_provisioned(throughput, {5, 10}, "", test_start + hours(1)));
  EXPECT_EQ(decreases_today(throughput, test_start + hours(1)), 5);
  EXPECT_FALSE(change_provisioned(throughput, {4, 10}, "", test_start + hours(1) + minutes(59)));
}

TEST(ThroughputChange, TheDayEndsAtMidnightUtc) {
  store::ThroughputDescription throughput = provisioned_units(10, 10);
  const base::TimePoint evening = test_start + hours(20) + minutes(30);  // 23:34:05
  for (int read = 9; read >= 6; --read) ASSERT_TRUE(change_provisioned(throughput, {read, 10}, "", evening));
  EXPECT_TRUE(change_provisioned(throughput, {5, 10}, "", evening + minutes(1))
                  .error()
                  .message.ends_with("Last decrease at Friday, January 2, 2026 at 11:34:05 PM Coordinated Universal "
                                     "Time. Next decrease can be made at Saturday, January 3, 2026 at 12:00:00 AM "
                                     "Coordinated Universal Time"));
  const base::TimePoint next_day = evening + minutes(30);
  EXPECT_EQ(decreases_today(throughput, next_day), 0);
  EXPECT_TRUE(change_provisioned(throughput, {5, 10}, "", next_day));
  EXPECT_EQ(decreases_today(throughput, next_day), 1);
}

TEST(ThroughputChange, CeilingsAreMergedAndCleared) {
  std::optional<store::OnDemandThroughput> ceilings;
  change_on_demand(ceilings, {10, {}});
  EXPECT_EQ(ceilings, (store::OnDemandThroughput{10, {}}));
  change_on_demand(ceilings, {{}, 20});
  EXPECT_EQ(ceilings, (store::OnDemandThroughput{10, 20}));
  change_on_demand(ceilings, {-1, {}});
  EXPECT_EQ(ceilings, (store::OnDemandThroughput{{}, 20}));
  change_on_demand(ceilings, {{}, -1});
  EXPECT_FALSE(ceilings);
}

}  // namespace
}  // namespace postino::engine
