#include "engine/storage/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>

#include "base/log.h"
#include "engine/storage/whole_file.h"

namespace postino::engine {

namespace {

constexpr std::string_view marker_name = "POSTINO";
constexpr std::string_view marker_prefix = "postino data format ";
constexpr mode_t private_directory = S_IRWXU;

tl::unexpected<base::Error> io_failure(const std::filesystem::path& path, const char* what, int error) {
  return base::fail(base::ErrorCode::io,
                    std::string("cannot ") + what + " '" + path.string() + "': " + std::strerror(error));
}

base::Result<void> sync_path(const std::filesystem::path& path, int flags) {
  const base::Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file) return io_failure(path, "open", errno);
  if (::fsync(file.number()) != 0) return io_failure(path, "sync", errno);
  return {};
}

// Written beside its place and renamed into it, so that a crash leaves a whole marker or none.
base::Result<void> write_marker(const std::filesystem::path& directory) {
  const std::filesystem::path marker = directory / marker_name;
  const std::filesystem::path draft = directory / (std::string(marker_name) + ".new");
  {
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out << marker_prefix << data_format_version << '\n';
    out.flush();
    if (!out) return io_failure(draft, "write", errno);
  }
  TRY_VOID(sync_path(draft, O_RDONLY));
  std::error_code error;
  std::filesystem::rename(draft, marker, error);
  if (error) return io_failure(marker, "create", error.value());
  return sync_path(directory, O_RDONLY | O_DIRECTORY);
}

// For the operator, when a store is there and only its marker is not.
std::string marker_advice(const std::filesystem::path& directory) {
  if (!holds_a_store(directory)) return "";
  return ", but a store is in it; 'postino repair --data " + directory.string() + "' writes the file " +
         std::string(marker_name) + " again";
}

base::Result<void> check_marker(const std::filesystem::path& marker) {
  TRY(const std::string line, read_whole_file(marker));
  std::string_view text = line;
  int version = 0;
  if (text.starts_with(marker_prefix) && text.ends_with('\n')) {
    text.remove_prefix(marker_prefix.size());
    text.remove_suffix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (error != std::errc() || end != text.data() + text.size()) version = 0;
  }
  if (version < 1)
    return base::fail(base::ErrorCode::corrupt, "'" + marker.string() + "' is not a marker of a data directory" +
                                                    marker_advice(marker.parent_path()));
  if (version > data_format_version)
    return base::fail(base::ErrorCode::invalid, "the data directory has format " + std::to_string(version) +
                                                    ", this version of Postino reads up to format " +
                                                    std::to_string(data_format_version));
  return {};
}

// It may hold part of a damaged store, and looks like one of which only the marker is lost.
base::Result<void> refuse_unfinished_copy(const std::filesystem::path& directory) {
  std::error_code error;
  const std::filesystem::path mark = directory / unfinished_name;
  if (!std::filesystem::is_regular_file(mark, error)) return {};
  std::string repaired = read_whole_file(mark).value_or("");
  while (repaired.ends_with('\n')) repaired.pop_back();
  return base::invalid("'" + directory.string() +
                       "' is not a data directory: a repair that was interrupted began to keep a damaged store there. "
                       "Run 'postino repair --data " +
                       repaired + " --to " + directory.string() + "' again");
}

// Parts of it may be in their places.
base::Result<void> refuse_unfinished_restore(const std::filesystem::path& directory) {
  struct stat status {};
  if (::lstat(restore_directory(directory).c_str(), &status) != 0) return {};
  return base::invalid("'" + directory.string() +
                       "' is not a data directory: a restore of a backup was interrupted there. Run 'postino restore "
                       "--data " +
                       directory.string() + "' again: it starts over");
}

bool holds_nothing_but_a_draft(const std::filesystem::path& directory, std::error_code& error) {
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    // A file system's own lost+found is no data.
    if (name != std::string(marker_name) + ".new" && name != "lost+found") return false;
  }
  return true;
}

}  // namespace

