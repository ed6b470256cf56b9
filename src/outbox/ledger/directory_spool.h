// The spool in a directory, local or on EFS or NFS: for several machines that share the work.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/random.h"
#include "outbox/ledger/kept_spool.h"

namespace postino::outbox {

class DirectorySpool final : public KeptSpool {
 public:
  // The directory is created when it is missing; io when it cannot be, or cannot be written. A relative path is below
  // the working directory of the process. It may be a symbolic link. Below it none is followed, because it could lead
  // anywhere: what is behind one is not lost, and gives io.
  static base::Result<std::unique_ptr<DirectorySpool>> open(std::filesystem::path directory, base::Random& random);
  // Notes in the folder which spool is used. invalid when the folder has noted another one: a directory that is not
  // mounted looks like a spool that has lost everything. To be called before others use the spool.
  base::Result<void> be_noted_in(const std::filesystem::path& folder);

  std::string id() const override { return id_; }
  std::string place() const override { return names_[1].string(); }

  base::Result<std::string> write(const SpoolObject& object) override;
  // Its own paths are relative to the directory, and have the sum of the contents in them. Other programs may name
  // theirs in full: with the directory as it was given to open(), or with its absolute path.
  base::Result<std::string> read_if(const std::string& path, const Admit& admit) override;
  base::Result<void> remove(const std::string& path) override;

  // Removes files of ours whose time is over: until when a file is kept is its time of modification. Not those of
  // e-mails that are still needed, if that can be told. How many went.
  base::Result<std::int64_t> sweep(base::TimePoint now, const IsNeeded& is_needed = {});
  // All of them.
  base::Result<bool> sweep_some(base::TimePoint now, const IsNeeded& is_needed) override {
    TRY_VOID(sweep(now, is_needed));
    return false;
  }

  // Why it takes no writes: its disk may be full.
  std::optional<std::string> problem() const override;
  void look_after_problem() override;
  void append_metrics(std::string& out) const override;

 private:
  // What could not be written.
  struct Failure {
    std::string path;
    std::size_t bytes = 0;
    std::string reason;
  };

  void note_failure(Failure failure);
  bool has_room_for(std::size_t bytes) const;
  std::string path_inside(const std::string& path) const;

  DirectorySpool(std::vector<std::filesystem::path> names, base::Descriptor descriptor, base::Random& random)
      : directory_(names.front()), names_(std::move(names)), descriptor_(std::move(descriptor)), random_(random) {}

  const std::filesystem::path directory_;           // as it was given
  const std::vector<std::filesystem::path> names_;  // the same, from the root, and without links
  const base::Descriptor descriptor_;               // of the directory: paths are opened below it and cannot leave it
  base::Random& random_;
  std::string id_;  // since be_noted_in()
  mutable std::mutex mutex_;
  std::optional<Failure> failure_;  // the last one, until the spool can be written again
};

}  // namespace postino::outbox
