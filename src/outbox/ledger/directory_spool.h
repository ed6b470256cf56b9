// The spool in a directory, local or on EFS or NFS: for several machines that share the work.
#pragma once

#include <filesystem>
#include <memory>

#include "base/random.h"
#include "outbox/ledger/spool.h"

namespace postino::outbox {

class DirectorySpool final : public Spool {
 public:
  // The directory is created when it is missing; io when it cannot be, or cannot be written.
  static base::Result<std::unique_ptr<DirectorySpool>> open(std::filesystem::path directory, base::Random& random);
  ~DirectorySpool() override;

  base::Result<std::string> write(const SpoolObject& object) override;
  // Its own paths are relative to the directory. Other programs may name theirs in full.
  base::Result<std::string> read(const std::string& path) override;
  base::Result<void> remove(const std::string& path) override;

  // Removes files of ours whose time is over: until when a file is kept is its time of modification. How many went.
  base::Result<std::int64_t> sweep(base::TimePoint now);

 private:
  std::string path_inside(const std::string& path) const;

  DirectorySpool(std::filesystem::path directory, int descriptor, base::Random& random)
      : directory_(std::move(directory)), descriptor_(descriptor), random_(random) {}

  const std::filesystem::path directory_;
  const int descriptor_;  // of the directory: paths are opened below it and cannot leave it
  base::Random& random_;
};

}  // namespace postino::outbox
