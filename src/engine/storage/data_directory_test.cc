#include "engine/storage/data_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/temporary_directory.h"

namespace postino::engine {
namespace {

using std::filesystem::path;
using testing::HasSubstr;

void write_file(const path& file, std::string_view text) { std::ofstream(file, std::ios::binary) << text; }

std::string read_file(const path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// To the superuser nothing is forbidden; as nobody, everything that others may not do is.
class AsNobody {
 public:
  AsNobody() { become(nobody); }
  ~AsNobody() { become(0); }

 private:
  static constexpr uid_t nobody = 65'534;
  static void become(uid_t user) { EXPECT_TRUE(::getuid() != 0 || ::seteuid(user) == 0); }
};

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
  EXPECT_EQ(read_file(directory_ / "POSTINO"), "postino data format 1\n");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "POSTINO.new"));
}

TEST_F(DataDirectoryTest, IsTakenAgain) {
  EXPECT_EQ(prepare(), "");
  write_file(directory_ / "more", "");
  EXPECT_EQ(prepare(), "");
}

TEST_F(DataDirectoryTest, MayBeEmpty) {
  std::filesystem::create_directory(directory_);
  EXPECT_EQ(prepare(), "");
  EXPECT_EQ(read_file(directory_ / "POSTINO"), "postino data format 1\n");
}

TEST_F(DataDirectoryTest, MayBeTheRootOfAFileSystem) {
  std::filesystem::create_directories(directory_ / "lost+found");
  EXPECT_EQ(prepare(), "");
}

// A crash between writing the marker and putting it in place.
TEST_F(DataDirectoryTest, MayHoldTheDraftOfAMarker) {
  std::filesystem::create_directory(directory_);
  write_file(directory_ / "POSTINO.new", "postino da");
  EXPECT_EQ(prepare(), "");
  EXPECT_EQ(read_file(directory_ / "POSTINO"), "postino data format 1\n");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "POSTINO.new"));
}

TEST_F(DataDirectoryTest, OfANewerFormatIsRefused) {
  EXPECT_EQ(prepare(), "");
  write_file(directory_ / "POSTINO", "postino data format 2\n");
  EXPECT_EQ(prepare(), "the data directory has format 2, this version of Postino reads up to format 1");
}

TEST_F(DataDirectoryTest, OfSomebodyElseIsRefusedAndLeftAlone) {
  std::filesystem::create_directory(directory_);
  write_file(directory_ / "letters.txt", "dear");
  EXPECT_EQ(prepare(), "'" + directory_.string() + "' is not empty and not a data directory of Postino");
  EXPECT_EQ(read_file(directory_ / "letters.txt"), "dear");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "POSTINO"));
}

TEST_F(DataDirectoryTest, WithADamagedMarkerIsRefused) {
  EXPECT_EQ(prepare(), "");
  for (const char* text :
       {"", "\n", "something else\n", "postino data format \n", "postino data format x\n", "postino data format 0\n",
        "postino data format -1\n", "postino data format 1x\n", "postino data format 99999999999999999999\n"}) {
    write_file(directory_ / "POSTINO", text);
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
  write_file(directory_, "text");
  EXPECT_THAT(prepare(), HasSubstr("'" + directory_.string() + "'"));
  EXPECT_EQ(read_file(directory_), "text");
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
