#include "engine/recovery/repair_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "base/descriptor.h"

namespace postino::engine {

namespace fs = std::filesystem;

tl::unexpected<base::Error> repair_failure(const std::string& what, const fs::path& path,
                                           const std::error_code& error) {
  return base::fail(base::ErrorCode::io, "cannot " + what + " '" + path.string() + "': " + error.message());
}

std::error_code last_system_error() { return {errno, std::generic_category()}; }

bool is_path_there(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

bool are_on_one_disk(const fs::path& one, const fs::path& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev;
}

base::Result<void> make_private_directory(const fs::path& path) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0) return {};
  return repair_failure("create", path, last_system_error());
}

base::Result<void> move_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return repair_failure("move to '" + to.string() + "' what is", from, last_system_error());
}

base::Result<void> remove_path(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return repair_failure("remove", path, error);
  return {};
}

base::Result<void> sync_path_of_repair(const fs::path& path) {
  const base::Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened && ::fsync(opened.number()) == 0) return {};
  return repair_failure("sync", path, last_system_error());
}

base::Result<void> write_synced_file(const fs::path& file, const std::string& text) {
  {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << text;
    out.flush();
    if (!out) return repair_failure("write", file, last_system_error());
  }
  return sync_path_of_repair(file);
}

base::Result<void> copy_synced_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) return repair_failure("copy", from, error);
  return sync_path_of_repair(to);
}

base::Result<void> copy_synced_directory(const fs::path& from, const fs::path& to) {
  TRY_VOID(make_private_directory(to));
  std::error_code error;
  for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) TRY_VOID(copy_synced_file(entry->path(), to / entry->path().filename()));
  }
  if (error) return repair_failure("read", from, error);
  return sync_path_of_repair(to);
}

fs::path aside_of(const fs::path& other) { return other.string() + ".damaged"; }

base::Result<void> exchange_directories(const fs::path& one, const fs::path& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) return {};
  const fs::path aside = aside_of(other);
  TRY_VOID(move_path(one, aside));
  if (const auto moved = move_path(other, one); !moved) {
    static_cast<void>(move_path(aside, one));
    return moved;
  }
  return move_path(aside, other);
}

}  // namespace postino::engine
