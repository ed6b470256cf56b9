#include "engine/upkeep/clock_watch.h"

#include <gmock/gmock.h>

#include "engine/core_tables_testing.h"
#include "engine/upkeep/maintenance.h"

namespace postino::engine {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class ClockWatchTest : public CoreTablesTest {
 protected:
  ClockWatchTest() {
    create_table("aaa");
    enable_time_to_live("aaa", "expires");
  }
  void put_item_for(base::Milliseconds life) {
    put("aaa",
        R"({"pk":{"S":"k"},"expires":{"N":")" + std::to_string(base::epoch_seconds(clock().now() + life)) + R"("}})");
  }
  void run(Maintenance& maintenance) { EXPECT_EQ(outcome_of(maintenance.run_once()), "ok"); }
  bool is_there() { return !get("aaa", "k").empty(); }
};

TEST_F(ClockWatchTest, AClockFortyDaysAheadForAWhileDeletesNothing) {
  put_item_for(hours(24));
  Maintenance maintenance(core());
  run(maintenance);
  clock().set_by(hours(24 * 40));
  run(maintenance);
  clock().advance(minutes(59));
  run(maintenance);
  EXPECT_TRUE(is_there());
  clock().set_by(-hours(24 * 40));
  clock().advance(minutes(2));
  run(maintenance);
  EXPECT_TRUE(is_there());
  clock().advance(hours(24));
  run(maintenance);
  EXPECT_FALSE(is_there()) << "its time has come";
}

TEST_F(ClockWatchTest, AClockThatStaysAheadIsBelievedAfterAnHour) {
  put_item_for(hours(24));
  Maintenance maintenance(core());
  run(maintenance);
  clock().set_by(hours(24 * 40));
  run(maintenance);
  EXPECT_TRUE(is_there());
  clock().advance(hours(1));
  run(maintenance);
  EXPECT_FALSE(is_there());
}

TEST_F(ClockWatchTest, TimeThatHasPassedIsNoGap) {
  put_item_for(hours(24));
  Maintenance maintenance(core());
  run(maintenance);
  clock().advance(hours(24 * 40));
  run(maintenance);
  EXPECT_FALSE(is_there());
}

TEST_F(ClockWatchTest, AStoreThatWasClosedForTwoMonthsWaitsAnHourToo) {
  put_item_for(hours(24));
  {
    Maintenance maintenance(core());
    run(maintenance);
  }
  clock().set_by(hours(24 * 60));
  for (int opening = 0; opening < 2; ++opening) {  // a second start does not take the first one's time for granted
    reopen();
    Maintenance maintenance(core());
    run(maintenance);
    EXPECT_TRUE(is_there()) << opening;
  }
  {
    Maintenance maintenance(core());
    run(maintenance);
    clock().advance(hours(1));
    run(maintenance);
    EXPECT_FALSE(is_there());
  }
  reopen();
  put_item_for(minutes(1));
  clock().advance(hours(2));
  Maintenance later(core());
  run(later);
  EXPECT_FALSE(is_there()) << "a night is no gap";
}

}  // namespace
}  // namespace postino::engine