base::Result<void> find_data_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    if (error == std::errc::permission_denied) return io_failure(directory, "read", error.value());
    return base::fail(base::ErrorCode::not_found, "there is no data directory '" + directory.string() + "'");
  }
  TRY_VOID(refuse_unfinished_copy(directory));
  TRY_VOID(refuse_unfinished_restore(directory));
  const std::filesystem::path marker = directory / marker_name;
  const bool is_marked = std::filesystem::exists(marker, error);
  if (error) return io_failure(marker, "read", error.value());
  if (!is_marked)
    return base::fail(base::ErrorCode::not_found,
                      "'" + directory.string() + "' is not a data directory of Postino" + marker_advice(directory));
  return check_marker(marker);
}

base::Result<void> refuse_interrupted_repair(const std::filesystem::path& directory) {
  struct stat status {};
  if (::lstat(repair_directory(directory).c_str(), &status) != 0) return {};
  return base::fail(base::ErrorCode::corrupt, "a repair of the store in '" + directory.string() +
                                                  "' was interrupted. Run 'postino repair --data " +
                                                  directory.string() + "' again: it finishes or starts over");
}

bool holds_a_store(const std::filesystem::path& directory) {
  std::error_code error;
  return std::filesystem::exists(directory / "STATE", error) &&
         std::filesystem::is_directory(store_directory(directory), error);
}

base::Result<void> mark_data_directory(const std::filesystem::path& directory) { return write_marker(directory); }

base::Result<void> prepare_data_directory(const std::filesystem::path& directory) {
  const int made = ::mkdir(directory.c_str(), private_directory) == 0 ? 0 : errno;
  if (made == 0) TRY_VOID(sync_path(directory / "..", O_RDONLY | O_DIRECTORY));
  std::error_code error;
  if (made != 0 && (made != EEXIST || (!std::filesystem::is_directory(directory, error) && !error)))
    return io_failure(directory, "create the data directory", made);
  TRY_VOID(refuse_unfinished_copy(directory));
  TRY_VOID(refuse_unfinished_restore(directory));
  const std::filesystem::path marker = directory / marker_name;
  if (std::filesystem::exists(marker, error)) return check_marker(marker);
  if (error) return io_failure(marker, "read", error.value());
  if (!holds_nothing_but_a_draft(directory, error))
    return base::fail(
        base::ErrorCode::invalid,
        "'" + directory.string() + "' is not empty and not a data directory of Postino" + marker_advice(directory));
  if (error) return io_failure(directory, "read", error.value());
  return write_marker(directory);
}

base::Result<DataDirectoryLock> DataDirectoryLock::take(const std::filesystem::path& directory) {
  base::Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return io_failure(directory, "open", errno);
  if (::flock(opened.number(), LOCK_EX | LOCK_NB) == 0) return DataDirectoryLock(std::move(opened));
  if (errno != EWOULDBLOCK) return io_failure(directory, "lock", errno);
  return base::fail(base::ErrorCode::conflict,
                    "the data directory '" + directory.string() + "' is in use by another process");
}

void make_private(const std::filesystem::path& directory) {
  const auto narrow = [](const std::filesystem::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || S_ISLNK(status.st_mode) || (status.st_mode & (S_IRWXG | S_IRWXO)) == 0)
      return true;
    return ::chmod(path.c_str(), status.st_mode & S_IRWXU) == 0;
  };
  bool all = narrow(directory);
  for (const std::filesystem::path& inside : {directory, store_directory(directory)}) {
    std::error_code error;
    if (inside != directory) all = narrow(inside) && all;
    for (std::filesystem::directory_iterator entry(inside, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code unknown;
      if (entry->is_regular_file(unknown)) all = narrow(entry->path()) && all;
    }
    if (error && error != std::errc::no_such_file_or_directory) all = false;
  }
  if (!all)
    base::log_warning("store", "others may read the data directory, and this user may not change that",
                      {{"directory", directory.string()}});
}

base::Result<void> prepare_store_directory(const std::filesystem::path& directory) {
  const std::filesystem::path inner = store_directory(directory);
  if (::mkdir(inner.c_str(), private_directory) != 0 && errno != EEXIST) return io_failure(inner, "create", errno);
  // Even if it was there: the process that made it may have ended before it synced.
  return sync_path(directory, O_RDONLY | O_DIRECTORY);
}

}  // namespace postino::engine
