#include "backup/file_restore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"

namespace postino::backup {

namespace {

namespace fs = std::filesystem;

tl::unexpected<base::Error> restore_failure(const char* what, const fs::path& path, int error) {
  return base::fail(base::ErrorCode::io,
                    std::string("cannot ") + what + " '" + path.string() + "': " + std::strerror(error));
}

base::Result<void> write_all(int descriptor, std::string_view bytes, const fs::path& file) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return restore_failure("write", file, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

base::Result<void> make_folders(const fs::path& directory, const fs::path& path) {
  fs::path folder = directory;
  for (const fs::path& part : path.parent_path()) {
    folder /= part;
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return restore_failure("create", folder, errno);
  }
  return {};
}

base::Result<void> set_modified(int descriptor, base::TimePoint modified, const fs::path& file) {
  const std::int64_t milliseconds = base::epoch_milliseconds(modified);
  timespec times[2] = {};
  times[0].tv_nsec = UTIME_NOW;
  times[1].tv_sec = milliseconds / 1'000;
  times[1].tv_nsec = milliseconds % 1'000 * 1'000'000;
  if (::futimens(descriptor, times) != 0) return restore_failure("date", file, errno);
  return {};
}

base::Result<void> restore_file(BackupReader& reader, const FileEntry& entry, const fs::path& directory) {
  const fs::path file = directory / entry.path;
  TRY_VOID(make_folders(directory, entry.path));
  const base::Descriptor made(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!made) return restore_failure("create", file, errno);
  for (const Piece& piece : entry.pieces) {
    auto bytes = reader.read(piece);
    if (!bytes) {
      bytes.error().message = entry.path + ": " + bytes.error().message;
      return base::propagate(bytes.error());
    }
    TRY_VOID(write_all(made.number(), *bytes, file));
  }
  return set_modified(made.number(), entry.modified, file);
}

}  // namespace

base::Result<RestoredFiles> restore_files(BackupReader& reader, const fs::path& directory,
                                          const std::function<void(const RestoredFiles& so_far)>& tell) {
  RestoredFiles restored;
  TRY_VOID(reader.each_file([&](const FileEntry& entry) -> base::Result<void> {
    TRY_VOID(restore_file(reader, entry, directory));
    ++restored.files;
    restored.bytes += entry.size;
    if (tell) tell(restored);
    return {};
  }));
  if (restored.files != reader.manifest().files || restored.bytes != reader.manifest().bytes)
    return base::fail(base::ErrorCode::corrupt,
                      "backup " + reader.manifest().id + " has a list of files that is not that of its manifest");
  const base::Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::syncfs(opened.number()) != 0) return restore_failure("sync", directory, errno);
  return restored;
}

}  // namespace postino::backup
