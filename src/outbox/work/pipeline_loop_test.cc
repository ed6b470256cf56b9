#include "outbox/work/pipeline_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <set>

#include "base/many_threads_testing.h"
#include "net/logged_lines_testing.h"
#include "outbox/ledger/memory_ledger_testing.h"
#include "outbox/work/worker_testing.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Event deliver(const Email& email) { return event::SendingAttempted{{}, delivered(email)}; }

// The loop does not look for itself, unless a test says so.
class PipelineLoopConcurrentTest : public testing::Test {
 protected:
  static PipelineOptions options(int workers = 2) { return {.workers = workers, .poll = hours(1)}; }

  std::unique_ptr<PipelineLoop> make(PipelineOptions options, PipelineLoop::Work work,
                                     Pipeline pipeline = Pipeline::send, PipelineLoop* next = nullptr) {
    return std::make_unique<PipelineLoop>(
        pipeline, context_, std::move(options), std::move(work),
        [this](const Email& before, const Email& after) { note_move(before, after); }, next);
  }
  std::unique_ptr<PipelineLoop> start(PipelineOptions options, PipelineLoop::Work work,
                                      Pipeline pipeline = Pipeline::send) {
    auto loop = make(std::move(options), std::move(work), pipeline);
    loop->start();
    return loop;
  }
  static PipelineLoop::Instant in_a_while() { return std::chrono::steady_clock::now() + std::chrono::minutes(2); }
  // The loop claims no more from now on.
  static bool await_stopping(PipelineLoop& loop) {
    return base::eventually([&] {
      const auto place = loop.reserve(Email());
      if (place) loop.release({*place});
      return !place;
    });
  }
  // How many places can be kept at once. They are free again afterwards.
  static int count_places(PipelineLoop& loop) {
    std::vector<WorkerPlace> places;
    while (auto place = loop.reserve(Email())) places.push_back(*std::move(place));
    loop.release(places);
    return static_cast<int>(places.size());
  }

  void put_ready(const std::string& id) { ledger_.put(ready(id, policy_)); }
  bool await_written(int count) {
    return ledger_.await([&] {
      const auto commits = ledger_.commits();
      return std::accumulate(commits.begin(), commits.end(), std::size_t{0}, [](std::size_t sum, const auto& commit) {
               return sum + commit.size();
             }) >= static_cast<std::size_t>(count);
    });
  }

  void note_move(const Email& before, const Email& after) {
    const std::lock_guard lock(mutex_);
    moves_.push_back(before.id + " " + std::string(name_of(before.state)) + " " + std::string(name_of(after.state)));
    last_moved_ = after;
  }
  // What the loop told of. Complete when the loop has stopped.
  std::vector<std::string> moves() {
    const std::lock_guard lock(mutex_);
    return moves_;
  }
  Email last_moved() {
    const std::lock_guard lock(mutex_);
    return last_moved_;
  }

  Policy policy_;
  base::ManualClock clock_{test_start};
  MemoryLedger ledger_{policy_, clock_};
  Leases leases_{ledger_, policy_, clock_};
  base::SeededRandom random_{1};
  const WorkContext context_{ledger_, leases_, policy_, clock_, random_, "process 7"};
  Gate gate_;

 private:
  std::mutex mutex_;
  std::vector<std::string> moves_;
  Email last_moved_;
};

// Says the time of another clock, and doubts it until told otherwise.
class DoubtfulClock final : public base::Clock {
 public:
  explicit DoubtfulClock(const base::Clock& clock) : clock_(clock) {}
  base::TimePoint now() const override { return clock_.now(); }
  bool is_doubtful() const override {
    ++asked_;
    return doubtful_;
  }
  void be_sure() { doubtful_ = false; }
  int asked() const { return asked_; }

 private:
  const base::Clock& clock_;
  std::atomic<bool> doubtful_ = true;
  mutable std::atomic<int> asked_ = 0;
};

