#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/temporary_directory.h"
#include "outbox/ledger/directory_spool.h"
#include "outbox/ledger/enclosed_file.h"

namespace postino::outbox {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using testing::HasSubstr;

constexpr base::TimePoint start{base::Milliseconds(1'794'735'000'000)};  // 2026-11-15T09:30:00Z

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  ASSERT_TRUE(file.good()) << path;
}

template <class T>
std::string fault(const base::Result<T>& result) {
  return result ? "none" : result.error().message;
}

class EnclosedFileTest : public testing::Test {
 protected:
  EnclosedFileTest() {
    fs::create_directories(base_ / "inside");
    write_file(base_ / "inside" / "a.txt", "inside");
    write_file(directory_.path() / "secret.txt", "outside");
    const auto opened = open_directory(base_.string());
    EXPECT_TRUE(opened);
    descriptor_ = opened.value_or(-1);
  }
  ~EnclosedFileTest() override { close(descriptor_); }

  base::Result<std::string> read(const std::string& path, std::size_t most = 1'000) {
    return read_enclosed_file(descriptor_, path, most);
  }
  ErrorCode code_of(const std::string& path, std::size_t most = 1'000) {
    const auto result = read(path, most);
    EXPECT_FALSE(result) << path;
    return result ? ErrorCode::io : result.error().code;
  }

  base::TemporaryDirectory directory_;
  const fs::path base_ = directory_.path() / "base";
  int descriptor_ = -1;
};

TEST_F(EnclosedFileTest, ReadsAPlainFileBelowTheDirectory) {
  EXPECT_EQ(read("inside/a.txt").value_or("-"), "inside");
  EXPECT_EQ(read("inside/../inside/a.txt").value_or("-"), "inside") << "this does not lead out";
  write_file(base_ / "empty", "");
  EXPECT_EQ(read("empty").value_or("-"), "");
}

TEST_F(EnclosedFileTest, NothingLeadsOut) {
  fs::create_symlink(directory_.path() / "secret.txt", base_ / "link");
  fs::create_symlink("../secret.txt", base_ / "relative");
  fs::create_symlink("..", base_ / "up");
  fs::create_symlink("a.txt", base_ / "inside" / "harmless");
  for (const std::string& path :
       {std::string("../secret.txt"), std::string("inside/../../secret.txt"),
        (directory_.path() / "secret.txt").string(), std::string("link"), std::string("relative"),
        std::string("up/secret.txt"), std::string("inside/harmless"), std::string("/proc/self/cwd/secret.txt")}) {
    EXPECT_EQ(code_of(path), ErrorCode::not_found) << path;
    EXPECT_THAT(fault(read(path)), HasSubstr("there is no such file")) << "it must not tell what there is";
  }
}

