#include "outbox/work/rescuer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "outbox/ledger/memory_ledger_testing.h"
#include "outbox/work/worker_testing.h"

namespace postino::outbox {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class RescuerTest : public testing::Test {
 protected:
  // Looks once a second for so long.
  void look_for(base::Milliseconds time) {
    for (base::Milliseconds passed{0}; passed < time; passed += seconds(1)) {
      clock_.advance(seconds(1));
      EXPECT_FALSE(rescuer_.run_once());
    }
  }
  Email put_processing(const std::string& id) { return ledger_.put(processing(id, policy_, clock_.now())); }

  Policy policy_;
  base::ManualClock clock_{test_start};
  MemoryLedger ledger_{policy_, clock_};
  Leases leases_{ledger_, policy_, clock_};
  std::vector<std::string> rescued_;
  Rescuer rescuer_{
      ledger_,       policy_,    clock_,  [this](const Email& before, const Email&) { rescued_.push_back(before.id); },
      policy_.lease, seconds(1), &leases_};
};

TEST_F(RescuerTest, WhatThisProcessHasIsNotRescuedByIt) {
  const Email held = put_processing("1");
  put_processing("2");
  leases_.hold(held);
  look_for(policy_.lease + seconds(1));
  EXPECT_THAT(rescued_, ElementsAre("2"));
  EXPECT_FALSE(leases_.holds(held)) << "its lease has ended all the same";
  leases_.drop(held);
  look_for(seconds(1));
  EXPECT_THAT(rescued_, ElementsAre("2", "1"));
}

TEST_F(RescuerTest, RefusedWritesAreAnOutageThoughReadsWork) {
  put_processing("1");
  look_for(seconds(20));
  ledger_.refuse_writes(true);
  look_for(seconds(25));
  EXPECT_THAT(rescued_, IsEmpty());
  ledger_.refuse_writes(false);
  look_for(policy_.lease);
  EXPECT_THAT(rescued_, IsEmpty()) << "whoever lives has a whole lease to renew it";
  look_for(seconds(2));
  EXPECT_THAT(rescued_, ElementsAre("1"));
}

TEST_F(RescuerTest, AnOutageThatOnlyTheHoldersOfLeasesHaveMetIsOne) {
  const Email held = put_processing("1");
  put_processing("2");
  leases_.hold(held);
  clock_.advance(seconds(11));
  ledger_.refuse_writes(true);
  leases_.renew_once();
  EXPECT_TRUE(leases_.health().is_refusing());
  ledger_.refuse_writes(false);
  look_for(policy_.lease);
  EXPECT_THAT(rescued_, IsEmpty());
  look_for(seconds(2));
  EXPECT_THAT(rescued_, ElementsAre("2"));
}

TEST_F(RescuerTest, WhatIsFreeAgainAfterItsLeaseIsLeftToAWorkerThatLives) {
  ledger_.share();
  const Email held = put_processing("1");
  put_processing("2");
  Leases of_another{ledger_, policy_, clock_};
  of_another.hold(held);
  ledger_.lock("1");
  look_for(policy_.lease + 2 * Leases::renewal_interval(policy_) + seconds(2));
  EXPECT_THAT(rescued_, ElementsAre("2"));
  ledger_.unlock("1");
  look_for(Leases::renewal_interval(policy_));
  of_another.renew_once();
  look_for(Leases::renewal_interval(policy_) + seconds(2));
  EXPECT_THAT(rescued_, ElementsAre("2")) << "its worker was kept from renewing, and has done it since";
  look_for(policy_.lease + 2 * Leases::renewal_interval(policy_));
  EXPECT_THAT(rescued_, ElementsAre("2", "1")) << "it is gone now";
}

TEST_F(RescuerTest, OnASharedLedgerALockBetweenTwoLooksStartsTheWaitAnew) {
  ledger_.share();
  put_processing("1");
  look_for(policy_.lease + seconds(2));
  ledger_.lock("1");
  look_for(2 * Leases::renewal_interval(policy_));
  ledger_.unlock("1");
  look_for(2 * Leases::renewal_interval(policy_));
  EXPECT_THAT(rescued_, IsEmpty());
  look_for(seconds(1));
  EXPECT_THAT(rescued_, ElementsAre("1"));
}

TEST_F(RescuerTest, WhereEachProcessHasItsOwnClockALeaseIsWatchedForAsLongAsItLasts) {
  ledger_.share(false);
  const Email held = put_processing("1");
  Leases of_another{ledger_, policy_, clock_};
  of_another.hold(held);
  clock_.advance(policy_.lease);  // the other clock is behind, so that its leases seem to be over
  look_for(policy_.lease - seconds(1));
  EXPECT_THAT(rescued_, IsEmpty());
  of_another.renew_once();
  look_for(policy_.lease);
  EXPECT_THAT(rescued_, IsEmpty());
  look_for(2 * policy_.lease);
  EXPECT_THAT(rescued_, ElementsAre("1"));
}

TEST_F(RescuerTest, OnASharedLedgerManyAreRescuedAtATime) {
  ledger_.share();
  const int count = 3 * static_cast<int>(max_ledger_batch);
  for (int i = 0; i < count; ++i) put_processing(std::to_string(i));
  look_for(policy_.lease + 2 * Leases::renewal_interval(policy_));
  EXPECT_THAT(rescued_, IsEmpty());
  clock_.advance(seconds(1));
  while (rescuer_.run_once()) continue;
  EXPECT_EQ(rescued_.size(), static_cast<std::size_t>(count));
}

TEST_F(RescuerTest, WhatThisProcessHasIsNotLookedForWithoutPauseAndHidesNothing) {
  std::vector<Email> held;
  for (int i = 0; i < 4 * static_cast<int>(max_ledger_batch); ++i) {
    held.push_back(put_processing(std::to_string(i)));
    leases_.hold(held.back());
  }
  look_for(policy_.lease + seconds(1));
  EXPECT_THAT(rescued_, IsEmpty());
  put_processing("lost");
  look_for(policy_.lease + seconds(2));
  EXPECT_THAT(rescued_, ElementsAre("lost"));
}

TEST_F(RescuerTest, WhatCannotBeMovedIsNotTriedAgainWithoutPause) {
  for (int i = 0; i < static_cast<int>(max_ledger_batch); ++i) {
    const std::string id = std::to_string(i);
    put_processing(id);
    ledger_.fail_moves_of(id);
  }
  look_for(policy_.lease + seconds(2));
  EXPECT_THAT(rescued_, IsEmpty());
}

TEST_F(RescuerTest, SettingTheClockEndsNoLeaseOfThisProcess) {
  const Email held = put_processing("1");
  leases_.hold(held);
  clock_.set_by(std::chrono::hours(24));
  EXPECT_TRUE(leases_.holds(held));
  clock_.set_by(-std::chrono::hours(48));
  clock_.advance(policy_.lease);
  EXPECT_FALSE(leases_.holds(held)) << "nor does it make one last longer";
}

}  // namespace
}  // namespace postino::outbox
