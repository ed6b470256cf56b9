#include "objects/enclosed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/temporary_directory.h"
#include "objects/written_files_testing.h"

namespace postino::objects {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using testing::HasSubstr;

constexpr base::TimePoint written_at{base::Milliseconds(1'794'735'000'000)};  // 2026-11-15T09:30:00Z

class EnclosedFileTest : public testing::Test {
 protected:
  EnclosedFileTest() {
    fs::create_directories(base_ / "inside");
    write_file(base_ / "inside" / "a.txt", "inside");
    write_file(directory_.path() / "secret.txt", "outside");
    auto opened = open_directory(base_.string());
    EXPECT_TRUE(opened);
    if (opened) descriptor_ = *std::move(opened);
  }

  base::Result<std::string> read(const std::string& path, std::size_t most = 1'000) {
    return read_enclosed_file(descriptor_.number(), path, most);
  }
  ErrorCode code_of(const std::string& path, std::size_t most = 1'000) {
    const auto result = read(path, most);
    EXPECT_FALSE(result) << path;
    return result ? ErrorCode::io : result.error().code;
  }

  base::TemporaryDirectory directory_;
  const fs::path base_ = directory_.path() / "base";
  base::Descriptor descriptor_;
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
    EXPECT_THAT(error_text(read(path)), HasSubstr("there is no such file")) << "it must not tell what there is";
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
  EXPECT_THAT(error_text(read("inside/a.txt", 5)), HasSubstr("larger than 5 bytes"));
}

TEST_F(EnclosedFileTest, WritesWholeFilesWithTheirDirectoriesOnce) {
  ASSERT_TRUE(write_enclosed_file(descriptor_.number(), "2026/11/x.json", "bytes", written_at));
  EXPECT_EQ(read("2026/11/x.json").value_or("-"), "bytes");
  const auto again = write_enclosed_file(descriptor_.number(), "2026/11/x.json", "other", written_at);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
  EXPECT_EQ(read("2026/11/x.json").value_or("-"), "bytes");
  EXPECT_EQ(std::distance(fs::directory_iterator(base_ / "2026" / "11"), {}), 1) << "nothing half done stays";
  ASSERT_TRUE(write_enclosed_file(descriptor_.number(), "2026/11/y.json", "", written_at));
  struct stat status {};
  ASSERT_EQ(stat((base_ / "2026/11/x.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mtime, 1'794'735'000);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(EnclosedFileTest, ReplacesWholeFiles) {
  const int directory = descriptor_.number();
  ASSERT_TRUE(replace_enclosed_file(directory, "a/b/x", "first", written_at, ".unfinished/1"));
  EXPECT_EQ(read("a/b/x").value_or("-"), "first");
  ASSERT_TRUE(replace_enclosed_file(directory, "a/b/x", "second", written_at, ".unfinished/2"));
  EXPECT_EQ(read("a/b/x").value_or("-"), "second");
  EXPECT_TRUE(fs::is_empty(base_ / ".unfinished"));
  EXPECT_FALSE(replace_enclosed_file(directory, "a/b", "bytes", written_at, ".unfinished/3")) << "a directory";
  EXPECT_TRUE(fs::is_empty(base_ / ".unfinished")) << "nothing half done stays";
  struct stat status {};
  ASSERT_EQ(stat((base_ / "a/b/x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(stat((base_ / "a/b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(EnclosedFileTest, NothingIsWrittenOrRemovedOutside) {
  fs::create_symlink(directory_.path(), base_ / "up");
  for (const char* path : {"../new/x", "../x", "up/new/x", "up/x", "/tmp/postino-new/x"})
    EXPECT_FALSE(write_enclosed_file(descriptor_.number(), path, "bytes", written_at)) << path;
  for (const char* path : {"../new/x", "../x", "up/new/x", "up/x"})
    EXPECT_FALSE(replace_enclosed_file(descriptor_.number(), path, "bytes", written_at, ".unfinished/1")) << path;
  EXPECT_FALSE(replace_enclosed_file(descriptor_.number(), "y", "bytes", written_at, "up/x"));
  EXPECT_FALSE(fs::exists(directory_.path() / "new"));
  EXPECT_FALSE(fs::exists(directory_.path() / "x"));
  for (const char* path : {"../secret.txt", "up/secret.txt"})
    EXPECT_FALSE(remove_enclosed_file(descriptor_.number(), path));
  EXPECT_TRUE(fs::exists(directory_.path() / "secret.txt"));
  EXPECT_TRUE(remove_enclosed_file(descriptor_.number(), "inside/a.txt"));
  const auto gone = remove_enclosed_file(descriptor_.number(), "inside/a.txt");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace postino::objects
