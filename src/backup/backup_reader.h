// Reads what backups a place has, and what is in one. Everything is checked before it is handed on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backup/key_ring.h"
#include "backup/manifest.h"
#include "backup/place.h"

namespace postino::backup {

// When a backup was last read as a whole, and what was found.
struct Verdict {
  base::TimePoint at;
  bool sound = false;
  std::string problem;  // the first one
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

class BackupReader {
 public:
  // not_found when there is no such backup; errors say which one it is, and what is wrong: see form_to_read(). The
  // place must outlive it.
  static base::Result<BackupReader> open(Place& place, const std::string& id, const std::optional<MasterKey>& master);

  const Manifest& manifest() const { return manifest_; }
  const SealedForm& form() const { return form_; }

  // Calls it with the files in their order, and ends with its first error.
  base::Result<void> each_file(const std::function<base::Result<void>(const FileEntry& file)>& visit);
  // Until the next call. An error names the chunk.
  base::Result<std::string_view> read(const Piece& piece);

  // nullopt when it was never read as a whole, or that cannot be told.
  std::optional<Verdict> verdict();
  base::Result<void> note(const Verdict& verdict, base::Random& random);

 private:
  BackupReader(Place& place, SealedForm form, Manifest manifest)
      : place_(&place), form_(std::move(form)), manifest_(std::move(manifest)) {}

  Place* place_;
  SealedForm form_;
  Manifest manifest_;
  std::string chunk_;  // whose contents these are: small files share one
  std::string contents_;
};

// A backup of a place. Without a manifest it cannot be read, and `problem` says why.
struct ListedBackup {
  std::string id;
  std::optional<Manifest> manifest;
  bool sealed = false;
  std::optional<Verdict> verdict;
  std::string problem;
};
// In the order in which they were made; those that cannot be read come first.
base::Result<std::vector<ListedBackup>> list_backups(Place& place, const std::optional<MasterKey>& master);

struct Verification {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  std::vector<std::string> problems;  // the first ones: "store/000012.sst: chunk ab12 is missing"
  std::uint64_t problem_count = 0;
  std::set<std::string> damaged;  // chunks

  bool sound() const { return problem_count == 0; }
};
// Reads all of it. Fails only when that cannot be done: `step` is called before each chunk is read. What is missing,
// changed or cut is a problem.
base::Result<Verification> verify_backup(Place& place, const std::string& id, const std::optional<MasterKey>& master,
                                         const std::function<base::Result<void>()>& step = {});

}  // namespace postino::backup
