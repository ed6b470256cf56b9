#include "store/queue_cursor.h"

#include <gtest/gtest.h>

namespace postino::store {
namespace {

using base::Milliseconds;
using std::chrono::hours;
using std::chrono::seconds;

constexpr base::TimePoint start{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z

TEST(QueueCursor, BeginsALittleBeforeWhatWasSeenAndSweepsNowAndThen) {
  using Steady = QueueCursor::Steady;
  QueueCursor cursor;
  Steady::time_point time{seconds(1'000)};
  const base::TimePoint beginning;
  EXPECT_EQ(cursor.start(time), beginning) << "first of all everything";
  cursor.found(beginning, start, time, time + Milliseconds(2));
  EXPECT_EQ(cursor.start(time + Milliseconds(3)), start - Milliseconds(100));
  cursor.found(start - Milliseconds(100), start + seconds(5), time, time);
  EXPECT_EQ(cursor.start(time + Milliseconds(4)), start + seconds(5) - Milliseconds(100));
  cursor.found(start + seconds(5) - Milliseconds(100), start, time, time);
  EXPECT_EQ(cursor.start(time + Milliseconds(4)), start + seconds(5) - Milliseconds(100)) << "never back";
  EXPECT_NE(cursor.start(time + Milliseconds(1'001)), beginning);
  EXPECT_EQ(cursor.start(time + Milliseconds(1'002)), beginning) << "a second after the last sweep ended";
}

TEST(QueueCursor, SweepsTheLessOftenTheLongerTheyTake) {
  using Steady = QueueCursor::Steady;
  QueueCursor cursor;
  const Steady::time_point time{seconds(1'000)};
  cursor.found(base::TimePoint(), start, time, time + Milliseconds(100));
  EXPECT_NE(cursor.start(time + Milliseconds(5'099)), base::TimePoint());
  EXPECT_EQ(cursor.start(time + Milliseconds(5'100)), base::TimePoint());
}

TEST(QueueCursor, ASweepThatSawOnlyThePastBeginsThereAgain) {
  using Steady = QueueCursor::Steady;
  QueueCursor cursor;
  const Steady::time_point time{seconds(1'000)};
  cursor.found(base::TimePoint(), start, time, time);
  cursor.found(base::TimePoint(), start - hours(1), time + seconds(2), time + seconds(2));
  EXPECT_EQ(cursor.start(time + seconds(2)), start - hours(1) - Milliseconds(100)) << "there is more from there on";
}

}  // namespace
}  // namespace postino::store
