// What is particular to directories; the rest of the contract is in tests/objects.
#include "objects/directory_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/temporary_directory.h"

namespace postino::objects {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using testing::HasSubstr;

class DirectoryObjectsTest : public testing::Test {
 protected:
  std::unique_ptr<DirectoryObjects> open() {
    auto opened = DirectoryObjects::open(path_, "bucket", clock_, random_);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  static unsigned mode_of(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777U;
  }

  base::TemporaryDirectory directory_;
  const fs::path path_ = directory_.path() / "objects";
  base::ManualClock clock_{base::TimePoint(base::Milliseconds(1'794'735'000'000))};
  base::SeededRandom random_{1};
};

TEST_F(DirectoryObjectsTest, FilesAreForThisUserAlone) {
  const auto objects = open();
  ASSERT_TRUE(objects->put("a/TICKET#1/x.json", "bytes"));
  EXPECT_EQ(mode_of(path_), 0700U);
  EXPECT_EQ(mode_of(path_ / "a" / "TICKET#1"), 0700U);
  EXPECT_EQ(mode_of(path_ / "a" / "TICKET#1" / "=x.json"), 0600U);
}

TEST_F(DirectoryObjectsTest, NoNameLeadsElsewhere) {
  const auto objects = open();
  std::ofstream(directory_.path() / "=secret") << "outside";
  for (const char* name : {"../secret", "a/../../secret", "/etc/passwd", ".unfinished/../x", "a\\b", ""}) {
    EXPECT_FALSE(objects->put(name, "bytes")) << name;
    EXPECT_FALSE(objects->get(name)) << name;
    EXPECT_FALSE(objects->remove(name)) << name;
  }
  // Names that look like the directory's own files are names like any other.
  for (const char* const name : {".unfinished/x", "=a/b", "=a", ".a", ".part"}) {
    EXPECT_TRUE(objects->put(name, name));
    EXPECT_EQ(objects->get(name).value_or("-"), name);
  }
  EXPECT_TRUE(fs::exists(path_ / "\\.unfinished" / "=x"));
  fs::create_directory_symlink(directory_.path(), path_ / "up");
  const auto behind = objects->get("up/secret");
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code, ErrorCode::corrupt) << "it is there all the same";
  EXPECT_THAT(behind.error().message, HasSubstr("symbolic link"));
  EXPECT_FALSE(objects->put("up/new", "bytes"));
  EXPECT_FALSE(fs::exists(directory_.path() / "=new"));
  EXPECT_EQ(objects->list("", "", 100)->objects.size(), 5U) << "nothing behind the link";
}

TEST_F(DirectoryObjectsTest, AFileThatMayNotBeReadIsToldOf) {
  const auto objects = open();
  ASSERT_TRUE(objects->put("a/x", "bytes"));
  fs::permissions(path_ / "a" / "=x", fs::perms::none);
  // As another user than root, whom nothing stops: for this thread alone.
  std::thread([&] {
    constexpr uid_t other_user = 65'534;
    setfsuid(other_user);
    const auto got = objects->get("a/x");
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::corrupt) << got.error().message;
    EXPECT_THAT(got.error().message, HasSubstr("Permission denied"));
  }).join();
}

TEST_F(DirectoryObjectsTest, FilesOfOthersAreNoObjects) {
  const auto objects = open();
  ASSERT_TRUE(objects->put("a/x", "bytes"));
  std::ofstream(path_ / "a" / "README") << "text";
  std::ofstream(path_ / "a" / ".x.swp") << "text";
  fs::create_directory(path_ / "lost+found");
  fs::create_directory(path_ / "a" / "=y");
  const auto page = objects->list("", "", 100);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].name, "a/x");
  const auto folder = objects->get("a/y");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::corrupt);
}

TEST_F(DirectoryObjectsTest, EmptyFoldersGoWithTheLastObject) {
  const auto objects = open();
  ASSERT_TRUE(objects->put("a/b/c/x", "bytes"));
  ASSERT_TRUE(objects->put("a/y", "bytes"));
  ASSERT_TRUE(objects->remove("a/b/c/x"));
  EXPECT_FALSE(fs::exists(path_ / "a" / "b"));
  EXPECT_TRUE(fs::exists(path_ / "a" / "=y"));
  ASSERT_TRUE(objects->remove("a/y"));
  EXPECT_FALSE(fs::exists(path_ / "a"));
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(DirectoryObjectsTest, WhatACrashLeftUnfinishedGoesAfterADay) {
  ASSERT_TRUE(open()->put("x", "bytes"));
  const fs::path left = path_ / ".unfinished" / "left";
  std::ofstream(left) << "half";
  const auto now = std::chrono::file_clock::from_sys(clock_.now());
  fs::last_write_time(left, now - std::chrono::hours(23));
  EXPECT_EQ(open()->list("", "", 100)->objects.size(), 1U) << "it is no object";
  EXPECT_TRUE(fs::exists(left)) << "somebody may be writing it";
  fs::last_write_time(left, now - std::chrono::hours(25));
  EXPECT_EQ(open()->get("x").value_or("-"), "bytes");
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(DirectoryObjectsTest, ADirectoryThatIsGoneIsNotAnEmptyOne) {
  const auto objects = open();
  ASSERT_TRUE(objects->put("x", "bytes"));
  ASSERT_TRUE(objects->put("y/z", "bytes"));
  ASSERT_TRUE(objects->list("", "", 1)->has_more);
  fs::rename(path_, directory_.path() / "elsewhere");
  for (const char* after : {"", "x"}) {
    const auto page = objects->list("", after, 100);
    ASSERT_FALSE(page) << after;
    EXPECT_EQ(page.error().code, ErrorCode::io);
  }
  std::ofstream(path_) << "a file";
  EXPECT_FALSE(DirectoryObjects::open(path_, "bucket", clock_, random_));
}

// Looking at all objects takes as long as there are folders, not as their square.
TEST_F(DirectoryObjectsTest, APageGoesOnWhereTheLastOneEnded) {
  const auto objects = open();
  constexpr int folders = 60;
  for (int i = 0; i < folders; ++i) ASSERT_TRUE(objects->put("t/" + std::to_string(i) + "/x", "bytes"));
  std::string after;
  int seen = 0;
  for (bool has_more = true; has_more;) {
    const auto page = objects->list("t/", after, 7);
    ASSERT_TRUE(page);
    seen += static_cast<int>(page->objects.size());
    has_more = page->has_more;
    after = page->objects.back().name;
  }
  EXPECT_EQ(seen, folders);
  EXPECT_EQ(objects->folders_read(), folders + 2U) << "each once, with the directory and the folder of them all";
}

TEST_F(DirectoryObjectsTest, AListThatWasBegunLongAgoIsReadAgain) {
  const auto objects = open();
  for (const char* name : {"a", "c"}) ASSERT_TRUE(objects->put(name, "bytes"));
  ASSERT_TRUE(objects->list("", "", 1)->has_more);
  ASSERT_TRUE(objects->put("b", "bytes"));
  clock_.advance(std::chrono::hours(1));
  const auto page = objects->list("", "a", 1);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->objects.at(0).name, "b");
}

TEST_F(DirectoryObjectsTest, TimesAreThoseOfTheClock) {
  const auto objects = open();
  ASSERT_TRUE(objects->put("x", "bytes"));
  const auto written = clock_.now();
  clock_.advance(std::chrono::hours(2));
  const auto page = objects->list("", "", 100);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->objects.at(0).modified, written);
  EXPECT_EQ(page->now, clock_.now());
}

}  // namespace
}  // namespace postino::objects
