// Many workers, two processes' worth of them, on any ledger: everything happens once.
#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/many_threads_testing.h"
#include "ledger_conformance.h"
#include "outbox/email/state_machine_testing.h"
#include "outbox/work/pipelines.h"
#include "outbox_store.h"

namespace postino::outbox {
namespace {

using base::eventually;
using base::run_threads;
using base::volume;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr milliseconds lease = seconds(30);

// A door that workers wait at until it is opened.
class Door {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [&] { return open_; });
  }
  int waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;  // that have come, in all
};

// Takes everything, and remembers whose worker brought it.
class RecordingTransport final : public Transport {
 public:
  smtp::SendResult deliver(const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) override {
    if (const auto allowed = before_end(); !allowed) {
      smtp::SendResult refused;
      refused.not_begun = true;
      refused.reply.text = allowed.error().message;
      return refused;
    }
    const std::lock_guard lock(mutex_);
    deliveries_[delivery.email.id].push_back(delivery.email.owner);
    return delivered(delivery.email);
  }
  std::map<std::string, std::vector<std::string>> deliveries() const {
    const std::lock_guard lock(mutex_);
    return deliveries_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> deliveries_;
};

// Everything that a process has of its own.
class Process {
 public:
  Process(Ledger& ledger, SuppressionList& suppressions, const base::Clock& clock, Transport& transport,
          const std::string& owner)
      : intake_(*Intake::create(ledger.spool(), nullptr, {})),
        callback_sender_(*CallbackSender::create(policy_, clock, *WebhookSigner::create(""), {})),
        sender_(ledger, suppressions, transport, policy_, clock, ""),
        pipelines_({ledger, policy_, clock, random_, signal_, owner}, {*intake_, sender_, *callback_sender_}, options(),
                   [] {}) {}

  Pipelines& pipelines() { return pipelines_; }
  WorkSignal& signal() { return signal_; }

 private:
  static PipelinesOptions options() {
    PipelinesOptions options;
    options.rescue_interval = milliseconds(20);
    for (PipelineOptions* each : {&options.intake, &options.send, &options.callback}) {
      each->workers = 3;
      each->poll = milliseconds(50);
    }
    return options;
  }

