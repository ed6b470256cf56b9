// Processes that end at any of their writes, whose writes fail or are in doubt, and two of them at once: every change
// is counted once.
#include "failing_store.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;
using reminders::FailingStore;
using reminders::WriteFault;

constexpr int rounds_of_a_process = 12;

TEST(EndingProcessTest, EveryChangeIsCountedOnce) {
  SupportDesk desk;
  base::SeededRandom random(7);
  int owner = 0;
  for (const WriteFault fault :
       {WriteFault::refused, WriteFault::unknown, WriteFault::ended_before, WriteFault::ended_after})
    for (int number = 1; number <= 6; ++number) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " at write " + std::to_string(number));
      for (int i = 0; i < 150; ++i) change_something(desk.engine(), random, desk.now(), 30);
      FailingStore failing(desk.engine());
      FollowerOptions options = following_at_once("owner" + std::to_string(++owner));
      options.keeper.alone = true;  // the one before has ended
      options.batch = 20;
      {
        CountingProcess process(desk, failing, options);
        failing.fail_at(number, fault);
        for (int i = 0; i < rounds_of_a_process; ++i) (void)process.follower.run_once();
        EXPECT_TRUE(failing.has_failed());
      }
      options.keeper.owner += "_next";
      CountingProcess next(desk, desk.engine(), options);
      next.count_all();
      EXPECT_EQ(next.follower.counts().begun, 0U) << "nothing had to be counted again";
      desk.expect_right();
    }
}

// While all figures are replaced.
TEST(EndingProcessTest, ACountThatEndedIsMadeAgain) {
  for (const WriteFault fault :
       {WriteFault::refused, WriteFault::unknown, WriteFault::ended_before, WriteFault::ended_after})
    for (int number = 1; number <= 9; ++number) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " at write " + std::to_string(number));
      SupportDesk desk;
      for (int i = 0; i < 40; ++i)
        desk.put(ready_ticket("t", desk.now() - 2h, desk.now(), "tenant" + std::to_string(i)));
      FailingStore failing(desk.engine());
      FollowerOptions options = following_at_once("one");
      options.keeper.alone = true;
      {
        CountingProcess process(desk, failing, options);
        failing.fail_at(number, fault);
        for (int i = 0; i < 4; ++i) (void)process.follower.run_once();
      }
      const bool was_hit = failing.has_failed();
      desk.put(ticket_item("u", "NEW", desk.now()));
      options.keeper.owner = "two";
      CountingProcess next(desk, desk.engine(), options);
      next.count_all();
      desk.expect_right();
      if (!was_hit) break;
    }
}

// The other one takes over at the moment before each write.
TEST(EndingProcessTest, WhoHasLostItsTurnCountsNothing) {
  for (int number = 1; number <= 6; ++number) {
    SCOPED_TRACE("before write " + std::to_string(number));
    SupportDesk desk;
    FollowerOptions options = following_at_once("slow");
    options.batch = 10;
    FailingStore slow_store(desk.engine());
    CountingProcess slow(desk, slow_store, options);
    slow.count_all();
    for (int i = 0; i < 50; ++i) desk.put(ticket_item("t" + std::to_string(i), "NEW", desk.now()));
    FollowerOptions quick_options = following_at_once("quick");
    quick_options.keeper.alone = true;  // it does not wait
    CountingProcess quick(desk, desk.engine(), quick_options);
    slow_store.meet_at_write(number, [&] { quick.count_all(); });
    slow.count_all();
    EXPECT_EQ(desk.count("tickets_by_status#NEW"), 50);
    EXPECT_EQ(slow.follower.run_once(), number <= 5 ? Follower::Round::standing_by : Follower::Round::waiting);
    desk.expect_right();
  }
}

TEST(TakingTurnsTest, AnotherTakesOverWhenTheOneIsSilent) {
  SupportDesk desk;
  CountingProcess one(desk, "one"), two(desk, "two");
  one.count_all();
  EXPECT_EQ(two.follower.run_once(), Follower::Round::standing_by);
  desk.put(ticket_item("a", "NEW", desk.now()));
  const base::Milliseconds lease = KeeperOptions().lease;
  desk.time().advance(lease - 1ms);
  EXPECT_EQ(two.follower.run_once(), Follower::Round::standing_by);
  one.count_all();  // it lives
  desk.time().advance(lease - 1ms);
  EXPECT_EQ(two.follower.run_once(), Follower::Round::standing_by);
  desk.time().advance(lease);
  two.count_all();
  EXPECT_TRUE(two.follower.counts().follows);
  desk.put(ticket_item("b", "NEW", desk.now()));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(one.follower.run_once(), Follower::Round::standing_by) << "it has lost its turn";
    EXPECT_EQ(one.follower.problem(), "") << "which is no fault";
  }
  EXPECT_EQ(one.follower.counts().failures, 0U);
  EXPECT_FALSE(one.follower.counts().follows);
  two.count_all();
  EXPECT_EQ(desk.count("tickets_by_status#NEW"), 2);
}

TEST(TakingTurnsTest, AnIdleOneKeepsItsTurn) {
  SupportDesk desk;
  CountingProcess one(desk, "one"), two(desk, "two");
  one.count_all();
  for (int i = 0; i < 20; ++i) {
    desk.time().advance(KeeperOptions().lease / 2);
    EXPECT_EQ(one.follower.run_once(), Follower::Round::waiting);
    EXPECT_EQ(two.follower.run_once(), Follower::Round::standing_by);
  }
}

// A clock that an operator has set is no reason to take over, or not to.
TEST(TakingTurnsTest, ClocksMayDiffer) {
  SupportDesk desk;
  CountingProcess one(desk, "one"), two(desk, "two");
  one.count_all();
  EXPECT_EQ(two.follower.run_once(), Follower::Round::standing_by);
  desk.time().set_by(std::chrono::hours(5));
  EXPECT_EQ(two.follower.run_once(), Follower::Round::standing_by);
  desk.time().set_by(-std::chrono::hours(10));
  desk.time().advance(KeeperOptions().lease);
  EXPECT_EQ(two.follower.run_once(), Follower::Round::waiting);
}

}  // namespace
}  // namespace postino::metrics
