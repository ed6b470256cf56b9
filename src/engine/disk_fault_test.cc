#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/many_threads_testing.h"
#include "base/temporary_directory.h"
#include "engine/consistency_testing.h"
#include "engine/engine.h"
#include "engine/memory_directory_testing.h"
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
    case DiskFault::no_table:
      return "no_table";
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

  // The store looks at the disk a few times a second.
  bool before_long(bool accepted) {
    return base::eventually([&] { return put_one_more() == accepted; });
  }

  bool put_one_more() {
    store::PutItemRequest request;
    request.table_name = "ledger";
    request.item = {{"id", "one more"}, {"version", ++version_}};
    return engine_->put_item(request).has_value();
  }

  static bool is_refused(const WorkloadWriter& writer) {
    return writer.error()->type == store::ErrorType::service_unavailable;
  }

  // Each writer is told whether its write may be there.
  void expect_disk_errors() {
    int in_doubt = 0;
    for (const WorkloadWriter& writer : writers_) {
      ASSERT_TRUE(writer.error());
      if (!is_refused(writer)) {
        EXPECT_EQ(writer.error()->type, store::ErrorType::internal_server_error);
        ++in_doubt;
      }
      EXPECT_THAT(writer.error()->message, testing::HasSubstr("disk"));
    }
    if (GetParam() == DiskFault::no_table) {
      EXPECT_EQ(in_doubt, 0) << "it is met before the log is";
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
      if (writer.error() && is_refused(writer)) {
        EXPECT_EQ(*prefix, writer.acknowledged()) << "it was refused";
      }
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

  base::TemporaryDirectory directory_{memory_directory()};
  PowerLossEnv disk_;
  std::unique_ptr<Engine> engine_;
  std::vector<WorkloadWriter> writers_;
  int version_ = 0;
};

TEST_P(DiskFaults, IsReportedToEveryWriterAndLosesNothing) {
  for (const int writes_before : {1, 100, 400}) {
    SCOPED_TRACE(writes_before);
    write_into_fault(writes_before);
    expect_disk_errors();
    expect_acknowledged_alone();

    // Still refused, and still answered.
    for (int i = 0; i < 2; ++i) EXPECT_FALSE(put_one_more());
    expect_acknowledged_alone();
    // A log that is no longer whole cannot be gone on with, whatever the disk says later.
    disk_.set_fault(DiskFault::none);
    if (GetParam() != DiskFault::no_space) {
      EXPECT_FALSE(put_one_more());
      EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::disk_failed);
    }

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

class NearlyFullDisk : public DiskFaults {};

TEST_P(NearlyFullDisk, RefusesWritesUntilThereIsRoomAgain) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    disk_.set_free_space(1 << 20);
    write_into_fault(-1);  // until the store refuses by itself
    for (const WorkloadWriter& writer : writers_)
      EXPECT_THAT(writer.error()->message, testing::HasSubstr("has less than 64 MB left"));
    EXPECT_TRUE(before_long(false));
    EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::disk_full);
    EXPECT_THAT(engine_->write_health().reason, testing::HasSubstr("less than 64 MB"));
    expect_acknowledged_alone();
    for (WorkloadWriter& writer : writers_) writer.settle(writer.acknowledged());

    disk_.set_free_space(std::uint64_t{1} << 40);
    ASSERT_TRUE(before_long(true));
    EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::none);
    for (WorkloadWriter& writer : writers_) ASSERT_TRUE(writer.write_once(*engine_)) << writer.error()->message;
    expect_acknowledged_alone();
  }
}

// Reads work on a disk that is nearly full, also after a restart.
TEST_P(NearlyFullDisk, CanBeOpened) {
  ASSERT_TRUE(put_one_more());
  disk_.set_free_space(1 << 20);
  open();
  expect_acknowledged_alone();
  EXPECT_FALSE(put_one_more());
  EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::disk_full);
}

class FullDisk : public DiskFaults {};

// The reserve did not help: others filled the disk, or it has a quota. What is in memory cannot be written out; no
// restart is needed when there is room again.
TEST_P(FullDisk, IsGotOverWithoutOpeningTheStoreAgain) {
  for (const int writes_before : {1, 100, 400}) {
    SCOPED_TRACE(writes_before);
    write_into_fault(writes_before);
    EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::disk_full);
    expect_disk_errors();
    expect_acknowledged_alone();
    for (WorkloadWriter& writer : writers_) writer.settle(writer.acknowledged());

    disk_.set_fault(DiskFault::none);
    ASSERT_TRUE(before_long(true));
    EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::none);
    for (int i = 0; i < 50; ++i)  // enough for several tables
      for (WorkloadWriter& writer : writers_) ASSERT_TRUE(writer.write_once(*engine_)) << writer.error()->message;
    expect_acknowledged_alone();
  }
  open();
  expect_acknowledged_alone();
}

// No client has to write for the engine to find out.
TEST_P(FullDisk, IsGotOverByTheStoreItself) {
  write_into_fault(1);
  disk_.set_fault(DiskFault::none);
  EXPECT_TRUE(base::eventually([&] { return engine_->write_health().refusal == WriteRefusal::none; }));
}

// With as much room as must be kept and no more, the next write out would meet a full disk again.
TEST_P(FullDisk, IsGotOverWithAnEighthMoreThanTheReserve) {
  write_into_fault(1);
  const std::uint64_t reserve = engine_->write_health().reserve_bytes;
  ASSERT_GT(reserve, 0u);
  const std::uint64_t nearly = reserve + reserve / 8 - 1;
  disk_.set_free_space(nearly);
  disk_.set_fault(DiskFault::none);
  EXPECT_TRUE(base::eventually([&] {
    put_one_more();
    return engine_->write_health().free_bytes == nearly;
  })) << "it has looked";
  EXPECT_FALSE(put_one_more());
  EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::disk_full);

  disk_.set_free_space(nearly + 1);
  EXPECT_TRUE(before_long(true));
  EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::none);
}

// No thread waits for a store that does not go on: neither those that write nor the one that looks at the disk.
TEST_P(FullDisk, KeepsNoThreadWaitingWhileTheStoreDoesNotGoOn) {
  write_into_fault(400);  // something is in memory
  disk_.set_hanging(true);
  disk_.set_fault(DiskFault::none);
  EXPECT_TRUE(base::eventually([&] {
    EXPECT_FALSE(put_one_more());
    return engine_->write_health().reason.find("has not gone on yet") != std::string::npos;
  }));
  EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::disk_full);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(put_one_more());
  expect_acknowledged_alone();
  disk_.set_hanging(false);
  EXPECT_TRUE(before_long(true));
  EXPECT_EQ(engine_->write_health().refusal, WriteRefusal::none);
  expect_acknowledged_alone();
}

INSTANTIATE_TEST_SUITE_P(Disk, FullDisk, testing::Values(DiskFault::no_table),
                         [](const auto& instance) { return describe(instance.param); });

INSTANTIATE_TEST_SUITE_P(Disk, NearlyFullDisk, testing::Values(DiskFault::none),
                         [](const auto& instance) { return describe(instance.param); });

}  // namespace
}  // namespace postino::engine
