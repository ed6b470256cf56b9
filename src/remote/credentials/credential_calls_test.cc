#include "remote/credentials/credential_calls.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/temporary_directory.h"

namespace postino::remote {
namespace {

TEST(SmallFile, IsReadAsAWhole) {
  const base::TemporaryDirectory directory;
  const std::string path = directory.path() / "keys";
  std::ofstream(path) << "[default]\n";
  EXPECT_EQ(read_small_file(path).value_or("none"), "[default]\n");
  EXPECT_FALSE(read_small_file(path, 5)) << "it is larger";
  EXPECT_EQ(read_small_file("/dev/null").value_or("none"), "");
  EXPECT_EQ(read_small_file(directory.path() / "other").error().code, base::ErrorCode::not_found);
}

TEST(SmallFile, IsNotAPipeWhoseWriterMayNeverCome) {
  const base::TemporaryDirectory directory;
  const std::string path = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_small_file(path).error().code, base::ErrorCode::io);
}

}  // namespace
}  // namespace postino::remote
