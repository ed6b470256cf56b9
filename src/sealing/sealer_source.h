// Where a process gets its sealing keys from: a file, which is read when it is needed first.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "base/random.h"
#include "base/result.h"
#include "sealing/sealer.h"

namespace postino::sealing {

// Safe to use from any thread.
class SealerSource {
 public:
  // `may_make`: a file that is not there is made when something is to be sealed. Where other processes need the same
  // one, an operator makes it. `random` must outlive it, and the sealers too.
  SealerSource(std::filesystem::path file, bool may_make, base::Random& random)
      : file_(std::move(file)), may_make_(may_make), random_(random) {}

  // To open with; nullptr when there is no file.
  base::Result<std::shared_ptr<const Sealer>> for_opening();
  // Never nullptr.
  base::Result<std::shared_ptr<const Sealer>> for_sealing();

  const std::filesystem::path& file() const { return file_; }

 private:
  base::Result<std::shared_ptr<const Sealer>> read();

  const std::filesystem::path file_;
  const bool may_make_;
  base::Random& random_;
  std::mutex mutex_;
  std::shared_ptr<const Sealer> sealer_;
};

}  // namespace postino::sealing