TEST_F(PipelineLoopConcurrentTest, ClaimsNothingByAClockThatIsDoubted) {
  DoubtfulClock clock(clock_);
  const WorkContext context{ledger_, leases_, policy_, clock, random_, "process 7"};
  put_ready("old");
  std::atomic<int> worked = 0;
  PipelineLoop loop(
      Pipeline::send, context, options(),
      [&](const Email& email) {
        ++worked;
        return deliver(email);
      },
      [](const Email&, const Email&) {});
  loop.start();
  ASSERT_TRUE(base::eventually([&] { return clock.asked() >= 1; }));
  loop.wake();
  ASSERT_TRUE(base::eventually([&] { return clock.asked() >= 2; }));
  EXPECT_EQ(worked, 0);
  clock.be_sure();
  loop.wake();
  EXPECT_TRUE(base::eventually([&] { return worked == 1; }));
  loop.stop(in_a_while());
}

TEST_F(PipelineLoopConcurrentTest, WorksOnWhatIsDueAndWritesWhereItGoes) {
  for (const char* id : {"1", "2", "3"}) put_ready(id);
  const auto loop = start(options(), [&](const Email& email) {
    EXPECT_EQ(email.state, State::processing);
    EXPECT_EQ(email.owner, "process 7");
    EXPECT_TRUE(leases_.holds(email));
    return deliver(email);
  });
  for (const char* id : {"1", "2", "3"}) EXPECT_TRUE(ledger_.await_state(id, State::sent));
  loop->stop(in_a_while());
  EXPECT_THAT(moves(), UnorderedElementsAre("1 PROCESSING SENT", "2 PROCESSING SENT", "3 PROCESSING SENT"));
  EXPECT_EQ(loop->in_flight(), 0);
}

TEST_F(PipelineLoopConcurrentTest, ClaimsNoMoreWhenItsEndHasBegun) {
  for (const char* id : {"1", "2", "3", "4"}) put_ready(id);
  PipelineOptions few = options(1);
  few.batch = 1;
  const auto loop = start(few, [&](const Email& email) {
    gate_.pass();
    return deliver(email);
  });
  EXPECT_TRUE(gate_.await(1));
  loop->begin_stop(in_a_while());
  EXPECT_FALSE(loop->reserve(Email()));
  gate_.let_through(4);
  EXPECT_TRUE(base::eventually([&] { return loop->in_flight() == 0; })) << "it ends its work before stop() is called";
  loop->wake();
  loop->stop(in_a_while());
  std::multiset<State> states;
  for (const char* id : {"1", "2", "3", "4"}) states.insert(ledger_.email(id).state);
  EXPECT_THAT(states, UnorderedElementsAre(State::sent, State::ready, State::ready, State::ready));
}

TEST_F(PipelineLoopConcurrentTest, TheLeaseEndsWithTheWork) {
  put_ready("1");
  Email claimed;
  const auto loop = start(options(1), [&](const Email& email) {
    claimed = email;
    return deliver(email);
  });
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
  loop->stop(in_a_while());
  EXPECT_EQ(claimed.id, "1");
  EXPECT_FALSE(leases_.holds(claimed));
}

TEST_F(PipelineLoopConcurrentTest, ClaimsABatchAtATimeAndNotMoreThanIsWorkedOnSoon) {
  constexpr int emails = 20;
  for (int i = 0; i < emails; ++i) put_ready(std::to_string(i));
  PipelineOptions few = options(2);
  few.batch = 3;
  const auto loop = start(few, [&](const Email& email) {
    gate_.pass();
    return deliver(email);
  });
  for (int i = 1; i <= emails; ++i) {
    EXPECT_TRUE(gate_.await(i));
    gate_.let_through(1);
    EXPECT_TRUE(await_written(i));
  }
  loop->stop(in_a_while());
  EXPECT_LE(ledger_.most_claimed(), 7) << "two e-mails for each worker, and a batch";
  EXPECT_THAT(ledger_.limits(), Each(3));
}

