#include "outbox/work/fair_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace postino::outbox {
namespace {

using base::Milliseconds;

// A worker that goes where it is sent. Something waits everywhere.
std::string go(FairTurns& turns, Milliseconds took) {
  const DestinationNames lane = *turns.order().begin()->lane;
  const Milliseconds thought = turns.begin(lane, true);
  turns.finish(lane, thought, took);
  return lane.front();
}

TEST(FairTurns, ThoseWhoTakeAsLongHaveAsManyTurns) {
  FairTurns turns;
  for (const char* lane : {"b", "c", "a"}) turns.wait({lane});
  turns.wait({"b"});
  std::vector<std::string> order;
  for (int i = 0; i < 6; ++i) order.push_back(go(turns, Milliseconds(0)));
  EXPECT_THAT(order, testing::ElementsAre("b", "c", "a", "b", "c", "a"));
}

TEST(FairTurns, AQuickOneIsNotKeptWaitingByManySlowOnes) {
  FairTurns turns;
  for (int i = 0; i < 20; ++i) turns.wait({"slow" + std::to_string(i)});
  for (int i = 0; i < 60; ++i) go(turns, Milliseconds(5'000));
  turns.wait({"fast"});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(go(turns, Milliseconds(2)), "fast");
}

TEST(FairTurns, ASlowOneKeepsItsShareOfTheTime) {
  FairTurns turns;
  turns.wait({"slow"});
  turns.wait({"fast"});
  int slow = 0;
  for (int i = 0; i < 1'010; ++i) {
    const bool is_slow = turns.order().begin()->lane->front() == "slow";
    go(turns, Milliseconds(is_slow ? 1'000 : 10));
    slow += is_slow ? 1 : 0;
  }
  EXPECT_NEAR(slow, 10, 2) << "a hundred quick ones take as long as a slow one";
}

TEST(FairTurns, WhoDidNotWaitHasSavedNothingUp) {
  FairTurns turns;
  turns.wait({"a"});
  turns.wait({"b"});
  for (int i = 0; i < 100; ++i) {  // "a" may not begin
    const Milliseconds thought = turns.begin({"b"}, true);
    turns.finish({"b"}, thought, Milliseconds(100));
  }
  EXPECT_EQ(go(turns, Milliseconds(100)), "a");
  EXPECT_EQ(go(turns, Milliseconds(100)), "b") << "they take turns from here on";
}

TEST(FairTurns, OneVeryLongAnswerIsForgottenSoon) {
  FairTurns turns;
  turns.wait({"a"});
  turns.wait({"b"});
  EXPECT_EQ(go(turns, std::chrono::hours(1)), "a");
  int waited = 0;
  while (go(turns, Milliseconds(100)) == "b") ++waited;
  EXPECT_LE(waited, 101) << "ten seconds";
}

TEST(FairTurns, ALaneWithoutEmailsIsForgotten) {
  FairTurns turns;
  turns.wait({"a"});
  const Milliseconds thought = turns.begin({"a"}, false);
  EXPECT_TRUE(turns.order().empty());
  turns.wait({"a"});
  EXPECT_EQ(turns.order().size(), 1U);
  turns.clear();
  turns.finish({"a"}, thought, Milliseconds(5));
  EXPECT_TRUE(turns.order().empty());
}

}  // namespace
}  // namespace postino::outbox
