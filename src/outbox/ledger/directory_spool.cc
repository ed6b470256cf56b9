#include "outbox/ledger/directory_spool.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "objects/enclosed_file.h"
#include "outbox/ledger/spool_names.h"

namespace postino::outbox {

namespace {

constexpr std::size_t largest_object = std::size_t{1} << 30;

// A file that is being written does not say yet how long it is kept. After so long its writer is gone.
constexpr std::chrono::hours left_unfinished{24};

bool is_ours(std::string_view name) { return name.ends_with(objects::unfinished_ending) || is_spool_name(name); }

// The error of a file that is not found. If a link is why, it is there all the same, and an operator can help.
base::Error explained(base::Error error, int directory, const std::string& path) {
  if (error.code != base::ErrorCode::not_found || !objects::meets_link(directory, path)) return error;
  return {base::ErrorCode::io,
          "the file " + path +
              " of the spool is a symbolic link, or in a directory that is one, and no link in the "
              "spool is followed: put the file itself there"};
}

// Empty when there is none.
base::Result<std::string> read_id(int directory, const char* name) {
  auto id = objects::read_enclosed_file(directory, name, spool_id_size);
  if (id) return id;
  base::Error error = explained(std::move(id).error(), directory, name);
  if (error.code == base::ErrorCode::not_found) return std::string();
  return base::propagate(std::move(error));
}

}  // namespace

base::Result<std::unique_ptr<DirectorySpool>> DirectorySpool::open(std::filesystem::path directory,
                                                                   base::Random& random) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(directory, error);
  if (is_new && !error) std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  if (error)
    return base::fail(base::ErrorCode::io, "cannot create the spool " + directory.string() + ": " + error.message());
  TRY(base::Descriptor descriptor, objects::open_directory(directory.string()));
  std::filesystem::path absolute = std::filesystem::absolute(directory, error).lexically_normal();
  if (error)
    return base::fail(base::ErrorCode::io, "cannot find the spool " + directory.string() + ": " + error.message());
  std::filesystem::path real = std::filesystem::canonical(directory, error);
  if (error) real = absolute;
  std::unique_ptr<DirectorySpool> spool(
      new DirectorySpool({std::move(directory), std::move(absolute), std::move(real)}, std::move(descriptor), random));
  if (faccessat(spool->descriptor_.number(), ".", W_OK | X_OK, 0) != 0)
    return base::fail(base::ErrorCode::io, "cannot write into the spool " + spool->directory_.string());
  return spool;
}

base::Result<void> DirectorySpool::be_noted_in(const std::filesystem::path& folder) {
  TRY(const base::Descriptor noting, objects::open_directory(folder.string()));
  TRY(std::string own, read_id(descriptor_.number(), spool_marker));
  TRY(const std::string noted, read_id(noting.number(), noted_spool));
  if (!noted.empty() && noted != own)
    return base::invalid("the spool " + directory_.string() +
                         " is not the one that was used before. Is it mounted? If it "
                         "was replaced on purpose, start once with --spool-replaces " +
                         noted);
  if (own.empty()) {
    own = base::make_uuid(random_);
    const auto written = objects::write_enclosed_file(descriptor_.number(), spool_marker, own, base::TimePoint());
    if (!written && written.error().code != base::ErrorCode::conflict) return written;
    // Another server has made it a spool at this moment.
    if (!written) {
      TRY(own, read_id(descriptor_.number(), spool_marker));
    }
  }
  id_ = own;
  if (noted.empty()) TRY_VOID(objects::write_enclosed_file(noting.number(), noted_spool, own, base::TimePoint()));
  return {};
}

base::Result<std::string> DirectorySpool::write(const SpoolObject& object) {
  std::string path = new_spool_name(object, SizeInName::left_out, random_);
  auto written = objects::write_enclosed_file(descriptor_.number(), path, object.bytes, object.keep_until);
  if (!written) {
    if (written.error().code == base::ErrorCode::conflict) return base::propagate(std::move(written).error());
    base::Error error = explained(std::move(written).error(), descriptor_.number(), path);
    note_failure({std::move(path), object.bytes.size(), error.message});
    return base::fail(base::ErrorCode::io, std::move(error).message);  // whatever it is, the e-mail is not at fault
  }
  return path;
}

