#include "outbox/work/destinations.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace postino::outbox {
namespace {

using base::Milliseconds;
using std::chrono::seconds;

constexpr base::TimePoint first_turn{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z

const DestinationNames at_a = {"a.example"};
const DestinationNames at_b = {"b.example"};
const DestinationNames at_both = {"a.example", "b.example"};

// How many of them can be begun one after the other.
int count_begun(Destinations& destinations, const DestinationNames& names, base::TimePoint now = first_turn) {
  int count = 0;
  for (; count < 1'000 && destinations.begin(names, now); ++count) destinations.claimed(names);
  return count;
}

// How many are wanted, one after the other.
int count_claimed(Destinations& destinations, const DestinationNames& names, base::TimePoint now = first_turn) {
  int count = 0;
  for (; count < 100'000 && !destinations.obstacle(names, now); ++count) destinations.claimed(names);
  return count;
}

// One after the other is done, each in its time.
void do_some(Destinations& destinations, const DestinationNames& names, int count, Milliseconds took) {
  for (int i = 0; i < count; ++i) {
    destinations.claimed(names);
    ASSERT_TRUE(destinations.begin(names, first_turn));
    destinations.finished(names, first_turn, took);
  }
}

DestinationNames slow_one(int number) { return {"slow" + std::to_string(number)}; }

TEST(Destinations, NoneTakesAllWorkers) {
  for (const int workers : {2, 3, 4, 8, 16, 100}) {
    Destinations destinations({}, workers, 25);
    const int most = count_begun(destinations, at_a);
    EXPECT_EQ(most, workers * 3 / 4) << workers;
    EXPECT_GE(count_begun(destinations, at_b), 1) << "there is a worker for another one";
  }
  Destinations alone({}, 1, 25);
  EXPECT_TRUE(alone.begin(at_a, first_turn)) << "who has only one worker gives it to anyone";
}

TEST(Destinations, TheMoreThereAreTheLessEachMayHave) {
  Destinations destinations({}, 16, 25);
  for (const DestinationNames& names : {DestinationNames{"1"}, {"2"}, {"3"}, {"4"}, at_a})
    do_some(destinations, names, 1, Milliseconds(1));
  EXPECT_EQ(count_begun(destinations, {"1"}), 12);
  EXPECT_TRUE(destinations.begin({"2"}, first_turn));
  EXPECT_TRUE(destinations.begin({"2"}, first_turn));
  EXPECT_TRUE(destinations.begin({"3"}, first_turn));
  EXPECT_FALSE(destinations.begin({"2"}, first_turn)) << "the last worker is for another one";
  EXPECT_TRUE(destinations.begin({"4"}, first_turn));
  destinations.finished({"1"}, first_turn, Milliseconds(0));
  EXPECT_FALSE(destinations.begin({"1"}, first_turn)) << "it has more than its share by now";
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
}

TEST(Destinations, WithoutANameAnEmailHasAllWorkersToItself) {
  Destinations destinations({.concurrency = 1}, 4, 25);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(destinations.begin({}, first_turn));
}

TEST(Destinations, SoManyAtATimeForEach) {
  Destinations destinations({.concurrency = 2}, 16, 25);
  EXPECT_EQ(count_begun(destinations, at_a), 2);
  EXPECT_EQ(count_begun(destinations, at_b), 2) << "others do not wait for it";
  destinations.finished(at_a, first_turn, Milliseconds(0));
  EXPECT_TRUE(destinations.may_begin(at_a, first_turn));
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
  EXPECT_FALSE(destinations.may_begin(at_a, first_turn));
}

TEST(Destinations, AnEmailCountsForEachOfItsDestinations) {
  Destinations destinations({.concurrency = 1}, 16, 25);
  destinations.claimed(at_b);
  destinations.claimed(at_both);
  EXPECT_TRUE(destinations.begin(at_b, first_turn));
  EXPECT_FALSE(destinations.begin(at_both, first_turn)) << "the second one is busy";
  destinations.finished(at_b, first_turn, Milliseconds(0));
  EXPECT_TRUE(destinations.begin(at_both, first_turn));
  EXPECT_FALSE(destinations.begin(at_a, first_turn));
  EXPECT_FALSE(destinations.begin(at_b, first_turn));
}

TEST(Destinations, WhatIsPutOffKeepsItsPlaceAndNoWorker) {
  Destinations destinations({.concurrency = 1}, 2, 25);
  destinations.claimed(at_a);
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
  destinations.put_off(at_a);
  EXPECT_FALSE(destinations.begin(at_a, first_turn));
  EXPECT_TRUE(destinations.begin(at_b, first_turn));
  destinations.resume(at_a, first_turn);
  destinations.finished(at_a, first_turn, Milliseconds(0));
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
}

TEST(Destinations, SoManyASecond) {
  Destinations destinations({.rate = 2}, 16, 25);
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
  EXPECT_FALSE(destinations.begin(at_a, first_turn));
  EXPECT_EQ(destinations.turn_of(at_a, first_turn), first_turn + Milliseconds(500));
  EXPECT_EQ(destinations.turn_of(at_b, first_turn), std::nullopt);
  EXPECT_TRUE(destinations.begin(at_b, first_turn));
  EXPECT_FALSE(destinations.begin(at_a, first_turn + Milliseconds(499)));
  EXPECT_TRUE(destinations.begin(at_a, first_turn + Milliseconds(500)));
  EXPECT_TRUE(destinations.begin(at_a, first_turn + seconds(10))) << "what is not used is not saved up";
  EXPECT_EQ(destinations.turn_of(at_a, first_turn + seconds(10)), first_turn + Milliseconds(10'500));
}

TEST(Destinations, HighRatesAreKeptToo) {
  for (const int rate : {300, 700, 3'000}) {
    Destinations destinations({.rate = static_cast<double>(rate)}, 1'000'000, 25);
    int begun = 0;
    for (base::TimePoint now = first_turn; now < first_turn + seconds(1); now += Milliseconds(7))
      while (destinations.begin(at_a, now)) ++begun;
    EXPECT_NEAR(begun, rate, rate / 50 + 3);
  }
}

TEST(Destinations, APauseIsForOneAlone) {
  Destinations destinations({}, 16, 25);
  destinations.pause("a.example", first_turn + seconds(60));
  destinations.pause("a.example", first_turn + seconds(5));
  EXPECT_FALSE(destinations.begin(at_a, first_turn + seconds(59)));
  const auto obstacle = destinations.obstacle(at_both, first_turn);
  ASSERT_TRUE(obstacle) << "nothing is claimed for it";
  EXPECT_FALSE(destinations.is_gone(*obstacle, first_turn + seconds(59)));
  EXPECT_EQ(destinations.turn_of(at_a, first_turn), first_turn + seconds(60));
  EXPECT_TRUE(destinations.begin(at_b, first_turn));
  EXPECT_TRUE(destinations.begin(at_a, first_turn + seconds(60)));
  EXPECT_TRUE(destinations.is_gone(*obstacle, first_turn + seconds(60)));
}

TEST(Destinations, ClaimsAreForAWhileAndComeInBatches) {
  Destinations destinations({.concurrency = 4}, 16, 25);
  EXPECT_EQ(count_claimed(destinations, at_a), 16);
  EXPECT_TRUE(destinations.has_closed());
  for (int i = 0; i < 7; ++i) destinations.given_up(at_a);
  EXPECT_FALSE(destinations.is_gone("a.example", first_turn));
  EXPECT_FALSE(destinations.take_reopened());
  destinations.given_up(at_a);
  EXPECT_TRUE(destinations.take_reopened());
  EXPECT_FALSE(destinations.take_reopened()) << "that was told";
  EXPECT_FALSE(destinations.has_closed());
  EXPECT_EQ(count_claimed(destinations, at_a), 8);
}

TEST(Destinations, WhatIsForSeveralTakesNoRoomFromWhatIsForOne) {
  Destinations destinations({}, 16, 25);
  const int alone = count_claimed(destinations, at_a);
  EXPECT_EQ(destinations.obstacle(at_a, first_turn), "a.example");
  EXPECT_EQ(count_claimed(destinations, at_both), alone) << "they need not wait for both to have room";
  EXPECT_EQ(count_claimed(destinations, at_b), alone);
}

TEST(Destinations, NoneIsInTheWayOfAllThroughThoseThatAreForOthersToo) {
  Destinations destinations({}, 16, 25);
  int claimed = 0;
  std::optional<std::string> obstacle;
  for (; claimed < 1'000; ++claimed) {
    const DestinationNames names = {"a.example", "b" + std::to_string(claimed)};
    obstacle = destinations.obstacle(names, first_turn);
    if (obstacle) break;
    destinations.claimed(names);
  }
  ASSERT_EQ(obstacle, "@a.example");
  EXPECT_LT(claimed, destinations.most_claimed() / 2);
  EXPECT_FALSE(destinations.is_gone(*obstacle, first_turn));
  destinations.given_up({"a.example", "b0"});
  EXPECT_TRUE(destinations.take_reopened());
  EXPECT_TRUE(destinations.is_gone(*obstacle, first_turn));
}

TEST(Destinations, ManyThatHaveEnoughLeaveRoomForTheNext) {
  Destinations destinations({}, 16, 25);
  int claimed = 0;
  for (int i = 0; i < 50; ++i) {
    const int count = count_claimed(destinations, {std::to_string(i)});
    EXPECT_TRUE(i >= 16 || count >= 1) << i;  // for as many as there are workers
    claimed += count;
  }
  EXPECT_LE(claimed, destinations.most_claimed());
}

TEST(Destinations, WhenAllIsTakenTheNextIsWantedAsSoonAsThereIsRoom) {
  Destinations destinations({}, 1, 1);
  int count = 0;
  while (!destinations.obstacle({std::to_string(count)}, first_turn)) destinations.claimed({std::to_string(count++)});
  EXPECT_EQ(count, destinations.most_claimed());
  EXPECT_FALSE(destinations.take_reopened());
  destinations.given_up({"0"});
  EXPECT_TRUE(destinations.take_reopened());
  EXPECT_EQ(destinations.obstacle(at_a, first_turn), std::nullopt);
}

TEST(Destinations, WhoHasBookedHasTheNextTurn) {
  Destinations destinations({.concurrency = 1}, 16, 25);
  for (const DestinationNames& names : {at_a, at_b, at_both}) destinations.claimed(names);
  ASSERT_TRUE(destinations.begin(at_a, first_turn));
  ASSERT_TRUE(destinations.begin(at_b, first_turn));
  destinations.book(at_both, first_turn);
  destinations.finished(at_a, first_turn, Milliseconds(0));
  EXPECT_FALSE(destinations.begin(at_a, first_turn)) << "it is kept free";
  EXPECT_TRUE(destinations.begin({"c.example"}, first_turn));
  destinations.finished(at_b, first_turn, Milliseconds(0));
  EXPECT_TRUE(destinations.begin(at_both, first_turn));
  destinations.finished(at_both, first_turn, Milliseconds(0));
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
}

TEST(Destinations, ForAPauseNobodyBooks) {
  Destinations destinations({}, 16, 25);
  destinations.book(at_both, first_turn);
  destinations.pause("b.example", first_turn + seconds(60));
  EXPECT_TRUE(destinations.begin(at_a, first_turn)) << "it does not wait for the pause of another one";
  destinations.book(at_both, first_turn);
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
}

TEST(Destinations, ManySlowOnesLeaveWorkersToOthers) {
  for (const auto& [workers, kept] : {std::pair(2, 1), std::pair(8, 2), std::pair(16, 4), std::pair(64, 16)}) {
    Destinations destinations({}, workers, 25);
    for (int i = 0; i < 100; ++i) do_some(destinations, slow_one(i), 1, Milliseconds(1'000));
    int begun = 0;
    for (int i = 0; i < 100; ++i) begun += destinations.begin(slow_one(i), first_turn) ? 1 : 0;
    EXPECT_EQ(begun, workers - kept) << workers;
    EXPECT_FALSE(destinations.may_begin(slow_one(99), first_turn));
    EXPECT_TRUE(destinations.begin(at_a, first_turn)) << "it is not known to be slow";
  }
  Destinations alone({}, 1, 25);
  do_some(alone, at_a, 1, Milliseconds(5'000));
  EXPECT_TRUE(alone.begin(at_a, first_turn)) << "who has only one worker gives it to anyone";
}

TEST(Destinations, ThoseThatHaveNeverAnsweredLeaveWorkersToThoseThatHave) {
  for (const auto& [workers, kept] : {std::pair(2, 0), std::pair(8, 1), std::pair(16, 2), std::pair(64, 8)}) {
    Destinations destinations({}, workers, 25);
    do_some(destinations, at_a, 1, Milliseconds(999));
    int begun = 0;
    for (int i = 0; i < 100; ++i) begun += destinations.begin({"new" + std::to_string(i)}, first_turn) ? 1 : 0;
    EXPECT_EQ(begun, workers - kept) << workers;
    EXPECT_EQ(destinations.begin(at_b, first_turn + seconds(1)), false) << "it is as new as they are";
    EXPECT_EQ(destinations.begin(at_both, first_turn + seconds(1)), false) << "as little known as one of both";
    EXPECT_TRUE(destinations.begin(at_a, first_turn + seconds(1))) << workers;
    destinations.claimed({"new0"});
    destinations.finished({"new0"}, first_turn, Milliseconds(10));
    EXPECT_TRUE(destinations.begin({"new0"}, first_turn + seconds(1))) << "it has answered";
  }
}

TEST(Destinations, NewOnesHaveWorkersThatSlowOnesHaveNot) {
  Destinations destinations({}, 16, 25);
  for (int i = 0; i < 20; ++i) do_some(destinations, slow_one(i), 1, seconds(5));
  for (int i = 0; i < 20; ++i) destinations.begin(slow_one(i), first_turn);
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
  EXPECT_TRUE(destinations.begin(at_b, first_turn));
  EXPECT_FALSE(destinations.begin({"c.example"}, first_turn));
}

TEST(Destinations, WhoAnswersNoLongerMustShowItAgain) {
  Destinations destinations({}, 8, 25);
  do_some(destinations, at_a, 1, Milliseconds(10));
  do_some(destinations, at_b, 1, Milliseconds(10));
  do_some(destinations, at_both, 1, seconds(5));
  for (int i = 0; i < 100; ++i) destinations.begin({"new" + std::to_string(i)}, first_turn);
  EXPECT_FALSE(destinations.begin(at_a, first_turn));
  EXPECT_FALSE(destinations.begin(at_b, first_turn));
}

TEST(Destinations, ThoseThatHaveNeverAnsweredLeaveRoomForClaims) {
  Destinations destinations({}, 16, 25);
  do_some(destinations, at_a, 1, Milliseconds(10));
  std::optional<std::string> obstacle;
  int claimed = 0;
  for (; claimed < 10'000; ++claimed) {
    const DestinationNames names = {"new" + std::to_string(claimed)};
    obstacle = destinations.obstacle(names, first_turn);
    if (obstacle) break;
    destinations.claimed(names);
  }
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(claimed, destinations.most_claimed() * 7 / 8);
  EXPECT_TRUE(destinations.has_closed());
  EXPECT_FALSE(destinations.is_gone(*obstacle, first_turn));
  EXPECT_GE(count_claimed(destinations, at_a), 16) << "for each worker one";
  for (int i = 0; i < 8; ++i) destinations.given_up({"new" + std::to_string(i)});
  EXPECT_TRUE(destinations.take_reopened());
  EXPECT_TRUE(destinations.is_gone(*obstacle, first_turn));
}

TEST(Destinations, WhoDoesNotAnswerForLongIsSlowBeforeItDoes) {
  Destinations destinations({}, 16, 25);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(destinations.begin(slow_one(i), first_turn));
  for (int i = 0; i < 10; ++i) destinations.begin(slow_one(i), first_turn + seconds(1));
  EXPECT_FALSE(destinations.begin(slow_one(0), first_turn + seconds(1)));
  EXPECT_TRUE(destinations.begin(at_a, first_turn + seconds(1)));
  EXPECT_TRUE(destinations.begin(at_b, first_turn + seconds(1)));
}

TEST(Destinations, AFewQuickAnswersAndItIsNotSlowAnyMore) {
  Destinations destinations({}, 2, 25);
  do_some(destinations, at_a, 10, std::chrono::hours(1));
  do_some(destinations, at_b, 1, seconds(1));
  ASSERT_TRUE(destinations.begin(at_b, first_turn));
  EXPECT_FALSE(destinations.begin(at_a, first_turn));
  destinations.claimed(at_b);
  destinations.finished(at_b, first_turn, seconds(1));
  do_some(destinations, at_a, 3, Milliseconds(10));
  ASSERT_TRUE(destinations.begin(at_b, first_turn));
  EXPECT_TRUE(destinations.begin(at_a, first_turn));
}

TEST(Destinations, WhatIsPutOffCountsAsNoWorkerOfASlowOne) {
  Destinations destinations({}, 2, 25);
  do_some(destinations, at_a, 1, seconds(5));
  do_some(destinations, at_b, 1, seconds(5));
  ASSERT_TRUE(destinations.begin(at_a, first_turn));
  ASSERT_FALSE(destinations.begin(at_b, first_turn));
  destinations.put_off(at_a);
  EXPECT_TRUE(destinations.begin(at_b, first_turn));
}

TEST(Destinations, WhatIsHeldBackForBeingSlowKeepsNobodyWaiting) {
  for (const bool is_booked_first : {true, false}) {
    Destinations destinations({}, 3, 25);
    do_some(destinations, at_both, 1, seconds(5));
    do_some(destinations, slow_one(0), 1, seconds(5));
    do_some(destinations, slow_one(1), 1, seconds(5));
    if (is_booked_first) destinations.book(at_both, first_turn);
    ASSERT_TRUE(destinations.begin(slow_one(0), first_turn));
    ASSERT_TRUE(destinations.begin(slow_one(1), first_turn));
    if (!is_booked_first) destinations.book(at_both, first_turn);
    ASSERT_FALSE(destinations.may_begin(at_both, first_turn));
    EXPECT_TRUE(destinations.begin(at_b, first_turn)) << is_booked_first;
  }
}

TEST(Destinations, SlowOnesTakeNoMoreThanHalfOfTheRoomForClaims) {
  Destinations destinations({}, 16, 25);
  for (int i = 0; i < 1'000; ++i) do_some(destinations, slow_one(i), 1, seconds(5));
  int claimed = 0;
  for (int i = 0; i < 1'000; ++i) {
    if (destinations.obstacle(slow_one(i), first_turn)) continue;
    destinations.claimed(slow_one(i));
    ++claimed;
  }
  EXPECT_EQ(claimed, destinations.most_claimed() / 2);
  EXPECT_TRUE(destinations.has_closed());
  const auto obstacle = destinations.obstacle(slow_one(999), first_turn);
  ASSERT_TRUE(obstacle);
  EXPECT_FALSE(destinations.is_gone(*obstacle, first_turn));
  EXPECT_GE(count_claimed(destinations, at_a), 25);
  for (int i = 0; i < 7; ++i) destinations.given_up(slow_one(i));
  EXPECT_FALSE(destinations.take_reopened());
  destinations.given_up(slow_one(7));
  EXPECT_TRUE(destinations.take_reopened());
  EXPECT_TRUE(destinations.is_gone(*obstacle, first_turn));
}

TEST(Destinations, ANewcomerIsWantedWhileOthersHaveEnough) {
  Destinations destinations({}, 16, 25);
  for (int i = 0; i < 24; ++i) destinations.claimed(at_a);
  const auto newcomers = Destinations::Wanted::newcomers;
  EXPECT_FALSE(destinations.obstacle(at_a, first_turn));
  const auto obstacle = destinations.obstacle(at_a, first_turn, newcomers);
  ASSERT_TRUE(obstacle);
  EXPECT_FALSE(destinations.is_gone(*obstacle, first_turn, newcomers));
  EXPECT_TRUE(destinations.is_gone(*obstacle, first_turn));
  EXPECT_FALSE(destinations.obstacle(at_b, first_turn, newcomers));
  destinations.given_up(at_a);
  EXPECT_TRUE(destinations.is_gone(*obstacle, first_turn, newcomers));
}

}  // namespace
}  // namespace postino::outbox
