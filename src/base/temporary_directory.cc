#include "base/temporary_directory.h"

#include <cstdlib>
#include <string>

#include "base/check.h"

namespace postino::base {

TemporaryDirectory::TemporaryDirectory(const std::filesystem::path& parent) {
  std::string pattern =
      ((parent.empty() ? std::filesystem::temp_directory_path() : parent) / "postino-XXXXXX").string();
  CHECK(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // a destructor has no caller to report to
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace postino::base