void DirectorySpool::note_failure(Failure failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_)
    base::log_error("outbox", "the spool takes no writes: e-mails are refused, or wait",
                    {{"spool", directory_.string()}, {"error", failure.reason}});
  failure_ = std::move(failure);
}

std::optional<std::string> DirectorySpool::problem() const {
  const std::lock_guard lock(mutex_);
  if (!failure_) return std::nullopt;
  return "the spool takes no writes: " + failure_->reason;
}

void DirectorySpool::look_after_problem() {
  std::optional<Failure> failure;
  {
    const std::lock_guard lock(mutex_);
    failure = failure_;
  }
  if (!failure || !has_room_for(failure->bytes)) return;
  constexpr std::size_t largest_trial = 1 << 20;  // more would keep the caller waiting
  const std::string trial(std::min(failure->bytes, largest_trial), '\0');
  // No e-mail names it. Its time is over at once, in case this process ends before it is removed.
  if (!objects::write_enclosed_file(descriptor_.number(), failure->path, trial, base::TimePoint())) return;
  (void)objects::remove_enclosed_file(descriptor_.number(), failure->path);
  const std::lock_guard lock(mutex_);
  failure_.reset();
  base::log_info("outbox", "the spool takes writes again", {{"spool", directory_.string()}});
}

// And as much again, so that the next write does not end it.
bool DirectorySpool::has_room_for(std::size_t bytes) const {
  struct statvfs disk {};
  if (fstatvfs(descriptor_.number(), &disk) != 0 || disk.f_blocks == 0) return true;  // it cannot be told
  return disk.f_bavail * disk.f_frsize >= 2 * bytes;
}

void DirectorySpool::append_metrics(std::string& out) const { append_refusal(out, problem().has_value()); }

std::string DirectorySpool::path_inside(const std::string& path) const {
  for (const std::filesystem::path& directory : names_) {
    std::string base = directory.string();
    while (base.ends_with('/')) base.pop_back();
    base += '/';
    if (path.starts_with(base)) return path.substr(base.size());
  }
  return path;
}

base::Result<std::string> DirectorySpool::read_if(const std::string& path, const Admit& admit) {
  const std::string inside = path_inside(path);
  const auto file = objects::open_enclosed_file(descriptor_.number(), inside, largest_object);
  if (!file) return base::propagate(explained(file.error(), descriptor_.number(), inside));
  if (!admit(file->size)) return not_admitted(path);
  auto bytes = objects::read_file(*file);
  if (!bytes) return bytes;
  if (contradicts_spool_name(path, *bytes))
    return base::fail(base::ErrorCode::corrupt, "the file " + path + " of the spool is damaged");
  return bytes;
}

base::Result<void> DirectorySpool::remove(const std::string& path) {
  return objects::remove_enclosed_file(descriptor_.number(), path_inside(path));
}

base::Result<std::int64_t> DirectorySpool::sweep(base::TimePoint now, const IsNeeded& is_needed) {
  namespace fs = std::filesystem;
  std::int64_t removed = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator file(directory_, error), end; !error && file != end; file.increment(error)) {
    std::error_code gone;  // another machine sweeps as well
    // Who made a link keeps what it leads to, and takes it away again.
    if (file->is_symlink(gone) || !file->is_regular_file(gone) || gone || !is_ours(file->path().filename().native()))
      continue;
    auto kept_until = std::chrono::file_clock::to_sys(file->last_write_time(gone));
    const bool is_unfinished = file->path().native().ends_with(objects::unfinished_ending);
    if (is_unfinished) kept_until += left_unfinished;
    if (gone || kept_until >= now) continue;
    if (is_needed && !is_unfinished && is_needed(id_in_spool_path(file->path().native()))) continue;
    if (fs::remove(file->path(), gone)) ++removed;
  }
  if (error) return base::fail(base::ErrorCode::io, "cannot read the spool: " + error.message());
  return removed;
}

}  // namespace postino::outbox
