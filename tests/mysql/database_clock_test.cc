// The database's clock on machines whose own clocks are wrong.
#include "mysql/database_clock.h"

#include <gtest/gtest.h>

#include "mariadb_server.h"

namespace postino::mysql {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// An hour passes between two looks at it, until it is told to stand still.
class HurryingClock final : public base::Clock {
 public:
  base::TimePoint now() const override { return base::SystemClock().now(); }
  base::Milliseconds monotonic() const override {
    if (!stands_still_) passed_ += hours(1);
    return passed_;
  }
  void stand_still() { stands_still_ = true; }

 private:
  mutable base::Milliseconds passed_{0};
  bool stands_still_ = false;
};

class DatabaseClockTest : public testing::Test {
 protected:
  const std::unique_ptr<Connection> connection_ = *Connection::open(MariadbServer::shared().new_database());
};

TEST_F(DatabaseClockTest, AllMachinesHaveTheTimeOfTheDatabase) {
  const base::TimePoint before = base::SystemClock().now();
  base::ManualClock early(before - minutes(1));
  base::ManualClock late(before + seconds(20));
  DatabaseClock first(early);
  DatabaseClock second(late);
  EXPECT_EQ(first.now(), early.now()) << "it was not asked yet";
  ASSERT_TRUE(first.measure(*connection_));
  ASSERT_TRUE(second.measure(*connection_));
  const base::TimePoint after = base::SystemClock().now();
  for (const DatabaseClock* clock : {&first, &second}) {
    EXPECT_GE(clock->now(), before - base::Milliseconds(1));
    EXPECT_LE(clock->now(), after + base::Milliseconds(1));
  }
  EXPECT_LE(first.skew(), early.now() - before);
  EXPECT_GT(first.skew(), early.now() - after - seconds(1));
  EXPECT_GT(second.skew(), base::Milliseconds(0));
}

TEST_F(DatabaseClockTest, IsNotAheadHoweverLongTheAnswerTook) {
  HurryingClock own;
  DatabaseClock clock(own);
  const base::TimePoint before = base::SystemClock().now();
  ASSERT_TRUE(clock.measure(*connection_));
  own.stand_still();
  EXPECT_LE(clock.now(), base::SystemClock().now());
  EXPECT_GE(clock.now(), before - base::Milliseconds(1));
}

TEST_F(DatabaseClockTest, GoesOnWithTheTimeThatPassesWhateverTheMachineSays) {
  base::ManualClock own(base::SystemClock().now());
  DatabaseClock clock(own);
  ASSERT_TRUE(clock.measure(*connection_));
  const base::TimePoint asked = clock.now();
  own.set_by(hours(24 * 40));
  EXPECT_EQ(clock.now(), asked);
  own.advance(seconds(8));
  EXPECT_EQ(clock.now(), asked + seconds(8));
}

}  // namespace
}  // namespace postino::mysql