  base::SeededRandom random_{3};
  const Policy policy_;
  WorkSignal signal_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<CallbackSender> callback_sender_;
  Sender sender_;
  Pipelines pipelines_;
};

std::string no_answer(const std::vector<AcceptOutcome>&) { return ""; }

std::vector<NewEmail> some(int count, int first = 0) {
  std::vector<NewEmail> emails;
  for (int i = first; i < first + count; ++i) emails.push_back(accepted(new_email(email_id(i))));
  return emails;
}

std::int64_t count_of(Ledger& ledger, State state) {
  const auto counts = ledger.counts(std::nullopt);
  EXPECT_TRUE(counts);
  return counts ? (*counts)[static_cast<std::size_t>(state)] : -1;
}

std::vector<std::string> history(Ledger& ledger, const std::string& id) {
  std::vector<std::string> states;
  const auto lines = ledger.history(id);
  EXPECT_TRUE(lines);
  for (const HistoryEntry& line : *lines) states.push_back(line.status);
  return states;
}

void expect_legal(Ledger& ledger, const std::string& id) {
  const auto lines = ledger.history(id);
  ASSERT_TRUE(lines);
  ASSERT_FALSE(lines->empty());
  EXPECT_EQ(lines->front().status, "ACCEPTED");
  for (std::size_t i = 0; i < lines->size(); ++i) {
    EXPECT_EQ((*lines)[i].version, static_cast<std::int64_t>(i) + 1) << id;
    if (i == 0) continue;
    EXPECT_TRUE(may_follow(*parse_state((*lines)[i - 1].status), *parse_state((*lines)[i].status))) << id;
  }
}

enum class LedgerChoice { shared, own };

class ConcurrentPipelines : public testing::TestWithParam<std::tuple<LedgerFactory, LedgerChoice>> {};

TEST_P(ConcurrentPipelines, DeliverEveryEmailOnce) {
  const int count = volume(1'000);
  const auto& [factory, choice] = GetParam();
  const std::unique_ptr<LedgerUnderTest> tested = factory.make();
  Ledger& first = tested->ledger();
  Ledger& second = choice == LedgerChoice::own ? tested->second() : first;
  RecordingTransport transport;
  {
    Process one(first, tested->suppressions(), tested->clock(), transport, "one");
    Process two(second, tested->suppressions(), tested->clock(), transport, "two");
    one.pipelines().start();
    two.pipelines().start();
    // They come in while the work is going on, in two places.
    run_threads(2, [&](int place) {
      for (int i = 0; i < count / 2; i += 50) {
        const int from = place * (count / 2) + i;
        const auto answer = first.accept(some(std::min(50, count / 2 - i), from), std::nullopt, no_answer);
        ASSERT_TRUE(answer);
        for (const AcceptOutcome& outcome : answer->outcomes) EXPECT_FALSE(outcome.error) << outcome.message;
        (place == 0 ? one : two).signal().announce(Pipeline::intake);
      }
    });
    EXPECT_TRUE(eventually([&] { return count_of(first, State::sent) == count; }))
        << count_of(first, State::sent) << " sent, " << count_of(first, State::accepted) << " accepted, "
        << count_of(first, State::ready) << " ready";
  }
  const auto deliveries = transport.deliveries();
  EXPECT_EQ(deliveries.size(), static_cast<std::size_t>(count));
  for (const auto& [id, owners] : deliveries) EXPECT_EQ(owners.size(), 1U) << id;
  for (int i = 0; i < count; ++i) {
    // One claim in each pipeline: no lease has ended, so no other worker may have had it.
    EXPECT_THAT(history(first, email_id(i)), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"));
    expect_legal(first, email_id(i));
    const auto email = first.find(email_id(i));
    ASSERT_TRUE(email && *email);
    EXPECT_FALSE((*email)->outcome_unknown);
    EXPECT_EQ((*email)->attempts, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Ledgers, ConcurrentPipelines,
                         testing::Combine(testing::ValuesIn(ledgers_under_test()),
                                          testing::Values(LedgerChoice::shared, LedgerChoice::own)),
                         [](const auto& each) {
                           return std::get<0>(each.param).name +
                                  (std::get<1>(each.param) == LedgerChoice::shared ? "Shared" : "TheirOwn");
                         });

class ConcurrentClaimTest : public testing::TestWithParam<LedgerFactory> {
 protected:
  void accept(int count) {
    const auto answer = ledger_.accept(some(count), std::nullopt, no_answer);
    ASSERT_TRUE(answer);
    for (const AcceptOutcome& outcome : answer->outcomes) ASSERT_FALSE(outcome.error) << outcome.message;
  }

  const std::unique_ptr<LedgerUnderTest> tested_ = GetParam().make();
  Ledger& ledger_ = tested_->ledger();
  Ledger& second_ = tested_->second();
  base::ManualClock& clock_ = tested_->clock();
  base::SeededRandom random_{4};
  const Decider decide_;
  WorkContext context(Ledger& ledger, Leases& leases, std::string owner) {
    return {ledger, leases, decide_.policy(), clock_, random_, std::move(owner)};
  }
};

TEST_P(ConcurrentClaimTest, ManyClaimersShareOutWhatThereIs) {
  const int count = volume(400);
  accept(count);
  std::mutex mutex;
  std::vector<std::string> claimed;
  const auto enough = [&] {
    const std::lock_guard lock(mutex);
    return static_cast<int>(claimed.size()) >= count;
  };
  run_threads(8, [&](int i) {
    Ledger& ledger = i % 2 == 0 ? ledger_ : second_;
    EXPECT_TRUE(eventually([&] {
      const auto claim = ledger.claim(Pipeline::intake, 7, "worker " + std::to_string(i));
      EXPECT_TRUE(claim) << claim.error().message;
      const std::lock_guard lock(mutex);
      if (claim)
        for (const Email& email : claim->emails) claimed.push_back(email.id);
      return static_cast<int>(claimed.size()) >= count;
    }));
  });
  EXPECT_TRUE(enough());
  EXPECT_EQ(std::set<std::string>(claimed.begin(), claimed.end()).size(), claimed.size()) << "one was claimed twice";
  EXPECT_EQ(count_of(ledger_, State::intaking), count);
  EXPECT_EQ(count_of(ledger_, State::accepted), 0);
}

TEST_P(ConcurrentClaimTest, OneOfManyMovesGoesThrough) {
  accept(10);
  const std::vector<Email> emails = ledger_.claim(Pipeline::intake, 25, "w")->emails;
  ASSERT_EQ(emails.size(), 10U);
  std::atomic<int> done = 0;
  std::atomic<int> late = 0;
  run_threads(8, [&](int i) {
    std::vector<Change> moves;
    for (const Email& email : emails)
      moves.push_back(i % 2 == 0 ? decide_(email, event::MessageBuilt{"by " + std::to_string(i)}, clock_.now())
                                 : decide_(email, event::LeaseEnded{}, clock_.now()));
    std::vector<MoveOutcome> outcomes;
    // Who finds the store busy comes again.
    EXPECT_TRUE(eventually([&] {
      outcomes = (i < 4 ? ledger_ : second_).move(moves);
      return std::ranges::none_of(outcomes, [](const auto& each) { return each.status == MoveStatus::failed; });
    }));
    for (const MoveOutcome& outcome : outcomes) ++(outcome.status == MoveStatus::done ? done : late);
  });
  EXPECT_EQ(done + late, 80);
  EXPECT_EQ(count_of(ledger_, State::ready) + count_of(ledger_, State::accepted), 10);
  for (const Email& email : emails) {
    expect_legal(ledger_, email.id);
    EXPECT_EQ(history(ledger_, email.id).size(), 3U);
    EXPECT_EQ((*ledger_.find(email.id))->version, 3);
  }
}

TEST_P(ConcurrentClaimTest, EqualRequestsAreCarriedOutOnce) {
  std::atomic<int> done = 0;
  std::atomic<int> replayed = 0;
  run_threads(12, [&](int i) {
    Ledger& ledger = i % 2 == 0 ? ledger_ : second_;
    const AcceptKey key{"k", "hash", clock_.now() + hours(1)};
    EXPECT_TRUE(eventually([&] {
      const auto answer = ledger.accept(some(60), key, [](const auto&) { return "answer"; });
      if (!answer || answer->status == AcceptStatus::in_progress) return false;  // comes again, as a caller would
      if (answer->status == AcceptStatus::done) ++done;
      if (answer->status == AcceptStatus::replayed) ++replayed;
      EXPECT_EQ(answer->stored_answer, "answer");
      for (const AcceptOutcome& outcome : answer->outcomes) EXPECT_FALSE(outcome.error) << outcome.message;
      return true;
    }));
  });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(replayed, 11);
  EXPECT_EQ(count_of(ledger_, State::accepted), 60);
}

TEST_P(ConcurrentClaimTest, AnIdIsAcceptedOnce) {
  std::atomic<int> accepted = 0;
  run_threads(12, [&](int i) {
    const auto answer = (i % 2 == 0 ? ledger_ : second_).accept(some(30), std::nullopt, no_answer);
    ASSERT_TRUE(answer) << answer.error().message;
    for (const AcceptOutcome& outcome : answer->outcomes) {
      if (!outcome.error) ++accepted;
      EXPECT_NE(outcome.error, AcceptError::storage) << outcome.message;
    }
  });
  EXPECT_EQ(accepted, count_of(ledger_, State::accepted));
  EXPECT_EQ(accepted, 30);
}

// The clock jumps over the leases while their worker is stuck.
TEST_P(ConcurrentClaimTest, AWorkerThatComesTooLateIsRefused) {
  constexpr int count = 3;  // as many as a loop with one worker has in flight: it claims no more
  accept(count);
  std::vector<Change> built;
  for (const Email& email : claimed(ledger_, Pipeline::intake, 10))
    built.push_back(decide_(email, event::MessageBuilt{"m"}, clock_.now()));
  for (const MoveOutcome& outcome : ledger_.move(std::move(built))) ASSERT_EQ(outcome.status, MoveStatus::done);

  Door door;
  std::atomic<int> ends_allowed = 0;
  std::atomic<int> written_by_stuck = 0;
  Leases not_renewed(ledger_, decide_.policy(), clock_);  // a process that stands still renews nothing
  const PipelineOptions options{.workers = 1, .poll = milliseconds(20)};
  PipelineLoop stuck(
      Pipeline::send, context(ledger_, not_renewed, "stuck"), options,
      [&](const Email& email) {
        door.pass();
        if (amended(ledger_, email, event::MessageEnding{})) ++ends_allowed;
        return event::SendingAttempted{{}, delivered(email)};
      },
      [&](const Email&, const Email&) { ++written_by_stuck; });
  stuck.start();
  ASSERT_TRUE(eventually([&] { return door.waiting() == 1 && stuck.in_flight() == count; }));

  clock_.advance(lease + seconds(1));
  int rescued = 0;
  Rescuer rescuer(second_, decide_.policy(), clock_, [&](const Email&, const Email&) { ++rescued; });
  rescuer.run_once();
  clock_.advance(lease);  // on a shared ledger the worker has some time to renew what was locked
  rescuer.run_once();
  ASSERT_EQ(rescued, count);
  Door other_door;
  std::atomic<int> written_by_other = 0;
  Leases other_leases(second_, decide_.policy(), clock_);
  PipelineLoop other(
      Pipeline::send, context(second_, other_leases, "other"), options,
      [&](const Email& email) {
        other_door.pass();
        return event::SendingAttempted{{}, delivered(email)};
      },
      [&](const Email&, const Email&) { ++written_by_other; });
  other.start();
  ASSERT_TRUE(eventually([&] { return other.in_flight() == count; }));

  door.open();  // the late one comes while the leases are another's
  ASSERT_TRUE(eventually([&] { return stuck.in_flight() == 0; }));
  EXPECT_EQ(ends_allowed, 0);
  EXPECT_EQ(written_by_stuck, 0);
  for (int i = 0; i < count; ++i) {
    const Email email = **second_.find(email_id(i));
    EXPECT_EQ(email.state, State::processing);
    EXPECT_EQ(email.owner, "other");
    EXPECT_FALSE(email.outcome_unknown);
  }
  other_door.open();
  ASSERT_TRUE(eventually([&] { return count_of(second_, State::sent) == count; }));
  stuck.stop({});
  other.stop({});
  EXPECT_EQ(written_by_stuck, 0);
  EXPECT_EQ(written_by_other, count);
  for (int i = 0; i < count; ++i) {
    EXPECT_THAT(history(second_, email_id(i)),
                ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "READY", "PROCESSING", "SENT"));
    expect_legal(second_, email_id(i));
  }
}

// One commit says both that it was sent and who calls back, as long as a worker is free to do it.
TEST_P(ConcurrentClaimTest, WhatIsSentGoesStraightToAFreeCallbackSender) {
  constexpr int count = 10;
  Policy policy;
  policy.default_callback_url = "http://127.0.0.1/";
  const Decider calling(policy);
  accept(count);
  std::vector<Change> built;
  for (const Email& email : claimed(ledger_, Pipeline::intake, count))
    built.push_back(calling(email, event::MessageBuilt{"m"}, clock_.now()));
  for (const MoveOutcome& outcome : ledger_.move(std::move(built))) ASSERT_EQ(outcome.status, MoveStatus::done);

  Door door;
  Leases leases(ledger_, policy, clock_);
  const WorkContext shared{ledger_, leases, policy, clock_, random_, "w"};
  PipelineLoop callback_senders(
      Pipeline::callback, shared, {.workers = 1},
      [&](const Email&) {
        door.pass();
        return event::CallbackAcknowledged{};
      },
      [](const Email&, const Email&) {});
  std::mutex mutex;
  std::map<State, int> told;
  PipelineLoop senders(
      Pipeline::send, shared, {.workers = 2},
      [&](const Email& email) {
        return event::SendingAttempted{{}, delivered(email)};
      },
      [&](const Email& before, const Email& after) {
        EXPECT_EQ(before.state, State::processing);
        const std::lock_guard lock(mutex);
        ++told[after.state];
      },
      &callback_senders);
  callback_senders.start();
  senders.start();
  ASSERT_TRUE(
      eventually([&] { return count_of(ledger_, State::calling_sent) + count_of(ledger_, State::sent) == count; }));
  EXPECT_GE(count_of(ledger_, State::calling_sent), 2) << "there was room for so many";
  door.open();
  callback_senders.wake();
  ASSERT_TRUE(eventually([&] { return count_of(ledger_, State::sent_acknowledged) == count; }));
  senders.stop({});
  callback_senders.stop({});
  EXPECT_EQ(told[State::sent], count) << "each was sent once, whatever came next";
  EXPECT_EQ(callback_senders.in_flight(), 0);
  for (int i = 0; i < count; ++i) {
    EXPECT_THAT(history(ledger_, email_id(i)), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT",
                                                           "CALLING-SENT-CALLBACK", "SENT-ACKNOWLEDGED"));
    expect_legal(ledger_, email_id(i));
    EXPECT_EQ((*ledger_.find(email_id(i)))->callback_attempts, 1);
  }
}

TEST_P(ConcurrentClaimTest, AStoppedLoopFinishesWhatItBeganAndGivesBackTheRest) {
  accept(20);
  Door door;
  std::mutex mutex;
  std::set<std::string> worked;
  Leases leases(ledger_, decide_.policy(), clock_);
  PipelineLoop loop(
      Pipeline::intake, context(ledger_, leases, "w"), {.workers = 2, .batch = 10},
      [&](const Email& email) {
        door.pass();
        const std::lock_guard lock(mutex);
        worked.insert(email.id);
        return event::MessageBuilt{"m"};
      },
      [](const Email&, const Email&) {});
  loop.start();
  ASSERT_TRUE(eventually([&] { return door.waiting() == 2 && loop.in_flight() >= 10; }));
  std::thread stopper([&] { loop.stop({}); });
  // What no worker has begun goes back while the others are still at work.
  EXPECT_TRUE(eventually([&] { return count_of(ledger_, State::accepted) == 18; }))
      << count_of(ledger_, State::accepted);
  door.open();
  stopper.join();
  EXPECT_EQ(loop.in_flight(), 0);
  EXPECT_EQ(worked.size(), 2U);
  EXPECT_EQ(count_of(ledger_, State::ready), 2);
  EXPECT_EQ(count_of(ledger_, State::intaking), 0);
  for (const std::string& id : worked) EXPECT_EQ((*ledger_.find(id))->state, State::ready);
  EXPECT_EQ(second_.claim(Pipeline::intake, 100, "next")->emails.size(), 18U) << "at once";
}

INSTANTIATE_TEST_SUITE_P(Ledgers, ConcurrentClaimTest, testing::ValuesIn(ledgers_under_test()), factory_name);

}  // namespace
}  // namespace postino::outbox
