#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/temporary_directory.h"
#include "engine/consistency_testing.h"
#include "engine/engine.h"
#include "engine/storage/power_loss_env_testing.h"
#include "engine/write_workload_testing.h"

namespace postino::engine {
namespace {

constexpr int disk_fault_writers = 8;

std::string describe(DiskFault fault) {
  switch (fault) {
    case DiskFault::none:
      return "none";
    case DiskFault::no_space:
      return "no_space";
    case DiskFault::append_fails:
      return "append_fails";
    case DiskFault::sync_fails:
      return "sync_fails";
  }
  return "";
}

class DiskFaults : public testing::TestWithParam<DiskFault> {
 protected:
  DiskFaults() {
    for (int number = 0; number < disk_fault_writers; ++number) writers_.emplace_back(number, 1 + number);
    open();
    create_workload_tables(*engine_);
  }

  void open() {
    engine_.reset();
    Options options;
    options.directory = directory_.path() / "data";
    options.memtable_bytes = 128 << 10;  // faults meet flushes as well
    auto engine = Engine::open(options, disk_.env());
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = std::move(*engine);
  }

  // All writers write until they are refused. The fault comes while they do; that they end shows that each of them got
  // an answer.
  void write_into_fault(std::int64_t operations_before) {
    std::atomic<int> writes = 0;
    std::vector<std::thread> threads;
    for (WorkloadWriter& writer : writers_)
      threads.emplace_back([&] {
        while (writer.write_once(*engine_)) {
          if (++writes == operations_before) disk_.set_fault(GetParam());
        }
      });
    for (std::thread& thread : threads) thread.join();
  }

  bool put_one_more() {
    store::PutItemRequest request;
    request.table_name = "ledger";
    request.item = {{"id", "one more"}, {"version", ++version_}};
    return engine_->put_item(request).has_value();
  }

  void expect_internal_errors() {
    for (const WorkloadWriter& writer : writers_) {
      ASSERT_TRUE(writer.error());
      EXPECT_EQ(writer.error()->type, store::ErrorType::internal_server_error);
      EXPECT_THAT(writer.error()->message, testing::HasSubstr("disk"));
    }
  }

  // What was acknowledged is there, and what was refused is not.
  void expect_acknowledged_alone() {
    for (const WorkloadWriter& writer : writers_) EXPECT_TRUE(writer.matches(*engine_, writer.acknowledged()));
    expect_consistent();
  }

  // What was acknowledged is there. A write that the disk failed to confirm may be on it all the same.
  void expect_acknowledged_and_settle() {
    for (WorkloadWriter& writer : writers_) {
      const auto prefix = writer.matching_prefix(*engine_, writer.acknowledged());
      ASSERT_TRUE(prefix);
      writer.settle(*prefix);
    }
    expect_consistent();
  }

  void expect_consistent() {
    for (const std::string& table_name : workload_tables) {
      EXPECT_THAT(check_table(*engine_, table_name), testing::IsEmpty());
      EXPECT_THAT(StreamReplay(table_name).follow(*engine_), testing::IsEmpty());
    }
  }

  base::TemporaryDirectory directory_;
  PowerLossEnv disk_;
  std::unique_ptr<Engine> engine_;
  std::vector<WorkloadWriter> writers_;
  int version_ = 0;
};

TEST_P(DiskFaults, IsReportedToEveryWriterAndLosesNothing) {
  for (const int writes_before : {1, 100, 400}) {
    SCOPED_TRACE(writes_before);
    write_into_fault(writes_before);
    expect_internal_errors();
    expect_acknowledged_alone();

    // Still refused, and still answered.
    for (int i = 0; i < 2; ++i) EXPECT_FALSE(put_one_more());
    expect_acknowledged_alone();

    disk_.set_fault(DiskFault::none);
    open();
    expect_acknowledged_and_settle();
    EXPECT_TRUE(put_one_more());
    for (WorkloadWriter& writer : writers_) EXPECT_TRUE(writer.write_once(*engine_)) << writer.error()->message;
    expect_acknowledged_and_settle();
  }
}

INSTANTIATE_TEST_SUITE_P(Disk, DiskFaults,
                         testing::Values(DiskFault::no_space, DiskFault::append_fails, DiskFault::sync_fails),
                         [](const auto& instance) { return describe(instance.param); });

class NearlyFullDisk : public DiskFaults {
 protected:
  // The store looks at the disk a few times a second.
  bool before_long(bool accepted) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (put_one_more() != accepted)
      if (std::chrono::steady_clock::now() > deadline) return false;
    return true;
  }
};

TEST_P(NearlyFullDisk, RefusesWritesUntilThereIsRoomAgain) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    disk_.set_free_space(1 << 20);
    write_into_fault(-1);  // until the store refuses by itself
    for (const WorkloadWriter& writer : writers_)
      EXPECT_THAT(writer.error()->message, testing::HasSubstr("has less than 64 MB left"));
    EXPECT_TRUE(before_long(false));
    expect_acknowledged_alone();
    for (WorkloadWriter& writer : writers_) writer.settle(writer.acknowledged());

    disk_.set_free_space(std::uint64_t{1} << 40);
    ASSERT_TRUE(before_long(true));
    for (WorkloadWriter& writer : writers_) ASSERT_TRUE(writer.write_once(*engine_)) << writer.error()->message;
    expect_acknowledged_alone();
  }
}

INSTANTIATE_TEST_SUITE_P(Disk, NearlyFullDisk, testing::Values(DiskFault::none),
                         [](const auto& instance) { return describe(instance.param); });

}  // namespace
}  // namespace postino::engine
