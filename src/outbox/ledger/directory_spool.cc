#include "outbox/ledger/directory_spool.h"

#include <unistd.h>

#include "outbox/ledger/enclosed_file.h"

namespace postino::outbox {

namespace {

constexpr std::size_t largest_object = std::size_t{1} << 30;

// A file that is being written does not say yet how long it is kept. After so long its writer is gone.
constexpr std::chrono::hours left_unfinished{24};

constexpr std::size_t distinction_size = 8;

// Other programs may keep payloads in the same directory. Theirs do not have the distinction that write() gives, nor a
// time of modification that says how long they are kept.
bool is_ours(std::string_view name) {
  if (name.ends_with(unfinished_ending)) return true;
  const std::size_t dot = name.rfind('.');
  const std::size_t dash = name.rfind('-');
  if (dot == std::string_view::npos || dash == std::string_view::npos || dot != dash + 1 + distinction_size)
    return false;
  return name.find_first_not_of("0123456789abcdef", dash + 1) == dot;
}

}  // namespace

base::Result<std::unique_ptr<DirectorySpool>> DirectorySpool::open(std::filesystem::path directory,
                                                                   base::Random& random) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return base::fail(base::ErrorCode::io, "cannot create the spool " + directory.string() + ": " + error.message());
  TRY(const int descriptor, outbox::open_directory(directory.string()));
  std::unique_ptr<DirectorySpool> spool(new DirectorySpool(std::move(directory), descriptor, random));
  if (faccessat(descriptor, ".", W_OK | X_OK, 0) != 0)
    return base::fail(base::ErrorCode::io, "cannot write into the spool " + spool->directory_.string());
  return spool;
}

DirectorySpool::~DirectorySpool() { close(descriptor_); }

base::Result<std::string> DirectorySpool::write(const SpoolObject& object) {
  std::string path = spool_path(object, base::make_uuid(random_).substr(0, distinction_size));
  TRY_VOID(write_enclosed_file(descriptor_, path, object.bytes, object.keep_until));
  return path;
}

std::string DirectorySpool::path_inside(const std::string& path) const {
  std::string base = directory_.string();
  while (base.ends_with('/')) base.pop_back();
  base += '/';
  return path.starts_with(base) ? path.substr(base.size()) : path;
}

base::Result<std::string> DirectorySpool::read(const std::string& path) {
  return read_enclosed_file(descriptor_, path_inside(path), largest_object);
}

base::Result<void> DirectorySpool::remove(const std::string& path) {
  return remove_enclosed_file(descriptor_, path_inside(path));
}

base::Result<std::int64_t> DirectorySpool::sweep(base::TimePoint now) {
  namespace fs = std::filesystem;
  std::int64_t removed = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator file(directory_, error), end; !error && file != end; file.increment(error)) {
    std::error_code gone;  // another machine sweeps as well
    if (!file->is_regular_file(gone) || gone || !is_ours(file->path().filename().native())) continue;
    auto kept_until = std::chrono::file_clock::to_sys(file->last_write_time(gone));
    if (file->path().native().ends_with(unfinished_ending)) kept_until += left_unfinished;
    if (!gone && kept_until < now && fs::remove(file->path(), gone)) ++removed;
  }
  if (error) return base::fail(base::ErrorCode::io, "cannot read the spool: " + error.message());
  return removed;
}

}  // namespace postino::outbox
