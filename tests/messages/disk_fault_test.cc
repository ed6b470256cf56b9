// What callers are told when the disk fails or is full while their messages, or the record of their call, are written.
#include <gtest/gtest.h>

#include "base/many_threads_testing.h"
#include "engine/storage/power_loss_env_testing.h"
#include "service_environment.h"

namespace postino::messages {
namespace {

class MessagesOnABadDisk : public ::testing::Test {
 protected:
  MessagesOnABadDisk() {
    engine::Options options;
    options.directory = directory_.path() / "data";
    engine_ = engine::Engine::open(options, disk_.env()).value();
    queue_ = std::make_shared<StoreQueue>(*engine_, clock_, random_, retry(), StoreQueueOptions{});
    connections_ = Connections::create({}, queue_).value();
    ServiceOptions service;
    service.on_step = [this](Step step) {
      if (step == fatal_step_) spoil_();
      return true;
    };
    service_ = std::make_unique<MessageService>(*engine_, *connections_, clock_, random_, retry(), std::move(service));
    EXPECT_TRUE(service_->prepare());
    EXPECT_TRUE(is_complete(queue_->produce("q", numbered(2), {}, nullptr)));
  }

  store::Retry retry() {
    return {random_, [](base::Milliseconds) {}};
  }

  void fail_at(Step step) {
    fatal_step_ = step;
    spoil_ = [this] { disk_.set_fault(engine::DiskFault::sync_fails); };
  }
  void be_full_at(Step step) {
    fatal_step_ = step;
    spoil_ = [this] { be_full(); };
  }
  void be_full() {
    disk_.set_free_space(1 << 20);
    ASSERT_TRUE(base::eventually([&] { return engine_->write_health().refusal == engine::WriteRefusal::disk_full; }));
  }

  std::string produce() { return fault_of_answer(service_->produce(produce_request("k", 3), {})); }
  std::string consume() { return fault_of_answer(service_->consume(consume_request("k", 10), {})); }
  std::uint64_t depth() { return queue_->depth("q")->ready; }

  base::TemporaryDirectory directory_{engine::memory_directory()};
  engine::PowerLossEnv disk_;
  base::SystemClock clock_;
  base::SeededRandom random_{1};
  std::unique_ptr<engine::Engine> engine_;
  std::shared_ptr<StoreQueue> queue_;
  std::unique_ptr<Connections> connections_;
  std::optional<Step> fatal_step_;
  std::function<void()> spoil_;
  std::unique_ptr<MessageService> service_;
};

TEST_F(MessagesOnABadDisk, NothingIsDoneIfTheExecutionCannotBegin) {
  disk_.set_fault(engine::DiskFault::sync_fails);
  EXPECT_EQ(produce(), "STORE_UNAVAILABLE");
  EXPECT_EQ(consume(), "STORE_UNAVAILABLE");
}

TEST_F(MessagesOnABadDisk, AFullDiskIsARefusal) {
  be_full();
  EXPECT_EQ(produce(), "STORE_UNAVAILABLE");
  EXPECT_EQ(consume(), "STORE_UNAVAILABLE");
  disk_.set_free_space(std::uint64_t{1} << 40);
  ASSERT_TRUE(base::eventually([&] { return engine_->write_health().refusal == engine::WriteRefusal::none; }));
  EXPECT_EQ(depth(), 2U);
  EXPECT_EQ(produce(), "");
}

TEST_F(MessagesOnABadDisk, MessagesThatWereBeingWrittenMayBeInTheQueue) {
  fail_at(Step::begun);
  EXPECT_EQ(produce(), "OUTCOME_UNKNOWN");
}

TEST_F(MessagesOnABadDisk, ProducedMessagesAreThereWhateverBecomesOfTheRecord) {
  fail_at(Step::produced);
  EXPECT_EQ(produce(), "OUTCOME_UNKNOWN");
}

TEST_F(MessagesOnABadDisk, ProducedMessagesAreThereAlsoIfTheRecordIsRefused) {
  be_full_at(Step::produced);
  EXPECT_EQ(produce(), "OUTCOME_UNKNOWN");
}

TEST_F(MessagesOnABadDisk, AnAnswerThatWasBeingWrittenMayHaveTheMessages) {
  fail_at(Step::received);
  EXPECT_EQ(consume(), "OUTCOME_UNKNOWN");
}

TEST_F(MessagesOnABadDisk, MessagesStayInTheQueueIfTheAnswerIsRefused) {
  be_full_at(Step::received);
  EXPECT_EQ(consume(), "STORE_UNAVAILABLE");
}

}  // namespace
}  // namespace postino::messages