TEST_F(PipelineLoopConcurrentTest, WorkersWorkAtTheSameTime) {
  for (const char* id : {"1", "2", "3"}) put_ready(id);
  const auto loop = start(options(3), [&](const Email& email) {
    gate_.pass();
    return deliver(email);
  });
  EXPECT_TRUE(gate_.await(3));
  EXPECT_EQ(loop->in_flight(), 3);
  gate_.open();
  EXPECT_TRUE(await_written(3));
}

TEST_F(PipelineLoopConcurrentTest, AsManyWorkersComeAsThereIsWorkFor) {
  PipelineOptions patient = options(8);
  patient.rest = hours(1);
  const auto loop = start(patient, [&](const Email& email) {
    gate_.pass();
    return deliver(email);
  });
  EXPECT_EQ(loop->workers(), 1);
  for (const char* id : {"1", "2", "3"}) put_ready(id);
  loop->wake();
  EXPECT_TRUE(gate_.await(3));
  EXPECT_EQ(loop->workers(), 3);
  gate_.open();
  EXPECT_TRUE(await_written(3));
  put_ready("4");
  loop->wake();
  EXPECT_TRUE(ledger_.await_state("4", State::sent));
  EXPECT_EQ(loop->workers(), 3) << "they are still there";
}

TEST_F(PipelineLoopConcurrentTest, WorkersWithoutWorkGoButForOneAndComeAgain) {
  PipelineOptions restless = options(4);
  restless.rest = milliseconds(0);
  const auto loop = start(restless, [&](const Email& email) {
    gate_.pass();
    return deliver(email);
  });
  for (int round = 1; round <= 3; ++round) {
    for (int i = 1; i <= 4; ++i) put_ready(std::to_string(round * 10 + i));
    loop->wake();
    EXPECT_TRUE(gate_.await(4 * round)) << "four at the same time";
    gate_.let_through(4);
    EXPECT_TRUE(await_written(4 * round));
    EXPECT_TRUE(base::eventually([&] { return loop->workers() == 1; }));
  }
}

TEST_F(PipelineLoopConcurrentTest, NewWorkWakesIt) {
  const auto loop = start(options(), deliver);
  EXPECT_TRUE(ledger_.await_looks(1));
  put_ready("1");
  loop->wake();
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
}

TEST_F(PipelineLoopConcurrentTest, LooksForWhatOthersHavePutIn) {
  PipelineOptions curious = options();
  curious.poll = milliseconds(1);
  const auto loop = start(curious, deliver);
  EXPECT_TRUE(ledger_.await_looks(1));
  put_ready("1");
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
}

TEST_F(PipelineLoopConcurrentTest, LooksAgainWhenTheNextIsDue) {
  ledger_.put(ready("1", policy_, test_start + milliseconds(2)));
  const auto loop = start(options(), deliver);
  EXPECT_TRUE(ledger_.await_looks(2));
  EXPECT_EQ(ledger_.email("1").state, State::ready);
  clock_.advance(milliseconds(2));
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
}

TEST_F(PipelineLoopConcurrentTest, GoesOnAfterClaimsThatFailed) {
  put_ready("1");
  ledger_.fail_claims(3);
  PipelineOptions curious = options();
  curious.poll = milliseconds(1);
  const net::LoggedLines lines;
  const auto loop = start(curious, deliver);
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
  EXPECT_EQ(lines.count("claim failed"), 1) << lines.text();
  EXPECT_EQ(lines.count("claims succeed again"), 1) << lines.text();
}

TEST_F(PipelineLoopConcurrentTest, WhatWasDoneIsWrittenWhenTheLedgerIsBack) {
  put_ready("1");
  ledger_.fail_moves(1);
  std::atomic<int> worked = 0;
  const auto loop = start(options(), [&](const Email& email) {
    ++worked;
    return deliver(email);
  });
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
  EXPECT_EQ(worked, 1) << "it is not sent again";
}

