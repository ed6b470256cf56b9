#include "engine/storage/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>

namespace postino::engine {

namespace {

constexpr std::string_view marker_name = "POSTINO";
constexpr std::string_view marker_prefix = "postino data format ";

tl::unexpected<base::Error> io_failure(const std::filesystem::path& path, const char* what, int error) {
  return base::fail(base::ErrorCode::io,
                    std::string("cannot ") + what + " '" + path.string() + "': " + std::strerror(error));
}

base::Result<void> sync_path(const std::filesystem::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return io_failure(path, "open", errno);
  const int synced = ::fsync(file);
  const int error = errno;
  ::close(file);
  if (synced != 0) return io_failure(path, "sync", error);
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

base::Result<void> check_marker(const std::filesystem::path& marker) {
  std::ifstream in(marker, std::ios::binary);
  if (!in) return io_failure(marker, "read", errno);
  std::string line;
  std::getline(in, line);
  std::string_view text = line;
  int version = 0;
  if (text.starts_with(marker_prefix)) {
    text.remove_prefix(marker_prefix.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (error != std::errc() || end != text.data() + text.size()) version = 0;
  }
  if (version < 1)
    return base::fail(base::ErrorCode::corrupt, "'" + marker.string() + "' is not a marker of a data directory");
  if (version > data_format_version)
    return base::fail(base::ErrorCode::invalid, "the data directory has format " + std::to_string(version) +
                                                    ", this version of Postino reads up to format " +
                                                    std::to_string(data_format_version));
  return {};
}

bool holds_nothing_but_a_draft(const std::filesystem::path& directory, std::error_code& error) {
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    // A file system's own lost+found is no data.
    if (name != std::string(marker_name) + ".new" && name != "lost+found") return false;
  }
  return true;
}

}  // namespace

base::Result<void> prepare_data_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::create_directory(directory, error))
    TRY_VOID(sync_path(directory / "..", O_RDONLY | O_DIRECTORY));
  if (error) return io_failure(directory, "create the data directory", error.value());
  const std::filesystem::path marker = directory / marker_name;
  if (std::filesystem::exists(marker, error)) return check_marker(marker);
  if (error) return io_failure(marker, "read", error.value());
  if (!holds_nothing_but_a_draft(directory, error))
    return base::fail(base::ErrorCode::invalid,
                      "'" + directory.string() + "' is not empty and not a data directory of Postino");
  if (error) return io_failure(directory, "read", error.value());
  return write_marker(directory);
}

base::Result<DataDirectoryLock> DataDirectoryLock::take(const std::filesystem::path& directory) {
  DataDirectoryLock lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.file_ < 0) return io_failure(directory, "open", errno);
  if (::flock(lock.file_, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return io_failure(directory, "lock", errno);
  return base::fail(base::ErrorCode::conflict,
                    "the data directory '" + directory.string() + "' is in use by another process");
}

DataDirectoryLock::~DataDirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

base::Result<void> prepare_store_directory(const std::filesystem::path& directory) {
  std::error_code error;
  const std::filesystem::path inner = store_directory(directory);
  std::filesystem::create_directory(inner, error);
  if (error) return io_failure(inner, "create", error.value());
  // Even if it was there: the process that made it may have ended before it synced.
  return sync_path(directory, O_RDONLY | O_DIRECTORY);
}

}  // namespace postino::engine
