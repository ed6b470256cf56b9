#include "base/temporary_directory.h"

#include <gtest/gtest.h>

#include <fstream>

namespace postino::base {
namespace {

TEST(TemporaryDirectory, IsThereWhileItsOwnerLivesAndThenGone) {
  std::filesystem::path path;
  {
    const TemporaryDirectory directory;
    path = directory.path();
    std::ofstream(path / "file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryDirectory, StandsBelowTheGivenParent) {
  const TemporaryDirectory parent;
  const TemporaryDirectory first(parent.path()), second(parent.path());
  EXPECT_EQ(first.path().parent_path(), parent.path());
  EXPECT_NE(first.path(), second.path());
}

}  // namespace
}  // namespace postino::base
