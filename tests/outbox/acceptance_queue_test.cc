// E-mails that are handed in at the same time share a commit, and every caller hears of its own.
#include "outbox/work/acceptance_queue.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

#include "outbox_store.h"

namespace postino::outbox {
namespace {

using testing::ElementsAre;

// What happened, in order; safe to write from any thread.
class Log {
 public:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// A spool that tells what comes, and keeps it waiting until it is let go.
class GatedSpool final : public Spool {
 public:
  GatedSpool(StoreSpool spool, Log& log) : spool_(std::move(spool)), log_(log) {}

  void await_first() { await(1); }
  void await(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= count; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  base::Result<std::string> write(const SpoolObject& object) override {
    log_.add("writes " + object.id);
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    return spool_.write(object);
  }
  base::Result<std::string> read_if(const std::string& path, const Admit& admit) override {
    return spool_.read_if(path, admit);
  }
  base::Result<void> remove(const std::string& path) override { return spool_.remove(path); }

 private:
  StoreSpool spool_;
  Log& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  bool open_ = false;
};

class AcceptanceQueueTest : public testing::Test {
 protected:
  AcceptanceQueue::Done note(const std::string& name) {
    return [this, name](const base::Result<std::vector<AcceptOutcome>>& outcomes) {
      std::string line = name;
      if (!outcomes) line += " failed";
      if (outcomes)
        for (const AcceptOutcome& outcome : *outcomes) line += " " + outcome.id + (outcome.error ? " refused" : "");
      log_.add(line);
    };
  }
  static std::vector<NewEmail> emails(std::initializer_list<int> numbers) {
    std::vector<NewEmail> emails;
    for (const int number : numbers) emails.push_back(accepted(new_email("e" + std::to_string(number))));
    return emails;
  }
  void submit(AcceptanceQueue& queue, std::initializer_list<int> numbers, const std::string& name) {
    std::vector<NewEmail> some = emails(numbers);
    EXPECT_TRUE(queue.try_submit(some, note(name)));
  }

  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, clock_};
  Log log_;
  std::unique_ptr<GatedSpool> made_ = std::make_unique<GatedSpool>(
      StoreSpool(store_.engine(), store_.tables().spool(), store_.random(), store_.retry()), log_);
  GatedSpool& spool_ = *made_;
  StoreLedger ledger_{store_.engine(), store_.tables(), ledger_policy(), *clock_,
                      store_.random(), store_.retry(),  std::move(made_)};
  WorkSignal signal_;
};

TEST_F(AcceptanceQueueTest, WhatComesWhileACommitIsWrittenSharesTheNext) {
  AcceptanceQueue queue(ledger_, signal_);
  submit(queue, {1}, "a");
  spool_.await_first();
  submit(queue, {2, 3}, "b");
  submit(queue, {4}, "c");
  EXPECT_THAT(log_.lines(), ElementsAre("writes e1"));
  spool_.let_go();
  queue.drain();
  EXPECT_THAT(log_.lines(), ElementsAre("writes e1", "a e1", "writes e2", "writes e3", "writes e4", "b e2 e3", "c e4"));
  for (const char* id : {"e1", "e2", "e3", "e4"}) EXPECT_TRUE(*ledger_.find(id)) << id;
}

TEST_F(AcceptanceQueueTest, AFewRequestsThatWaitAreNotDivided) {
  AcceptanceQueue queue(ledger_, signal_);
  submit(queue, {1}, "a");
  spool_.await_first();
  for (const int number : {2, 3, 4, 5, 6, 7}) submit(queue, {number}, "b");
  spool_.let_go();
  queue.drain();
  EXPECT_THAT(log_.lines(), ElementsAre("writes e1", "a e1", "writes e2", "writes e3", "writes e4", "writes e5",
                                        "writes e6", "writes e7", "b e2", "b e3", "b e4", "b e5", "b e6", "b e7"));
}

TEST_F(AcceptanceQueueTest, WhenManyWaitTheNextCommitIsPreparedMeanwhile) {
  AcceptanceQueue queue(ledger_, signal_);
  submit(queue, {1}, "a");
  spool_.await_first();
  submit(queue, {2, 3, 4, 5, 6, 7, 8, 9}, "b");
  spool_.await(2);
  EXPECT_THAT(log_.lines(), ElementsAre("writes e1", "writes e2")) << "by a thread each";
  spool_.let_go();
  queue.drain();
  EXPECT_THAT(log_.lines(), testing::IsSupersetOf({"a e1", "b e2 e3 e4 e5 e6 e7 e8 e9"}));
}

TEST_F(AcceptanceQueueTest, OneIdInTwoRequestsIsAcceptedOnce) {
  AcceptanceQueue queue(ledger_, signal_);
  submit(queue, {1}, "a");
  spool_.await_first();
  submit(queue, {2, 1}, "b");
  submit(queue, {2}, "c");
  spool_.let_go();
  queue.drain();
  const std::vector<std::string> lines = log_.lines();
  EXPECT_THAT(lines, testing::IsSupersetOf({"a e1", "b e2 e1 refused", "c e2 refused"}));
}

TEST_F(AcceptanceQueueTest, NoMoreWaitThanAreAllowed) {
  AcceptanceQueue queue(ledger_, signal_, {.batch = 25, .max_waiting_emails = 2, .max_waiting_bytes = 1'000});
  submit(queue, {1}, "a");
  spool_.await_first();
  submit(queue, {2, 3}, "b");
  std::vector<NewEmail> one_more = emails({4});
  EXPECT_FALSE(queue.try_submit(one_more, note("c")));
  EXPECT_EQ(one_more.size(), 1U) << "still the caller's";
  spool_.let_go();
  queue.drain();
  std::vector<NewEmail> large = emails({5});
  large.front().payload.assign(1'001, ' ');
  EXPECT_FALSE(queue.try_submit(large, note("d")));
  submit(queue, {4}, "c");
  queue.drain();
  EXPECT_THAT(log_.lines(), testing::IsSupersetOf({"a e1", "b e2 e3", "c e4"}));
}

TEST_F(AcceptanceQueueTest, ARequestStaysWholeAndABatchIsNoLargerThanAsked) {
  AcceptanceQueue queue(ledger_, signal_, {.batch = 2});
  submit(queue, {1}, "a");
  spool_.await_first();
  submit(queue, {2}, "b");
  submit(queue, {3, 4}, "c");
  submit(queue, {5, 6, 7}, "d");
  spool_.let_go();
  queue.drain();
  EXPECT_THAT(log_.lines(), ElementsAre("writes e1", "a e1", "writes e2", "b e2", "writes e3", "writes e4", "c e3 e4",
                                        "writes e5", "writes e6", "writes e7", "d e5 e6 e7"));
}

TEST_F(AcceptanceQueueTest, ItIsBusyWhenMuchCame) {
  spool_.let_go();
  AcceptanceQueue queue(ledger_, signal_);
  EXPECT_FALSE(signal_.are_many_arriving());
  submit(queue, {1}, "a");
  queue.drain();
  EXPECT_FALSE(signal_.are_many_arriving());
  bool busy = false;  // unless this test was kept from running for longer than a moment
  for (int i = 1; i <= 100 && !busy; ++i) {
    std::vector<NewEmail> some;
    for (int k = 0; k < 20; ++k) some.push_back(accepted(new_email(email_id(100 * i + k))));
    EXPECT_TRUE(queue.try_submit(some, [](const auto&) {}));
    busy = signal_.are_many_arriving();
  }
  EXPECT_TRUE(busy);
}

TEST_F(AcceptanceQueueTest, WhatWaitsAtTheEndIsAccepted) {
  {
    AcceptanceQueue queue(ledger_, signal_);
    submit(queue, {1}, "a");
    spool_.await_first();
    submit(queue, {2}, "b");
    spool_.let_go();
  }
  EXPECT_THAT(log_.lines(), testing::IsSupersetOf({"a e1", "b e2"}));
}

TEST_F(AcceptanceQueueTest, ManyCallersAtOnce) {
  constexpr int callers = 8;
  constexpr int requests = 25;
  spool_.let_go();
  AcceptanceQueue queue(ledger_, signal_);
  std::latch answered(callers * requests);
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&, caller] {
      for (int i = 0; i < requests; ++i) {
        const std::string id = std::to_string(caller) + "-" + std::to_string(i);
        std::vector<NewEmail> one;
        one.push_back(accepted(new_email(id)));
        EXPECT_TRUE(queue.try_submit(one, [&answered, id](const base::Result<std::vector<AcceptOutcome>>& outcomes) {
          EXPECT_TRUE(outcomes && outcomes->size() == 1 && outcomes->front().id == id && !outcomes->front().error);
          answered.count_down();
        }));
      }
    });
  for (std::thread& thread : threads) thread.join();
  answered.wait();
  const auto counts = ledger_.counts(std::nullopt);
  ASSERT_TRUE(counts);
  EXPECT_EQ((*counts)[static_cast<std::size_t>(State::accepted)], callers * requests);
}

TEST(RecentCountTest, ForgetsWhatIsTwoPeriodsAgo) {
  using std::chrono::milliseconds;
  RecentCount count(milliseconds(50));
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::time_point() + std::chrono::hours(1);
  count.add(3, start);
  EXPECT_EQ(count.get(start + milliseconds(49)), 3U);
  count.add(4, start + milliseconds(60));
  EXPECT_EQ(count.get(start + milliseconds(61)), 7U);
  EXPECT_EQ(count.get(start + milliseconds(111)), 4U);
  EXPECT_EQ(count.get(start + milliseconds(500)), 0U);
}

}  // namespace
}  // namespace postino::outbox
