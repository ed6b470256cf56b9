// Destinations share the workers of a loop: what waits for one keeps no other waiting, and costs no commit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/many_threads_testing.h"
#include "outbox/ledger/memory_ledger_testing.h"
#include "outbox/work/pipeline_loop.h"
#include "outbox/work/sender.h"
#include "outbox/work/worker_testing.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// E-mails for slow.example wait at the gate. The loop does not look for itself.
class FairShareConcurrentTest : public testing::Test {
 protected:
  ~FairShareConcurrentTest() override {
    gate_.open();
    if (loop_) loop_->stop(in_a_while());
  }

  PipelineLoop& start(DestinationRules rules = {}, int workers = 8) {
    PipelineOptions options{.workers = workers, .poll = hours(1)};
    options.destinations_of = domains_of;
    options.destination_rules = rules;
    options.pauses_after = [this](const Event&) {
      const std::lock_guard lock(mutex_);
      return std::exchange(pauses_, {});
    };
    loop_ = std::make_unique<PipelineLoop>(
        Pipeline::send, context_, std::move(options), [this](const Email& email) { return work(email); },
        [this](const Email& before, const Email& after) {
          if (before.state != State::processing || after.state != State::sent) ++detours_;
          ++moved_;
        });
    loop_->start();
    return *loop_;
  }
  static PipelineLoop::Instant in_a_while() { return std::chrono::steady_clock::now() + std::chrono::minutes(2); }