TEST_F(EnclosedFileTest, WhatIsMissingIsNotFound) {
  EXPECT_EQ(code_of("inside/b.txt"), ErrorCode::not_found);
  EXPECT_EQ(code_of("inside/a.txt/b"), ErrorCode::not_found);
  EXPECT_EQ(code_of(""), ErrorCode::not_found);
  EXPECT_EQ(code_of(std::string(300, 'n')), ErrorCode::not_found) << "no file has such a name";
  EXPECT_EQ(code_of(std::string(5'000, 'n')), ErrorCode::not_found);
}

TEST_F(EnclosedFileTest, OnlyPlainFilesAreRead) {
  ASSERT_EQ(mkfifo((base_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(code_of("pipe"), ErrorCode::invalid) << "and it does not wait for a writer";
  EXPECT_EQ(code_of("inside"), ErrorCode::invalid);
  EXPECT_EQ(code_of("."), ErrorCode::invalid);
  ASSERT_EQ(mknod((base_ / "socket").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(code_of("socket"), ErrorCode::invalid);
}

TEST_F(EnclosedFileTest, LargeFilesAreRefused) {
  EXPECT_TRUE(read("inside/a.txt", 6));
  EXPECT_EQ(code_of("inside/a.txt", 5), ErrorCode::invalid);
  EXPECT_THAT(fault(read("inside/a.txt", 5)), HasSubstr("larger than 5 bytes"));
}

TEST_F(EnclosedFileTest, WritesWholeFilesWithTheirDirectoriesOnce) {
  ASSERT_TRUE(write_enclosed_file(descriptor_, "2026/11/x.json", "bytes", start));
  EXPECT_EQ(read("2026/11/x.json").value_or("-"), "bytes");
  const auto again = write_enclosed_file(descriptor_, "2026/11/x.json", "other", start);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
  EXPECT_EQ(read("2026/11/x.json").value_or("-"), "bytes");
  EXPECT_EQ(std::distance(fs::directory_iterator(base_ / "2026" / "11"), {}), 1) << "nothing half done stays";
  ASSERT_TRUE(write_enclosed_file(descriptor_, "2026/11/y.json", "", start));
  struct stat status {};
  ASSERT_EQ(stat((base_ / "2026/11/x.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mtime, 1'794'735'000);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(EnclosedFileTest, NothingIsWrittenOrRemovedOutside) {
  fs::create_symlink(directory_.path(), base_ / "up");
  for (const char* path : {"../new/x", "../x", "up/new/x", "up/x", "/tmp/postino-new/x"})
    EXPECT_FALSE(write_enclosed_file(descriptor_, path, "bytes", start)) << path;
  EXPECT_FALSE(fs::exists(directory_.path() / "new"));
  EXPECT_FALSE(fs::exists(directory_.path() / "x"));
  for (const char* path : {"../secret.txt", "up/secret.txt"}) EXPECT_FALSE(remove_enclosed_file(descriptor_, path));
  EXPECT_TRUE(fs::exists(directory_.path() / "secret.txt"));
  EXPECT_TRUE(remove_enclosed_file(descriptor_, "inside/a.txt"));
  const auto gone = remove_enclosed_file(descriptor_, "inside/a.txt");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
}

class DirectorySpoolTest : public testing::Test {
 protected:
  DirectorySpoolTest() {
    auto opened = DirectorySpool::open(directory_.path() / "a" / "spool", random_);
    EXPECT_TRUE(opened) << fault(opened);
    if (opened) spool_ = *std::move(opened);
  }
  static SpoolObject object(std::string bytes, base::TimePoint keep_until = start + std::chrono::hours(24)) {
    return {SpoolKind::payload, "e1", start, std::move(bytes), keep_until};
  }

  base::TemporaryDirectory directory_;
  base::SeededRandom random_{1};
  std::unique_ptr<DirectorySpool> spool_;
};

TEST_F(DirectorySpoolTest, KeepsWhatWasWritten) {
  const auto path = spool_->write(object("one"));
  ASSERT_TRUE(path) << fault(path);
  EXPECT_THAT(*path, testing::MatchesRegex("2026/11/e1-[0-9a-f]{8}\\.json"));
  const auto second = spool_->write(object("two"));
  ASSERT_TRUE(second);
  EXPECT_NE(*path, *second) << "nothing is overwritten";
  EXPECT_EQ(spool_->read(*path).value_or("-"), "one");
  EXPECT_EQ(spool_->read(*second).value_or("-"), "two");
  SpoolObject message = object("m");
  message.kind = SpoolKind::message;
  EXPECT_THAT(spool_->write(message).value_or(""), testing::EndsWith(".eml"));
}

TEST_F(DirectorySpoolTest, RemovedAndUnknownObjectsAreNotFound) {
  const auto path = spool_->write(object("one"));
  ASSERT_TRUE(path);
  EXPECT_TRUE(spool_->remove(*path));
  EXPECT_EQ(spool_->read(*path).error().code, ErrorCode::not_found);
  EXPECT_EQ(spool_->remove(*path).error().code, ErrorCode::not_found);
  EXPECT_EQ(spool_->read("../../x").error().code, ErrorCode::not_found);
}

TEST_F(DirectorySpoolTest, SweepsWhatIsOver) {
  const auto early = spool_->write(object("early", start + std::chrono::seconds(10)));
  const auto late = spool_->write(object("late", start + std::chrono::seconds(20)));
  ASSERT_TRUE(early && late);
  EXPECT_EQ(spool_->sweep(start + std::chrono::seconds(10)).value_or(-1), 0);
  EXPECT_EQ(spool_->sweep(start + std::chrono::seconds(11)).value_or(-1), 1);
  EXPECT_FALSE(spool_->read(*early));
  EXPECT_TRUE(spool_->read(*late));
}

TEST_F(DirectorySpoolTest, PayloadsOfOtherProgramsAreReadAndNotSweptAway) {
  const fs::path spool = directory_.path() / "a" / "spool";
  const std::string name = "8888c4a9-0c65-8959-b622-f0ff3604135e.json";
  fs::create_directories(spool / "2026" / "11");
  write_file(spool / "2026" / "11" / name, "theirs");
  EXPECT_EQ(spool_->sweep(start + std::chrono::hours(24 * 3'650)).value_or(-1), 0);
  EXPECT_EQ(spool_->read("2026/11/" + name).value_or("-"), "theirs");
}

TEST_F(DirectorySpoolTest, SweepLeavesFilesThatAreBeingWritten) {
  const fs::path unfinished = directory_.path() / "a" / "spool" / "x.json.part";
  write_file(unfinished, "half");
  const auto now = std::chrono::time_point_cast<base::Milliseconds>(
      std::chrono::file_clock::to_sys(fs::last_write_time(unfinished)));
  EXPECT_EQ(spool_->sweep(now + std::chrono::hours(23)).value_or(-1), 0);
  EXPECT_TRUE(fs::exists(unfinished));
  EXPECT_EQ(spool_->sweep(now + std::chrono::hours(25)).value_or(-1), 1) << "its writer is long gone";
}

TEST_F(DirectorySpoolTest, ADirectoryThatCannotBeMadeIsAnError) {
  write_file(directory_.path() / "file", "");
  const auto opened = DirectorySpool::open(directory_.path() / "file" / "spool", random_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace postino::outbox
