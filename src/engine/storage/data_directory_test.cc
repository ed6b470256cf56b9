#include "engine/storage/data_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_directory.h"
#include "engine/storage/as_nobody_testing.h"
#include "engine/storage/file_contents_testing.h"

namespace postino::engine {
namespace {

using std::filesystem::path;
using testing::HasSubstr;

class DataDirectoryTest : public testing::Test {
 protected:
  // "" when it is ours to use.
  std::string prepare() const {
    const base::Result<void> prepared = prepare_data_directory(directory_);
    return prepared ? "" : prepared.error().message;
  }

  base::TemporaryDirectory parent_;
  const path directory_ = parent_.path() / "data";
};

TEST_F(DataDirectoryTest, IsMadeAndMarked) {
  EXPECT_EQ(prepare(), "");
  EXPECT_EQ(file_contents(directory_ / "POSTINO"), "postino data format 1\n");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "POSTINO.new"));
}

TEST_F(DataDirectoryTest, IsTakenAgain) {
  EXPECT_EQ(prepare(), "");
  put_contents(directory_ / "more", "");
  EXPECT_EQ(prepare(), "");
}

TEST_F(DataDirectoryTest, MayBeEmpty) {
  std::filesystem::create_directory(directory_);
  EXPECT_EQ(prepare(), "");
  EXPECT_EQ(file_contents(directory_ / "POSTINO"), "postino data format 1\n");
}

TEST_F(DataDirectoryTest, MayBeTheRootOfAFileSystem) {
  std::filesystem::create_directories(directory_ / "lost+found");
  EXPECT_EQ(prepare(), "");
}

// A crash between writing the marker and putting it in place.
TEST_F(DataDirectoryTest, MayHoldTheDraftOfAMarker) {
  std::filesystem::create_directory(directory_);
  put_contents(directory_ / "POSTINO.new", "postino da");
  EXPECT_EQ(prepare(), "");
  EXPECT_EQ(file_contents(directory_ / "POSTINO"), "postino data format 1\n");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "POSTINO.new"));
}

TEST_F(DataDirectoryTest, OfANewerFormatIsRefused) {
  EXPECT_EQ(prepare(), "");
  put_contents(directory_ / "POSTINO", "postino data format 2\n");
  EXPECT_EQ(prepare(), "the data directory has format 2, this version of Postino reads up to format 1");
}

TEST_F(DataDirectoryTest, OfSomebodyElseIsRefusedAndLeftAlone) {
  std::filesystem::create_directory(directory_);
  put_contents(directory_ / "letters.txt", "dear");
  EXPECT_EQ(prepare(), "'" + directory_.string() + "' is not empty and not a data directory of Postino");
  EXPECT_EQ(file_contents(directory_ / "letters.txt"), "dear");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "POSTINO"));
}

TEST_F(DataDirectoryTest, WithADamagedMarkerIsRefused) {
  EXPECT_EQ(prepare(), "");
  for (const char* text :
       {"", "\n", "something else\n", "postino data format \n", "postino data format x\n", "postino data format 0\n",
        "postino data format -1\n", "postino data format 1x\n", "postino data format 99999999999999999999\n"}) {
    put_contents(directory_ / "POSTINO", text);
    EXPECT_NE(prepare(), "") << text;
  }
}

TEST_F(DataDirectoryTest, NeedsItsParent) {
  const base::Result<void> prepared = prepare_data_directory(directory_ / "deeper");
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, base::ErrorCode::io);
  EXPECT_EQ(prepared.error().message,
            "cannot create the data directory '" + (directory_ / "deeper").string() + "': No such file or directory");
}

TEST_F(DataDirectoryTest, IsNoFile) {
  put_contents(directory_, "text");
  EXPECT_THAT(prepare(), HasSubstr("'" + directory_.string() + "'"));
  EXPECT_EQ(file_contents(directory_), "text");
}

