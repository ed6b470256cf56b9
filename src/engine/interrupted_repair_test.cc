// A repair that is killed at any moment: what it leaves is no store, and the next repair finishes it or starts over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine_testing.h"
#include "engine/recovery/repair_files.h"
#include "engine/recovery/table_file.h"
#include "engine/storage/database.h"
#include "engine/storage/file_contents_testing.h"
#include "engine/store_check.h"
#include "engine/store_repair.h"

namespace postino::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int interrupted_items = 60;

// As far as it can be copied: files come and go meanwhile.
void copy_tree(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (entry->is_directory(gone))
      copy_tree(entry->path(), to / entry->path().filename());
    else
      fs::copy_file(entry->path(), to / entry->path().filename(), gone);
  }
}

class InterruptedRepairTest : public EngineTest {
 protected:
  // What is on the disks when the process ends.
  struct Moment {
    std::string step;
    fs::path copy;
  };

  InterruptedRepairTest() {
    create(table("letters", "id:S"));
    for (int number = 0; number < interrupted_items; ++number)
      put("letters", R"({"id":{"S":")" + std::to_string(number) + R"("},"text":{"S":")" + std::string(500, 'x') +
                         std::to_string(number * 7919) + R"("}})");
    engine_.reset();
    for (const auto& entry : fs::directory_iterator(data() / "store")) {
      if (entry.path().extension() != ".sst") continue;
      const auto file = TableFile::open(entry.path());
      if (file && file->family() == static_cast<std::uint64_t>(Family::items)) damaged_file_ = entry.path().filename();
    }
    std::string contents = file_contents(data() / "store" / damaged_file_);
    contents.at(60) = static_cast<char>(contents[60] ^ 4);
    put_contents(data() / "store" / damaged_file_, contents);
    damaged_bytes_ = contents;
    put_contents(data() / "mine.txt", "of the operator");
  }

  const fs::path& data() const { return options_.directory; }

  // Keeps what there is after each step of a repair, which is carried out as a whole.
  std::vector<Moment> moments_of_repair(const std::optional<fs::path>& target) {
    std::vector<Moment> moments;
    const auto repaired = repair_store(data(), target, *clock_, {}, [&](std::string_view step) {
      const fs::path copy = directory_.path() / "moments" / std::to_string(++moments_);
      copy_tree(data(), copy / "data");
      if (target && is_path_there(*target)) copy_tree(*target, copy / "target");
      moments.push_back({std::string(step), copy});
    });
    EXPECT_TRUE(repaired) << repaired.error().message;
    if (repaired) lost_ = repaired->lost.count();
    return moments;
  }
  void bring_back(const Moment& moment, const std::optional<fs::path>& target) {
    fs::remove_all(data());
    copy_tree(moment.copy / "data", data());
    if (!target) return;
    fs::remove_all(*target);
    if (is_path_there(moment.copy / "target")) copy_tree(moment.copy / "target", *target);
  }

  std::string refusal_of_start(const fs::path& directory) {
    Options options = options_;
    options.directory = directory;
    const auto opened = Engine::open(options);
    return opened ? "none" : opened.error().message;
  }
  std::vector<fs::path> places_with_a_store() const {
    std::vector<fs::path> places;
    for (const auto& entry : fs::directory_iterator(data()))
      if (entry.path().filename().string().starts_with("damaged-") && is_path_there(entry.path() / "store"))
        places.push_back(entry.path());
    return places;
  }
  bool has_damaged_store(const fs::path& place) const {
    return file_contents(place / "store" / damaged_file_) == damaged_bytes_;
  }

  // The store is repaired, and the damaged one is where it should be.
  void expect_repaired(const std::optional<fs::path>& target, const std::string& when) {
    const auto checked = check_store(data(), *clock_);
    ASSERT_TRUE(checked) << when;
    EXPECT_THAT(checked->problems.lines(), IsEmpty()) << when;
    EXPECT_FALSE(is_path_there(data() / "repairing")) << when;
    EXPECT_EQ(file_contents(data() / "mine.txt"), "of the operator") << when;
    if (target) {
      EXPECT_TRUE(has_damaged_store(*target)) << when;
      EXPECT_FALSE(is_path_there(*target / "UNFINISHED")) << when;
      EXPECT_TRUE(is_path_there(*target / "LOST")) << when;
      EXPECT_TRUE(is_path_there(*target / "STATE")) << when;
      for (const fs::path& place : places_with_a_store()) EXPECT_TRUE(has_damaged_store(place)) << when;
    } else {
      ASSERT_THAT(places_with_a_store(), testing::SizeIs(1)) << when;
      EXPECT_TRUE(has_damaged_store(places_with_a_store().front())) << when;
    }
    reopen();
    store::ScanRequest scan;
    scan.table_name = "letters";
    scan.consistent_read = true;
    const auto page = store().scan(scan);
    ASSERT_TRUE(page) << when;
    EXPECT_GT(page->items.size(), interrupted_items / 2u) << when;
    EXPECT_LT(page->items.size(), interrupted_items + 0u) << when;
    engine_.reset();
  }

  void expect_next_repair_helps(const Moment& moment, const std::optional<fs::path>& target) {
    bring_back(moment, target);
    EXPECT_NE(refusal_of_start(data()), "none") << moment.step;
    if (is_path_there(data() / "repairing")) {
      EXPECT_THAT(refusal_of_start(data()), HasSubstr("was interrupted. Run 'postino repair")) << moment.step;
      EXPECT_THAT(check_store(data(), *clock_)->notes, testing::Contains(HasSubstr("a repair was interrupted")));
    }
    const bool is_marked = target && is_path_there(*target / "UNFINISHED");
    if (is_marked) {
      EXPECT_THAT(refusal_of_start(*target), HasSubstr("is not a data directory")) << moment.step;
      EXPECT_EQ(check_store(*target, *clock_).error().code, base::ErrorCode::invalid) << moment.step;
      EXPECT_EQ(repair_store(*target, std::nullopt, *clock_).error().code, base::ErrorCode::invalid) << moment.step;
      put_contents(*target / "mine.txt", "of the operator");
    }
    const auto repaired = repair_store(data(), target, *clock_);
    ASSERT_TRUE(repaired) << moment.step << ": " << repaired.error().message;
    EXPECT_EQ(repaired->unfinished, "") << moment.step;
    EXPECT_TRUE(repaired->recount_due) << moment.step;
    if (is_marked) {
      EXPECT_EQ(file_contents(*target / "mine.txt"), "of the operator") << moment.step;
    }
    expect_repaired(target, moment.step);
  }

  void expect_any_moment_is_survived(const std::optional<fs::path>& target) {
    const std::vector<Moment> moments = moments_of_repair(target);
    EXPECT_GE(moments.size(), 9u);
    EXPECT_EQ(lost_, 1u);
    expect_repaired(target, "the whole repair");
    for (const Moment& moment : moments) expect_next_repair_helps(moment, target);
  }

  std::string damaged_file_;
  std::string damaged_bytes_;
  std::uint64_t lost_ = 0;
  int moments_ = 0;
};