  static Change for_domains(Change change, const std::vector<std::string>& domains) {
    change.after.recipients.clear();
    for (const std::string& domain : domains)
      change.after.recipients.push_back({"bob@" + domain, RecipientState::pending, ""});
    return change;
  }
  void put(const std::string& prefix, int count, const std::string& domain) {
    for (int i = 0; i < count; ++i) {
      Change change = for_domains(ready(prefix + std::to_string(1'000 + i), policy_), {domain});
      change.after.due_at = clock_.now();
      ledger_.put(change);
    }
  }
  bool await_sent(const std::string& prefix, int count) {
    return ledger_.await([&] {
      for (int i = 0; i < count; ++i)
        if (ledger_.email(prefix + std::to_string(1'000 + i)).state != State::sent) return false;
      return true;
    });
  }

  int count_claimed_of(const std::string& prefix, int count) {
    int claimed = 0;
    for (int i = 0; i < count; ++i)
      claimed += ledger_.email(prefix + std::to_string(1'000 + i)).state == State::processing ? 1 : 0;
    return claimed;
  }

  Event work(const Email& email) {
    {
      const std::lock_guard lock(mutex_);
      for (const std::string& domain : domains_of(email)) {
        const int at_once = ++at_once_[domain];
        most_at_once_[domain] = std::max(most_at_once_[domain], at_once);
      }
      ++begun_;
      if (email.recipients.size() > 1) begun_before_several_ = begun_;
    }
    if (email.recipients.front().address.starts_with("bob@slow")) gate_.pass();
    const std::lock_guard lock(mutex_);
    for (const std::string& domain : domains_of(email)) --at_once_[domain];
    return event::SendingAttempted{{}, delivered(email)};
  }
  int most_at_once(const std::string& domain) {
    const std::lock_guard lock(mutex_);
    return most_at_once_[domain];
  }
  int begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

  Policy policy_;
  base::ManualClock clock_{test_start};
  MemoryLedger ledger_{policy_, clock_};
  Leases leases_{ledger_, policy_, clock_};
  base::SeededRandom random_{1};
  const WorkContext context_{ledger_, leases_, policy_, clock_, random_, "process 7"};
  Gate gate_;
  std::vector<PipelineOptions::Pause> pauses_;  // that the next one asks for
  std::atomic<int> moved_ = 0;
  std::atomic<int> detours_ = 0;  // moves other than from PROCESSING to SENT
  std::mutex mutex_;
  std::map<std::string, int> at_once_;
  std::map<std::string, int> most_at_once_;
  int begun_ = 0;
  int begun_before_several_ = 0;
  std::unique_ptr<PipelineLoop> loop_;
};

TEST_F(FairShareConcurrentTest, TheFastOneIsDoneBeforeTheSlowOneHasAnswered) {
  put("a", 500, "slow.example");
  start();
  ASSERT_TRUE(gate_.await(6)) << "three of four workers";
  put("b", 50, "fast.example");  // behind all others
  loop_->wake();
  EXPECT_TRUE(await_sent("b", 50));
  EXPECT_EQ(most_at_once("slow.example"), 6);
  EXPECT_LE(count_claimed_of("a", 500), 24) << "what waits in memory is bounded";
  gate_.open();
  EXPECT_TRUE(await_sent("a", 500));
  loop_->stop(in_a_while());
  EXPECT_EQ(detours_, 0);
  EXPECT_EQ(loop_->in_flight(), 0);
}

TEST_F(FairShareConcurrentTest, ManySlowOnesDoNotKeepAFastOneWaitingEither) {
  const auto put_slow_ones = [&](const std::string& prefix, int count) {
    for (int i = 0; i < 18; ++i) put(prefix + std::to_string(i) + "-", count, "slow" + std::to_string(i) + ".example");
  };
  put_slow_ones("first", 1);
  start({}, 20);
  ASSERT_TRUE(gate_.await(18)) << "nobody knows yet that they are slow";
  clock_.advance(seconds(5));
  gate_.let_through(18);
  for (int i = 0; i < 18; ++i) ASSERT_TRUE(await_sent("first" + std::to_string(i) + "-", 1));
  put_slow_ones("a", 40);
  loop_->wake();
  ASSERT_TRUE(gate_.await(18 + 15)) << "five workers are kept for others";
  put("b", 100, "fast.example");  // behind all others
  loop_->wake();
  EXPECT_TRUE(await_sent("b", 100));
  gate_.open();
  EXPECT_TRUE(await_sent("a17-", 40));
}

TEST_F(FairShareConcurrentTest, ManyThatHaveNeverAnsweredDoNotKeepAKnownOneWaiting) {
  put("known", 1, "fast.example");
  start({}, 16);
  ASSERT_TRUE(await_sent("known", 1));
  for (int i = 0; i < 60; ++i) put("a" + std::to_string(i) + "-", 1, "slow" + std::to_string(i) + ".example");
  loop_->wake();
  ASSERT_TRUE(gate_.await(14)) << "two workers are kept for those that are known to answer";
  put("b", 100, "fast.example");  // behind all others
  loop_->wake();
  EXPECT_TRUE(await_sent("b", 100));
  gate_.open();
  EXPECT_TRUE(await_sent("a59-", 1));
}

// All workers are busy, and much is claimed.
TEST_F(FairShareConcurrentTest, ANewcomerHasItsTurnWhenAWorkerIsFree) {
  for (int i = 0; i < 8; ++i) put("a" + std::to_string(i) + "-", 40, "slow" + std::to_string(i) + ".example");
  start({}, 8);
  ASSERT_TRUE(gate_.await(7)) << "one worker is kept for those that are known to answer";
  put("b", 1, "fast.example");
  loop_->wake();
  ASSERT_TRUE(ledger_.await_state("b1000", State::processing));
  const int claimed = ledger_.most_claimed();
  ASSERT_TRUE(base::eventually([&] { return loop_->in_flight() >= claimed; })) << "it waits in memory";
  gate_.let_through(16);
  EXPECT_TRUE(await_sent("b", 1)) << "each has a turn before any other has its third";
}

TEST_F(FairShareConcurrentTest, APlaceIsKeptForAFastOneWhenTheSlowOneHasEnough) {
  put("a", 500, "slow.example");
  start();
  ASSERT_TRUE(gate_.await(6));
  const Email slow = for_domains(ready("slow", policy_), {"slow.example"}).after;
  ASSERT_TRUE(base::eventually([&] {
    const auto place = loop_->reserve(slow);
    if (place) loop_->release({*place});
    return !place;
  })) << "the room for it is taken";
  for (int i = 0; i < 50; ++i) {
    const Email fast = ledger_.put(for_domains(processing("b" + std::to_string(1'000 + i), policy_), {"fast.example"}));
    std::optional<WorkerPlace> place;
    ASSERT_TRUE(base::eventually([&] { return (place = loop_->reserve(fast)).has_value(); })) << i;
    loop_->adopt({{fast, *place}});
  }
  EXPECT_TRUE(await_sent("b", 50));
}

TEST_F(FairShareConcurrentTest, ALimitIsKeptAndWaitingCostsNothing) {
  put("a", 40, "slow.example");
  put("b", 5, "fast.example");
  start({.concurrency = 1});
  ASSERT_TRUE(gate_.await(1));
  EXPECT_TRUE(await_sent("b", 5));
  gate_.open();
  EXPECT_TRUE(await_sent("a", 40));
  loop_->stop(in_a_while());
  EXPECT_EQ(most_at_once("slow.example"), 1);
  EXPECT_EQ(detours_, 0) << "none goes back to wait";
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(ledger_.email("a" + std::to_string(1'000 + i)).reached[index_of(State::processing)], 1);
}

TEST_F(FairShareConcurrentTest, StopGivesBackWhatWaitsForItsDestination) {
  put("a", 5, "slow.example");
  start({.concurrency = 1});
  ASSERT_TRUE(gate_.await(1));
  loop_->begin_stop(in_a_while());
  EXPECT_TRUE(ledger_.await([&] { return ledger_.email("a1004").state == State::ready; }));
  EXPECT_EQ(ledger_.email("a1004").attempts, 0);
  gate_.open();
  loop_->stop(in_a_while());
  EXPECT_EQ(loop_->in_flight(), 0);
}

TEST_F(FairShareConcurrentTest, SoManyASecondByTheClock) {
  put("a", 3, "a.example");
  start({.rate = 1});
  EXPECT_TRUE(base::eventually([&] { return moved_ == 1; }));
  put("b", 1, "b.example");
  loop_->wake();
  EXPECT_TRUE(await_sent("b", 1)) << "another one has turns of its own";
  EXPECT_EQ(begun(), 2);
  clock_.advance(seconds(1));
  EXPECT_TRUE(base::eventually([&] { return moved_ == 3; }));
  clock_.advance(seconds(1));
  EXPECT_TRUE(await_sent("a", 3));
}

TEST_F(FairShareConcurrentTest, ADestinationThatAsksForAPauseHasItAlone) {
  pauses_ = {{"a.example", seconds(60)}};
  put("a", 1, "a.example");
  start();
  EXPECT_TRUE(await_sent("a", 1));
  ledger_.put(for_domains(ready("later", policy_), {"a.example"}));
  put("b", 20, "b.example");
  loop_->wake();
  EXPECT_TRUE(await_sent("b", 20));
  EXPECT_EQ(ledger_.email("later").state, State::ready) << "it is not even claimed";
  clock_.advance(seconds(60));
  loop_->wake();
  EXPECT_TRUE(ledger_.await_state("later", State::sent));
}

TEST_F(FairShareConcurrentTest, WhatIsForSeveralDestinationsHasItsTurn) {
  put("a", 100, "a.example");
  put("b", 100, "b.example");
  ledger_.put(for_domains(ready("0", policy_), {"a.example", "b.example"}));
  start({.concurrency = 1});
  EXPECT_TRUE(await_sent("a", 100));
  EXPECT_TRUE(await_sent("b", 100));
  EXPECT_TRUE(ledger_.await_state("0", State::sent));
  loop_->stop(in_a_while());
  EXPECT_LT(begun_before_several_, 150);
  EXPECT_EQ(most_at_once("a.example"), 1);
  EXPECT_EQ(most_at_once("b.example"), 1);
}

}  // namespace
}  // namespace postino::outbox