TEST_F(PipelineLoopConcurrentTest, WhatWasDoneIsWrittenBeforeItStops) {
  put_ready("1");
  ledger_.fail_moves(1);
  const auto loop = start(options(), deliver);
  EXPECT_TRUE(ledger_.await([&] { return ledger_.refused_moves() > 0; }));
  loop->stop(in_a_while());
  EXPECT_EQ(ledger_.email("1").state, State::sent);
}

TEST_F(PipelineLoopConcurrentTest, WhileWritesAreRefusedOutcomesWaitAndNothingIsClaimed) {
  put_ready("1");
  std::atomic<int> worked = 0;
  PipelineOptions curious = options(1);
  curious.batch = 1;
  curious.poll = milliseconds(1);
  const auto loop = start(curious, [&](const Email& email) {
    if (++worked == 1) {
      gate_.pass();
      ledger_.refuse_writes(true);
    }
    return deliver(email);
  });
  EXPECT_TRUE(gate_.await(1));
  gate_.open();
  EXPECT_TRUE(ledger_.await([&] { return loop->unwritten() == 1; }));
  EXPECT_FALSE(loop->reserve(Email())) << "nobody hands it more";
  put_ready("2");
  loop->wake();
  const Email held = ledger_.email("1");
  EXPECT_TRUE(leases_.has(held));
  clock_.advance(hours(2));
  EXPECT_TRUE(leases_.has(held)) << "the outcome is known, however long ago the lease has ended";
  ledger_.refuse_writes(false);
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
  EXPECT_TRUE(ledger_.await_state("2", State::sent));
  loop->stop(in_a_while());
  EXPECT_EQ(worked, 2) << "each is sent once";
  EXPECT_EQ(loop->unwritten(), 0);
}

TEST_F(PipelineLoopConcurrentTest, OutcomesThatAreKeptBackWhileWritesAreRefusedCountAsUnwritten) {
  for (const char* id : {"1", "2", "3"}) put_ready(id);
  const auto loop = start(options(3), [&](const Email& email) {
    if (email.id == "1")
      ledger_.refuse_writes(true);
    else
      gate_.pass();
    return deliver(email);
  });
  EXPECT_TRUE(ledger_.await([&] { return loop->unwritten() == 1; }));
  EXPECT_TRUE(gate_.await(2));
  gate_.open();
  EXPECT_TRUE(base::eventually([&] { return loop->unwritten() == 3; })) << "the last two were never tried";
  ledger_.refuse_writes(false);
  loop->stop(in_a_while());
  EXPECT_EQ(loop->unwritten(), 0);
}

TEST_F(PipelineLoopConcurrentTest, AnOutcomeThatCannotBeWrittenIsKeptAndKeepsNobodyBack) {
  put_ready("1");
  ledger_.fail_moves_of("1");
  const auto loop = start(options(1), deliver);
  EXPECT_TRUE(ledger_.await([&] { return loop->unwritten() == 1; }));
  put_ready("2");
  loop->wake();
  EXPECT_TRUE(ledger_.await_state("2", State::sent));
  EXPECT_TRUE(leases_.has(ledger_.email("1")));
  EXPECT_EQ(loop->unwritten(), 1);
  loop->stop(PipelineLoop::Instant());
  EXPECT_EQ(loop->in_flight(), 0);
}

TEST_F(PipelineLoopConcurrentTest, WhatCannotBeWrittenInTimeIsLeftToTheRescuer) {
  put_ready("1");
  put_ready("2");
  ledger_.fail_moves_of("1");
  Email claimed;
  const auto loop = start(options(2), [&](const Email& email) {
    if (email.id == "1") claimed = email;
    return deliver(email);
  });
  EXPECT_TRUE(ledger_.await([&] { return ledger_.refused_moves() > 0; }));
  loop->stop(PipelineLoop::Instant());
  EXPECT_EQ(ledger_.email("1").state, State::processing);
  EXPECT_EQ(ledger_.email("2").state, State::sent) << "it is not refused for the sake of the other";
  EXPECT_LT(ledger_.refused_moves(), 100) << "it does not go on trying";
  EXPECT_FALSE(leases_.holds(claimed));
  EXPECT_EQ(loop->in_flight(), 0);
}