TEST_F(InterruptedRepairTest, BelowTheDataDirectory) { expect_any_moment_is_survived(std::nullopt); }

TEST_F(InterruptedRepairTest, WithATargetOnTheSameDisk) {
  expect_any_moment_is_survived(directory_.path() / "kept");
  EXPECT_THAT(places_with_a_store(), IsEmpty());
}

// If there is one: files of tests are in memory, and others are not.
TEST_F(InterruptedRepairTest, WithATargetOnAnotherDisk) {
  const base::TemporaryDirectory other;
  expect_any_moment_is_survived(other.path() / "kept");
}

TEST_F(InterruptedRepairTest, TheNextRepairMayBeInterruptedAsWell) {
  const fs::path target = directory_.path() / "kept";
  for (const Moment& moment : moments_of_repair(target)) {
    if (moment.step != "the stores are exchanged" && moment.step != "the new store is in the place") continue;
    bring_back(moment, target);
    for (const Moment& second : moments_of_repair(target)) expect_next_repair_helps(second, target);
  }
}

// Where a file system cannot exchange two directories at once.
TEST_F(InterruptedRepairTest, BetweenTheRenamesOfAnExchange) {
  for (const bool with_target : {false, true}) {
    const auto target = with_target ? std::optional(directory_.path() / "kept") : std::nullopt;
    const std::vector<Moment> moments = moments_of_repair(target);
    const auto moment = std::ranges::find(moments, "the new store is in the place", &Moment::step);
    ASSERT_NE(moment, moments.end());
    for (const int renames : {1, 2}) {
      bring_back(*moment, target);
      ASSERT_THAT(places_with_a_store(), testing::SizeIs(1));
      const fs::path place = places_with_a_store().front() / "store";
      fs::rename(data() / "store", aside_of(place));
      if (renames == 2) fs::rename(place, data() / "store");
      const fs::path copy = directory_.path() / "moments" / ("renamed-" + std::to_string(renames));
      fs::remove_all(copy);
      copy_tree(data(), copy / "data");
      if (target) copy_tree(*target, copy / "target");
      expect_next_repair_helps({"after rename " + std::to_string(renames), copy}, target);
    }
    bring_back(moments.front(), target);
    if (target) fs::remove_all(*target);
  }
}

TEST_F(InterruptedRepairTest, WhatIsNotOfThisRepairIsNoTarget) {
  const fs::path target = directory_.path() / "kept";
  fs::create_directories(target);
  put_contents(target / "mine.txt", "x");
  EXPECT_THAT(repair_store(data(), target, *clock_).error().message, HasSubstr("is there already"));
  put_contents(target / "UNFINISHED", "/srv/another\n");
  fs::create_directories(target / "store");
  put_contents(target / "store" / "CURRENT", "theirs");
  EXPECT_THAT(repair_store(data(), target, *clock_).error().message,
              HasSubstr("an interrupted repair of '/srv/another' has left"));
  EXPECT_EQ(file_contents(target / "store" / "CURRENT"), "theirs");
  fs::remove_all(target);
  put_contents(target, "a file");
  EXPECT_THAT(repair_store(data(), target, *clock_).error().message, HasSubstr("is there already"));
  EXPECT_EQ(file_contents(target), "a file");
}

TEST_F(InterruptedRepairTest, AnEmptyDirectoryIsATarget) {
  const fs::path target = directory_.path() / "kept";
  fs::create_directories(target);
  put_contents(target / "UNFINISHED", "");  // of a process that ended before it could write more
  const auto repaired = repair_store(data(), target, *clock_);
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_EQ(repaired->kept_in, target);
  expect_repaired(target, "");
}

}  // namespace
}  // namespace postino::engine
