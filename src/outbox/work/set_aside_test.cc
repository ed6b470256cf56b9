// E-mails whose messages find no room in memory are set aside, and others go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/many_threads_testing.h"
#include "outbox/ledger/memory_ledger_testing.h"
#include "outbox/work/pipeline_loop.h"
#include "outbox/work/worker_testing.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::size_t one_megabyte = 1 << 20;

// The message of an e-mail takes six of ten megabytes if its id begins with L. The loop has one worker, and does not
// look for itself.
class SetAsideConcurrentTest : public testing::Test {
 protected:
  std::unique_ptr<PipelineLoop> start(PipelineOptions options = {.workers = 1, .poll = hours(1)}) {
    auto loop = std::make_unique<PipelineLoop>(
        Pipeline::send, context_, std::move(options),
        [](const Email& email, MessageRoom& room) -> std::optional<Event> {
          if (!room.take(email.id.starts_with("L") ? 6 * one_megabyte : 100)) return std::nullopt;
          return event::SendingAttempted{{}, delivered(email)};
        },
        [](const Email&, const Email&) {});
    loop->start();
    return loop;
  }
  // Of the e-mails there are.
  int count(State state) {
    int count = 0;
    for (const std::string& id : ids_) count += ledger_.email(id).state == state ? 1 : 0;
    return count;
  }
  void put_ready(const std::string& id) {
    ledger_.put(ready(id, policy_));
    ids_.push_back(id);
  }
  static PipelineLoop::Instant in_a_while() { return std::chrono::steady_clock::now() + std::chrono::minutes(2); }

  std::vector<std::string> ids_;
  Policy policy_;
  base::ManualClock clock_{test_start};
  MemoryLedger ledger_{policy_, clock_};
  Leases leases_{ledger_, policy_, clock_};
  base::SeededRandom random_{1};
  const std::shared_ptr<base::MemoryBudget> budget_ = std::make_shared<base::MemoryBudget>(10 * one_megabyte);
  MessageMemory memory_{budget_};
  MessageRoom others_{&memory_};
  const WorkContext context_{ledger_, leases_, policy_, clock_, random_, "process 7", &memory_};
};

TEST_F(SetAsideConcurrentTest, SmallMessagesGoOnAndTheLargeOneHasItsTurn) {
  ASSERT_TRUE(others_.take(5 * one_megabyte));
  put_ready("L1");
  const auto loop = start();
  ASSERT_TRUE(base::eventually([&] { return loop->set_aside() == 1; }));
  EXPECT_EQ(loop->in_flight(), 0);
  put_ready("small");
  loop->wake();
  EXPECT_TRUE(ledger_.await_state("small", State::sent)) << "by the only worker";
  EXPECT_EQ(ledger_.email("L1").state, State::processing);
  EXPECT_TRUE(leases_.has(ledger_.email("L1"))) << "so its lease is renewed";
  others_ = {};
  EXPECT_TRUE(ledger_.await_state("L1", State::sent));
  EXPECT_EQ(ledger_.email("L1").attempts, 1);
  EXPECT_EQ(loop->set_aside(), 0);
  loop->stop(in_a_while());
  EXPECT_EQ(budget_->taken(), 0U);
}

TEST_F(SetAsideConcurrentTest, LargeMessagesOfTwoLoopsAllHaveTheirTurn) {
  for (int i = 0; i < 20; ++i) put_ready("L" + std::to_string(i));
  const auto first = start({.workers = 4, .batch = 7, .poll = hours(1)});
  const auto second = start({.workers = 4, .batch = 7, .poll = hours(1)});
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(ledger_.await_state("L" + std::to_string(i), State::sent)) << i;
  first->stop(in_a_while());
  second->stop(in_a_while());
  EXPECT_EQ(budget_->taken(), 0U);
  EXPECT_EQ(memory_.waiting(), 0U);
}

TEST_F(SetAsideConcurrentTest, StopGivesBackWhatIsSetAside) {
  ASSERT_TRUE(others_.take(5 * one_megabyte));
  put_ready("L1");
  const auto loop = start();
  ASSERT_TRUE(base::eventually([&] { return loop->set_aside() == 1; }));
  loop->stop(in_a_while());
  EXPECT_EQ(ledger_.email("L1").state, State::ready);
  EXPECT_EQ(ledger_.email("L1").attempts, 0);
  EXPECT_EQ(memory_.waiting(), 0U);
}

TEST_F(SetAsideConcurrentTest, WhenManyAreTheNextOnesComeLater) {
  ASSERT_TRUE(others_.take(5 * one_megabyte));
  for (const char* id : {"L1", "L2", "L3"}) put_ready(id);
  PipelineOptions options{.workers = 1, .poll = hours(1), .most_set_aside = 2};
  options.too_many_set_aside = [] { return event::SendingPostponed{"postponed: memory", test_start + hours(1)}; };
  const auto loop = start(std::move(options));
  ASSERT_TRUE(base::eventually([&] { return loop->set_aside() == 2 && count(State::ready) == 1; }));
  put_ready("small");
  loop->wake();
  EXPECT_TRUE(ledger_.await_state("small", State::sent)) << "what waits does not stop the claiming";
  others_ = {};
  EXPECT_TRUE(base::eventually([&] { return loop->set_aside() == 0; }));
  loop->stop(in_a_while());
  EXPECT_EQ(count(State::sent), 3) << "two large ones and the small one";
}

}  // namespace
}  // namespace postino::outbox