TEST_F(PipelineLoopConcurrentTest, LeavesAloneWhatAnotherWorkerHasMoved) {
  put_ready("1");
  Email claimed;
  const auto loop = start(options(1), [&](const Email& email) {
    if (email.id == "1") claimed = email;
    gate_.pass();
    return deliver(email);
  });
  EXPECT_TRUE(gate_.await(1));
  ledger_.take_over("1");
  gate_.open();
  EXPECT_TRUE(ledger_.await([&] { return ledger_.refused_moves() == 1; }));
  put_ready("2");
  loop->wake();
  EXPECT_TRUE(ledger_.await_state("2", State::sent));
  loop->stop(in_a_while());
  EXPECT_THAT(moves(), ElementsAre("2 PROCESSING SENT"));
  EXPECT_FALSE(leases_.holds(claimed));
  EXPECT_EQ(ledger_.refused_moves(), 1) << "it is not tried again";
}

TEST_F(PipelineLoopConcurrentTest, WorkThatLeadsNowhereStopsNothing) {
  put_ready("1");
  put_ready("2");
  Email claimed;
  const auto loop = start(options(1), [&](const Email& email) -> Event {
    if (email.id == "2") return deliver(email);
    claimed = email;
    return event::CallbackAcknowledged{};
  });
  EXPECT_TRUE(ledger_.await_state("2", State::sent));
  loop->stop(in_a_while());
  EXPECT_EQ(ledger_.email("1").state, State::processing);
  EXPECT_FALSE(leases_.holds(claimed)) << "the rescuer shall find it";
  EXPECT_EQ(loop->in_flight(), 0);
}

TEST_F(PipelineLoopConcurrentTest, GivesBackWhatNoWorkerHasBegunAndWaitsForTheRest) {
  for (const char* id : {"1", "2", "3"}) put_ready(id);
  const auto loop = start(options(1), [&](const Email& email) {
    gate_.pass();
    return deliver(email);
  });
  EXPECT_TRUE(gate_.await(1));
  EXPECT_EQ(ledger_.email("3").state, State::processing);
  std::thread stopping([&] { loop->stop(in_a_while()); });
  for (const char* id : {"2", "3"}) {
    EXPECT_TRUE(ledger_.await_state(id, State::ready));
    EXPECT_EQ(ledger_.email(id).attempts, 0) << "as if it had not been claimed";
  }
  EXPECT_EQ(ledger_.email("1").state, State::processing) << "the worker is not disturbed";
  gate_.open();
  stopping.join();
  EXPECT_EQ(ledger_.email("1").state, State::sent);
  EXPECT_EQ(ledger_.email("2").state, State::ready) << "it claims no more";
}

// Work without claims.

class PipelineLoopWithoutClaimsConcurrentTest : public PipelineLoopConcurrentTest {
 protected:
  static PipelineOptions without_claims(int workers = 2) {
    PipelineOptions options = PipelineLoopConcurrentTest::options(workers);
    options.claims = false;
    return options;
  }
  void put_accepted(const std::string& id) { ledger_.put(accepted(id, policy_)); }
};

TEST_F(PipelineLoopWithoutClaimsConcurrentTest, NothingIsClaimedAndNothingIsBegunTwice) {
  put_accepted("1");
  const auto loop = start(
      without_claims(),
      [&](const Email& email) {
        EXPECT_FALSE(leases_.holds(email));
        gate_.pass();
        return event::MessageBuilt{test_message};
      },
      Pipeline::intake);
  EXPECT_TRUE(gate_.await(1));
  EXPECT_EQ(ledger_.email("1").state, State::accepted);
  loop->wake();
  EXPECT_TRUE(ledger_.await_looks(2));
  EXPECT_THAT(ledger_.last_except(), ElementsAre("1"));
  gate_.open();
  EXPECT_TRUE(ledger_.await_state("1", State::ready));
  loop->stop(in_a_while());
  EXPECT_THAT(moves(), ElementsAre("1 ACCEPTED READY"));
  EXPECT_THAT(ledger_.commits(), ElementsAre(ElementsAre("1"))) << "one commit";
}

