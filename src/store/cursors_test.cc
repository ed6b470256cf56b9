// Places in lists that callers hand back, and in queues of work.
#include <gtest/gtest.h>

#include "base/text.h"
#include "store/list_cursor.h"
#include "store/queue_cursor.h"

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

TEST(ListCursor, IsReadBackAndNothingElseIs) {
  for (const std::string& position : {std::string("x"), std::string("2026-11-15T09:30:00.250Z#id"),
                                      std::string("\0\xFF\x80", 3), std::string(1'000, 'p')})
    EXPECT_EQ(read_cursor("emails", make_cursor("emails", position)).value_or("-"), position);
  const std::string cursor = make_cursor("emails", "position");
  std::vector<std::string> wrong = {"",
                                    "x",
                                    "00000000",
                                    cursor.substr(1),
                                    cursor + "00",
                                    cursor.substr(0, cursor.size() - 2),
                                    cursor + "g",
                                    base::upper_case(cursor),
                                    std::string(cursor.size(), 'g')};
  std::string changed = cursor;
  changed.back() = changed.back() == '0' ? '1' : '0';
  wrong.push_back(changed);
  wrong.push_back(make_cursor("suppressions", "position"));  // of another list
  for (const std::string& text : wrong) {
    const auto read = read_cursor("emails", text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message, "cursor must be that of an earlier page");
  }
}

TEST(ListCursor, OfOneTenantIsNoneOfAnother) {
  const std::string cursor = make_cursor("emails", "5");
  const std::string of_north = tenant_cursor("north", cursor);
  EXPECT_EQ(read_tenant_cursor("north", of_north).value(), cursor);
  for (const std::string other : {"south", "nort"}) EXPECT_FALSE(read_tenant_cursor(other, of_north)) << other;
  EXPECT_FALSE(read_tenant_cursor("north", cursor)) << "of all";
  EXPECT_FALSE(read_cursor("emails", of_north)) << "and the other way round";
  EXPECT_EQ(tenant_cursor("", cursor), cursor);
  EXPECT_EQ(read_tenant_cursor("", cursor).value(), cursor);
  EXPECT_EQ(tenant_cursor("north", ""), "");
  EXPECT_EQ(read_tenant_cursor("north", "").value(), "");
}

}  // namespace
}  // namespace postino::store
