// A directory of one's own that goes away with its owner: for demonstrations, benchmarks and tests.
#pragma once

#include <filesystem>

namespace postino::base {

class TemporaryDirectory {
 public:
  // Made below `parent` (the system's place for temporary files when empty); ends the process when it cannot be made.
  explicit TemporaryDirectory(const std::filesystem::path& parent = {});
  // Removed with everything in it.
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace postino::base
