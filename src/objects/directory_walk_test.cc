#include "objects/directory_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/random.h"
#include "base/temporary_directory.h"
#include "objects/directory_names.h"

namespace postino::objects {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::ElementsAreArray;

class DirectoryWalkTest : public testing::Test {
 protected:
  void put(const std::string& name) {
    const fs::path file = directory_.path() / file_of(name);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "bytes";
  }
  // All names, in pages of so many.
  static std::vector<std::string> names(DirectoryWalk& walk, std::size_t limit) {
    std::vector<std::string> found;
    for (bool has_more = true; has_more;) {
      const auto page = walk.next(limit);
      EXPECT_TRUE(page);
      if (!page) break;
      EXPECT_LE(page->objects.size(), limit);
      for (const ObjectInfo& object : page->objects) found.push_back(object.name);
      has_more = page->has_more;
      EXPECT_TRUE(!has_more || walk.last() == found.back());
    }
    return found;
  }

  base::TemporaryDirectory directory_;
};

TEST_F(DirectoryWalkTest, FilesHaveTheNamesOfObjects) {
  EXPECT_EQ(file_of("c.json"), "=c.json");
  EXPECT_EQ(file_of("a/.b/=c/d"), "a/\\.b/\\=c/=d");
  EXPECT_EQ(folder_of(""), "");
  EXPECT_EQ(folder_of("a/.b/"), "a/\\.b/");
}

// Whatever fits into memory, and however large a page is.
TEST_F(DirectoryWalkTest, FindsAllInTheirOrder) {
  base::SeededRandom random(11);
  const std::string letters = "a!/0.=-";
  std::set<std::string> all = {"a/0", "!0"};
  for (const std::string& name : all) put(name);
  while (all.size() < 60) {
    std::string name;
    for (std::uint64_t i = 0, count = 1 + random.next() % 7; i < count; ++i) name += letters[random.next() % 7];
    if (check_object_name(name) && all.insert(name).second) put(name);
  }
  for (const std::size_t kept : {1U, 2U, 5U, 1'000U})
    for (const std::size_t limit : {1U, 3U, 1'000U})
      for (const char* const prefix : {"", "a", "a/", "!"}) {
        SCOPED_TRACE(std::to_string(kept) + " kept, pages of " + std::to_string(limit) + ", prefix " + prefix);
        DirectoryWalk walk(directory_.path(), prefix, "", kept);
        std::vector<std::string> wanted;
        std::ranges::copy_if(all, std::back_inserter(wanted),
                             [&](const std::string& name) { return name.starts_with(prefix); });
        EXPECT_THAT(names(walk, limit), ElementsAreArray(wanted));
        const std::string& after = wanted.at(wanted.size() / 2);
        DirectoryWalk rest(directory_.path(), prefix, after, kept);
        wanted.erase(wanted.begin(), std::ranges::upper_bound(wanted, after));
        EXPECT_THAT(names(rest, limit), ElementsAreArray(wanted)) << "after " << after;
      }
}

TEST_F(DirectoryWalkTest, ALargeFolderIsReadInParts) {
  for (int i = 0; i < 100; ++i) put("t/" + std::to_string(i));
  DirectoryWalk walk(directory_.path(), "t/", "", 25);
  EXPECT_EQ(names(walk, 10).size(), 100U);
  EXPECT_LE(walk.folders_read(), 6U) << "the directory, and the folder for each of four parts";
}

TEST_F(DirectoryWalkTest, WhatIsRemovedOrReplacedMeanwhileIsNotFollowed) {
  for (const char* name : {"a", "b/x", "c/x", "d/x", "e"}) put(name);
  DirectoryWalk walk(directory_.path(), "", "");
  EXPECT_EQ(walk.next(1)->objects.at(0).name, "a");
  fs::remove_all(directory_.path() / "c");
  fs::rename(directory_.path() / "d", directory_.path() / "elsewhere");
  fs::create_directory_symlink(directory_.path() / "elsewhere", directory_.path() / "d");
  EXPECT_THAT(names(walk, 10), ElementsAre("b/x", "e"));
}

}  // namespace
}  // namespace postino::objects
