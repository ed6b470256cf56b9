// What tests of files share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::objects {

inline void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  EXPECT_TRUE(file.good()) << path;
}

// "none" when it succeeded.
template <class T>
std::string error_text(const base::Result<T>& result) {
  return result ? "none" : result.error().message;
}

}  // namespace postino::objects