TEST_F(PipelineLoopWithoutClaimsConcurrentTest, WhatFailedIsTakenAgainWhenItIsDue) {
  put_accepted("1");
  std::atomic<int> worked = 0;
  PipelineOptions curious = without_claims();
  curious.poll = milliseconds(1);
  const auto loop = start(
      curious,
      [&](const Email& email) -> Event {
        EXPECT_EQ(email.reached[index_of(State::intaking)], worked);
        if (++worked == 1) return event::IntakeFailed{"the disk is away"};
        return event::MessageBuilt{test_message};
      },
      Pipeline::intake);
  EXPECT_TRUE(await_written(1));
  clock_.advance(hours(2));
  EXPECT_TRUE(ledger_.await_state("1", State::ready));
  EXPECT_EQ(worked, 2);
}

TEST_F(PipelineLoopWithoutClaimsConcurrentTest, WhatNoWorkerHasBegunNeedsNoCommit) {
  for (const char* id : {"1", "2", "3"}) put_accepted(id);
  const auto loop = start(
      without_claims(1),
      [&](const Email&) {
        gate_.pass();
        return event::MessageBuilt{test_message};
      },
      Pipeline::intake);
  EXPECT_TRUE(gate_.await(1));
  std::thread stopping([&] { loop->stop(in_a_while()); });
  EXPECT_TRUE(await_stopping(*loop));
  gate_.open();
  stopping.join();
  EXPECT_THAT(ledger_.commits(), ElementsAre(ElementsAre("1")));
  EXPECT_EQ(ledger_.email("2").state, State::accepted);
  EXPECT_EQ(loop->in_flight(), 0);
}

TEST_F(PipelineLoopWithoutClaimsConcurrentTest, WhatIsNotUrgentMakesWay) {
  std::atomic<int> asked = 0;
  PipelineOptions patient = without_claims();
  patient.urgent = false;
  patient.make_way = [&] { return ++asked <= 3; };
  const auto loop = start(
      patient,
      [&](const Email&) {
        EXPECT_EQ(asked, 4) << "three times there was other work";
        return event::MessageBuilt{test_message};
      },
      Pipeline::intake);
  EXPECT_TRUE(ledger_.await_looks(1));
  put_accepted("1");
  loop->wake();
  EXPECT_TRUE(ledger_.await_state("1", State::ready));
}

// Places at its workers.

TEST_F(PipelineLoopConcurrentTest, TakesWhatWasClaimedForItsWorkers) {
  const Email email = ledger_.put(processing("1", policy_));
  const auto loop = start(options(), [&](const Email& each) {
    EXPECT_TRUE(leases_.holds(each));
    return deliver(each);
  });
  const auto place = loop->reserve(email);
  const auto other = loop->reserve(email);
  ASSERT_TRUE(place && other);
  EXPECT_EQ(loop->in_flight(), 2);
  loop->adopt({{email, *place}});
  loop->release({*other});
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
  loop->stop(in_a_while());
  EXPECT_THAT(moves(), ElementsAre("1 PROCESSING SENT"));
  EXPECT_EQ(loop->in_flight(), 0) << "the other place is free again";
}

TEST_F(PipelineLoopConcurrentTest, WhatWaitsInTheLedgerKeepsItsShareOfThePlaces) {
  const auto loop = make(options(2), deliver);
  const int before_the_first_look = count_places(*loop);
  EXPECT_GT(before_the_first_look, 0);
  loop->start();
  EXPECT_TRUE(ledger_.await_looks(1));
  loop->wake();
  EXPECT_TRUE(ledger_.await_looks(2));  // what the first one found is known by now
  EXPECT_EQ(count_places(*loop), 2 * before_the_first_look) << "nothing waits";
}

