#include "backup/backup_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/hash.h"

namespace postino::backup {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t chunk_bytes = 4 << 20;
constexpr std::size_t small_file_bytes = 256 << 10;
// Where packs end depends on the files in them alone: a file that comes or goes changes one pack.
constexpr std::uint64_t pack_ends_at_one_of = 16;

tl::unexpected<base::Error> file_failure(const char* what, const fs::path& file) {
  return base::fail(base::ErrorCode::io,
                    std::string("cannot ") + what + " '" + file.string() + "': " + std::strerror(errno));
}

// As many bytes as there are, up to `most`.
base::Result<std::string> read_part(int descriptor, std::size_t most, const fs::path& file) {
  std::string bytes(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const ssize_t count = ::read(descriptor, bytes.data() + size, most - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_failure("read", file);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

base::TimePoint time_of(const timespec& time) {
  return base::TimePoint(std::chrono::duration_cast<base::Milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                                        std::chrono::nanoseconds(time.tv_nsec)));
}

bool is_unfinished(const fs::path& path) { return path.extension() == ".part" || path.filename() == ".unfinished"; }

}  // namespace

base::Result<std::vector<SourceFile>> files_below(const fs::path& directory, const std::string& prefix) {
  std::vector<SourceFile> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (is_unfinished(entry->path())) {
      entry.disable_recursion_pending();
      continue;
    }
    if (fs::is_regular_file(entry->symlink_status(gone)))
      files.push_back({prefix + entry->path().lexically_relative(directory).string(), entry->path(), true});
  }
  // A folder that was removed meanwhile had nothing in it that is needed.
  if (error && error != std::errc::no_such_file_or_directory)
    return base::fail(base::ErrorCode::io, "cannot read '" + directory.string() + "': " + error.message());
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

base::Result<Manifest> BackupWriter::write(Manifest begun, std::vector<SourceFile> files, const base::Clock& clock) {
  manifest_ = std::move(begun);
  TRY_VOID(find_chunks());
  for (const SourceFile& file : files) TRY_VOID(add_file(file));
  TRY_VOID(finish_pack());
  TRY_VOID(finish_list_part());
  manifest_.finished = clock.now();
  TRY_VOID(step_(manifest_));
  const std::string name = std::string(manifests_folder) + manifest_.id;
  TRY_VOID(place_.put(name, form_.encode(name, encode_manifest(manifest_), random_)));
  return std::move(manifest_);
}

base::Result<void> BackupWriter::find_chunks() {
  TRY(const Place::Listing listing, place_.list(chunks_folder));
  for (const objects::ObjectInfo& object : listing.objects) {
    std::string chunk = object.name.substr(std::min(object.name.find('/') + 1, object.name.size()));
    if (!distrusted_.contains(chunk)) chunks_.insert(std::move(chunk));
  }
  return {};
}

base::Result<void> BackupWriter::add_file(const SourceFile& source) {
  const base::Descriptor opened(::open(source.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!opened && errno == ENOENT && source.may_vanish) return {};
  if (!opened) return file_failure("read", source.file);
  struct stat status {};
  if (::fstat(opened.number(), &status) != 0) return file_failure("read", source.file);
  FileEntry entry;
  entry.path = source.path;
  entry.modified = time_of(status.st_mtim);
  if (static_cast<std::size_t>(status.st_size) > small_file_bytes)
    return add_large_file(std::move(entry), opened.number());
  TRY(std::string contents, read_part(opened.number(), chunk_bytes, source.file));
  return add_small_file(std::move(entry), std::move(contents));
}

base::Result<void> BackupWriter::add_large_file(FileEntry entry, int descriptor) {
  while (true) {
    TRY(const std::string part, read_part(descriptor, chunk_bytes, entry.path));
    if (part.empty()) break;
    TRY(std::string chunk, put_chunk(part));
    entry.pieces.push_back({std::move(chunk), 0, part.size()});
    entry.size += part.size();
    if (part.size() < chunk_bytes) break;
  }
  return note(entry);
}

base::Result<void> BackupWriter::add_small_file(FileEntry entry, std::string contents) {
  if (pack_.size() + contents.size() > chunk_bytes) TRY_VOID(finish_pack());
  entry.size = contents.size();
  if (!contents.empty()) entry.pieces.push_back({"", pack_.size(), contents.size()});
  pack_ += contents;
  const bool ends_pack = base::fast_hash(entry.path) % pack_ends_at_one_of == 0;
  packed_.push_back(std::move(entry));
  return ends_pack ? finish_pack() : base::Result<void>();
}

base::Result<void> BackupWriter::finish_pack() {
  std::string chunk;
  if (!pack_.empty()) {
    TRY(chunk, put_chunk(pack_));
  }
  for (FileEntry& entry : packed_) {
    for (Piece& piece : entry.pieces) piece.chunk = chunk;
    TRY_VOID(note(entry));
  }
  pack_.clear();
  packed_.clear();
  return {};
}

base::Result<void> BackupWriter::note(const FileEntry& entry) {
  ++manifest_.files;
  manifest_.bytes += entry.size;
  list_ += encode_file(entry);
  return list_.size() < chunk_bytes ? base::Result<void>() : finish_list_part();
}

base::Result<void> BackupWriter::finish_list_part() {
  if (list_.empty()) return {};
  const std::size_t size = list_.size();
  TRY(std::string chunk, put_chunk(list_));
  manifest_.list.push_back({std::move(chunk), 0, size});
  list_.clear();
  return {};
}

base::Result<std::string> BackupWriter::put_chunk(std::string_view contents) {
  TRY_VOID(step_(manifest_));
  const std::string name = form_.chunk_of(contents);
  if (chunks_.contains(name)) return name;
  const std::string object = chunk_object(name);
  TRY_VOID(place_.put(object, form_.encode(name, contents, random_)));
  TRY(const std::string written, place_.get(object));
  if (const auto same = form_.decode(name, written); !same || *same != contents)
    return base::fail(base::ErrorCode::corrupt, object + " is not what was just written there");
  chunks_.insert(name);
  manifest_.new_bytes += contents.size();
  return name;
}

}  // namespace postino::backup