TEST_F(DataDirectoryTest, ThatMayNotBeReadIsReported) {
  using std::filesystem::perms;
  EXPECT_EQ(prepare(), "");
  std::filesystem::permissions(parent_.path(), perms::owner_all | perms::others_read | perms::others_exec);
  for (const perms allowed : {perms::none, perms::owner_read | perms::others_read}) {
    std::filesystem::permissions(directory_, allowed);
    const AsNobody as_nobody;
    EXPECT_THAT(prepare(), HasSubstr("Permission denied"));
  }
  std::filesystem::permissions(directory_, perms::owner_all);
}

TEST_F(DataDirectoryTest, ThatMayNotBeReadIsNotMissing) {
  using std::filesystem::perms;
  EXPECT_EQ(prepare(), "");
  std::filesystem::permissions(directory_, perms::none);
  std::filesystem::permissions(parent_.path(), perms::owner_all | perms::others_read | perms::others_exec);
  {
    const AsNobody as_nobody;
    EXPECT_EQ(find_data_directory(directory_).error().code, base::ErrorCode::io);
  }
  std::filesystem::permissions(parent_.path(), perms::owner_all);
  {
    const AsNobody as_nobody;
    EXPECT_EQ(find_data_directory(directory_).error().code, base::ErrorCode::io);
  }
  std::filesystem::permissions(directory_, perms::owner_all);
}

TEST_F(DataDirectoryTest, WithAParentThatMayNotBeWrittenIsReported) {
  using std::filesystem::perms;
  std::filesystem::permissions(parent_.path(), perms::owner_read | perms::owner_exec);
  {
    const AsNobody as_nobody;
    EXPECT_THAT(prepare(), HasSubstr("Permission denied"));
  }
  std::filesystem::permissions(parent_.path(), perms::owner_all);
}

TEST_F(DataDirectoryTest, HasAPlaceForTheStore) {
  EXPECT_EQ(prepare(), "");
  EXPECT_TRUE(prepare_store_directory(directory_));
  EXPECT_TRUE(std::filesystem::is_directory(directory_ / "store"));
  EXPECT_TRUE(prepare_store_directory(directory_));
  EXPECT_EQ(prepare(), "");
}

std::filesystem::perms permissions_of(const path& file) { return std::filesystem::status(file).permissions(); }

TEST_F(DataDirectoryTest, IsPrivate) {
  using std::filesystem::perms;
  EXPECT_EQ(prepare(), "");
  EXPECT_TRUE(prepare_store_directory(directory_));
  EXPECT_EQ(permissions_of(directory_), perms::owner_all);
  EXPECT_EQ(permissions_of(directory_ / "store"), perms::owner_all);
}

TEST_F(DataDirectoryTest, OfAnOlderVersionIsMadePrivate) {
  using std::filesystem::perms;
  EXPECT_EQ(prepare(), "");
  EXPECT_TRUE(prepare_store_directory(directory_));
  put_contents(directory_ / "store" / "000012.log", "text");
  const perms open_file = perms::owner_read | perms::owner_write | perms::group_read | perms::others_read;
  const perms open_directory = open_file | perms::owner_exec | perms::group_exec | perms::others_exec;
  std::filesystem::permissions(directory_, open_directory);
  std::filesystem::permissions(directory_ / "store", open_directory);
  std::filesystem::permissions(directory_ / "POSTINO", open_file);
  std::filesystem::permissions(directory_ / "store" / "000012.log", open_file);
  make_private(directory_);
  EXPECT_EQ(permissions_of(directory_), perms::owner_all);
  EXPECT_EQ(permissions_of(directory_ / "store"), perms::owner_all);
  EXPECT_EQ(permissions_of(directory_ / "POSTINO"), perms::owner_read | perms::owner_write);
  EXPECT_EQ(permissions_of(directory_ / "store" / "000012.log"), perms::owner_read | perms::owner_write);
}

TEST_F(DataDirectoryTest, OneStoreAtATimeHasTheDirectory) {
  EXPECT_EQ(prepare(), "");
  {
    const auto lock = DataDirectoryLock::take(directory_);
    ASSERT_TRUE(lock);
    const auto second = DataDirectoryLock::take(directory_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, base::ErrorCode::conflict);
    EXPECT_THAT(second.error().message, HasSubstr("is in use by another process"));
  }
  EXPECT_TRUE(DataDirectoryLock::take(directory_));
}

}  // namespace
}  // namespace postino::engine
