// Writes a backup: the contents that a place does not have yet, and then its manifest, with which the backup is there.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "backup/manifest.h"
#include "backup/place.h"
#include "backup/sealed_form.h"
#include "base/random.h"

namespace postino::backup {

// A file that belongs to the backup. It is read once, and is not written meanwhile.
struct SourceFile {
  std::string path;            // in the backup
  std::filesystem::path file;  // where it is now
  bool may_vanish = false;     // nothing that the store refers to may be missing, but others remove what is not needed
};

// All files below a directory, with these paths in front of theirs, in the order of their paths. Symbolic links are not
// followed, and what is being written (*.part, .unfinished) is left out. io when the directory cannot be read.
base::Result<std::vector<SourceFile>> files_below(const std::filesystem::path& directory, const std::string& prefix);

class BackupWriter {
 public:
  // `step` is called before each chunk is put: its error ends the backup. Everything must outlive it.
  BackupWriter(Place& place, const SealedForm& form, base::Random& random,
               std::function<base::Result<void>(const Manifest& so_far)> step)
      : place_(place), form_(form), random_(random), step_(std::move(step)) {}

  // Chunks that were found to be damaged: they are written again if a file has what they had.
  void distrust(const std::set<std::string>& chunks) { distrusted_ = chunks; }

  // `begun` has id, number, time and names. The manifest is returned as it was written. When it fails, the place has no
  // more than chunks that no backup uses, which the next removal takes away. What was put is read back before the
  // manifest is written.
  base::Result<Manifest> write(Manifest begun, std::vector<SourceFile> files, const base::Clock& clock);

 private:
  base::Result<void> find_chunks();
  base::Result<void> add_file(const SourceFile& source);
  base::Result<void> add_large_file(FileEntry entry, int descriptor);
  base::Result<void> add_small_file(FileEntry entry, std::string contents);
  base::Result<void> finish_pack();
  base::Result<void> finish_list_part();
  base::Result<void> note(const FileEntry& entry);
  base::Result<std::string> put_chunk(std::string_view contents);

  Place& place_;
  const SealedForm& form_;
  base::Random& random_;
  const std::function<base::Result<void>(const Manifest& so_far)> step_;
  std::set<std::string> distrusted_;
  std::set<std::string> chunks_;  // of the place
  Manifest manifest_;
  std::string pack_;  // contents of small files that share the next chunk
  std::vector<FileEntry> packed_;
  std::string list_;  // lines of files that are in the place
};

}  // namespace postino::backup