TEST_F(PipelineLoopConcurrentTest, WhatComesTooLateForItsPlaceIsGivenBack) {
  const Email email = ledger_.put(processing("1", policy_));
  const auto loop = start(options(), [](const Email& each) {
    ADD_FAILURE() << each.id << " was begun";
    return deliver(each);
  });
  const auto place = loop->reserve(email);
  ASSERT_TRUE(place);
  std::thread stopping([&] { loop->stop(in_a_while()); });
  EXPECT_TRUE(await_stopping(*loop));
  loop->adopt({{email, *place}});
  stopping.join();
  EXPECT_EQ(ledger_.email("1").state, State::ready);
  EXPECT_FALSE(loop->reserve(email));
}

// Loops in a row.

class ForwardingPipelineLoopConcurrentTest : public PipelineLoopConcurrentTest {
 protected:
  ForwardingPipelineLoopConcurrentTest() {
    policy_.default_callback_url = "http://127.0.0.1/outcome";
    put_ready("1");
  }
  void start_both() {
    callback_->start();
    send_->start();
  }
  void stop_both() {
    send_->stop(in_a_while());
    callback_->stop(in_a_while());
  }

  const std::unique_ptr<PipelineLoop> callback_ = make(
      options(2), [](const Email&) { return event::CallbackAcknowledged{}; }, Pipeline::callback);
  const std::unique_ptr<PipelineLoop> send_ = make(
      options(2),
      [this](const Email& email) {
        gate_.pass();
        return deliver(email);
      },
      Pipeline::send, callback_.get());
};

TEST_F(ForwardingPipelineLoopConcurrentTest, TheNextLoopGetsItWithTheSameCommit) {
  gate_.open();
  start_both();
  EXPECT_TRUE(ledger_.await_state("1", State::sent_acknowledged));
  stop_both();
  EXPECT_THAT(ledger_.commits(), ElementsAre(ElementsAre("1"), ElementsAre("1")));
  EXPECT_THAT(moves(), UnorderedElementsAre("1 PROCESSING SENT", "1 CALLING-SENT-CALLBACK SENT-ACKNOWLEDGED"));
}

TEST_F(ForwardingPipelineLoopConcurrentTest, WithoutAFreeWorkerItWaits) {
  gate_.open();
  std::vector<WorkerPlace> reserved;
  while (auto place = callback_->reserve(Email())) reserved.push_back(*std::move(place));
  send_->start();
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
  send_->stop(in_a_while());
  EXPECT_THAT(moves(), ElementsAre("1 PROCESSING SENT"));
  EXPECT_EQ(pipeline_of(last_moved()), Pipeline::callback) << "the next loop is to be woken";
  EXPECT_EQ(callback_->in_flight(), static_cast<int>(reserved.size()));
  callback_->release(reserved);
}

TEST_F(ForwardingPipelineLoopConcurrentTest, ThePlaceIsFreeAgainWhenTheLeaseWasLost) {
  start_both();
  EXPECT_TRUE(gate_.await(1));
  ledger_.take_over("1");
  gate_.open();
  EXPECT_TRUE(ledger_.await([&] { return ledger_.refused_moves() == 1; }));
  send_->stop(in_a_while());
  EXPECT_EQ(callback_->in_flight(), 0);
  EXPECT_THAT(moves(), IsEmpty());
}

TEST_F(ForwardingPipelineLoopConcurrentTest, ThePlaceIsFreeAgainWhenItCannotBeWritten) {
  gate_.open();
  ledger_.fail_moves_of("1");
  start_both();
  EXPECT_TRUE(ledger_.await([&] { return ledger_.refused_moves() > 0; }));
  EXPECT_EQ(callback_->in_flight(), 1);
  send_->stop(PipelineLoop::Instant());
  EXPECT_EQ(callback_->in_flight(), 0);
  EXPECT_THAT(moves(), IsEmpty());
}

}  // namespace
}  // namespace postino::outbox
