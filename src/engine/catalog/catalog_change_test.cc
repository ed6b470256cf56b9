#include <gmock/gmock.h>

#include "base/temporary_directory.h"
#include "engine/core_tables_testing.h"
#include "engine/memory_directory_testing.h"
#include "engine/storage/power_loss_env_testing.h"
#include "engine/tables/table_operations.h"

namespace postino::engine {
namespace {

// A core on a disk that can fail.
class CatalogChangeTest : public testing::Test {
 protected:
  CatalogChangeTest() {
    Options options;
    options.directory = directory_.path() / "data";
    auto opened = open_core(std::move(options), disk_.env());
    CHECK(opened.has_value());
    core_ = *std::move(opened);
  }

  base::TemporaryDirectory directory_{memory_directory()};
  PowerLossEnv disk_;
  std::unique_ptr<Core> core_;
};

TEST_F(CatalogChangeTest, IsTakenBackWhenTheDiskFails) {
  TableOperations tables(*core_);
  ASSERT_EQ(outcome_of(tables.create(simple_table("aaa"))), "ok");
  disk_.set_fault(DiskFault::no_space);
  EXPECT_THAT(
      outcome_of(tables.create(simple_table("bbb"))),
      testing::AnyOf(testing::StartsWith("InternalServerError: "), testing::StartsWith("ServiceUnavailable: ")));
  EXPECT_EQ(core_->catalog->find("bbb"), nullptr);
  EXPECT_NE(core_->catalog->find("aaa"), nullptr);
  EXPECT_THAT(outcome_of(tables.create(simple_table("bbb"))), testing::StartsWith("ServiceUnavailable: "));
}

// The next planner must find memory as it was, so the undoing comes before any caller learns of the failure.
TEST_F(CatalogChangeTest, EveryFailedEntryIsUndoneBeforeItsFailureIsTold) {
  int undone = 0;
  const auto queue_entry = [&](const std::string& key) {
    auto entry = std::make_shared<CommitEntry>();
    entry->put(Family::meta, key, "value");
    entry->undo = [&] { ++undone; };
    core_->queue->enqueue(entry);
    return entry;
  };
  ASSERT_TRUE(core_->queue->wait(queue_entry("one")));
  EXPECT_EQ(undone, 0);
  disk_.set_fault(DiskFault::append_fails);
  const auto first = queue_entry("two");
  const auto second = queue_entry("three");
  EXPECT_FALSE(core_->queue->wait(first));
  EXPECT_EQ(undone, 2);
  EXPECT_FALSE(core_->queue->wait(second));
  EXPECT_EQ(undone, 2);
}

// A log that could not be written leaves open what is in it. What comes after that has not been in it.
TEST_F(CatalogChangeTest, OfWritesThatFailOnlyThoseThatReachedTheLogAreInDoubt) {
  const auto new_entry = [](const std::string& key) {
    auto entry = std::make_shared<CommitEntry>();
    entry->put(Family::meta, key, std::string(5 << 20, 'x'));  // two of these fill a batch
    return entry;
  };
  const auto code_of = [&](const std::shared_ptr<CommitEntry>& entry) {
    const auto outcome = core_->queue->wait(entry);
    return outcome ? "written" : outcome.error().code == base::ErrorCode::exhausted ? "refused" : "in doubt";
  };
  disk_.set_fault(DiskFault::sync_fails);
  std::vector<std::shared_ptr<CommitEntry>> entries;
  for (const char* const key : {"a", "b", "c"}) entries.push_back(new_entry(key));
  for (const auto& entry : entries) core_->queue->enqueue(entry);
  EXPECT_STREQ(code_of(entries[0]), "in doubt");
  EXPECT_STREQ(code_of(entries[1]), "in doubt");
  EXPECT_STREQ(code_of(entries[2]), "refused") << "it was in line behind the batch that failed";
  const auto later = new_entry("d");
  core_->queue->enqueue(later);
  EXPECT_STREQ(code_of(later), "refused") << "the disk had failed before";
}

}  // namespace
}  // namespace postino::engine
