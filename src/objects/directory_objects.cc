#include "objects/directory_objects.h"

#include <algorithm>

#include "objects/directory_names.h"
#include "objects/enclosed_file.h"

namespace postino::objects {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished_folder = ".unfinished";
constexpr std::chrono::hours left_behind{24};  // after so long the writer of an unfinished file is gone
constexpr int put_attempts = 16;               // a folder may be removed because it is empty while a file comes into it
constexpr std::chrono::hours listing_life{1};  // after so long folders are read again

}  // namespace

base::Result<std::unique_ptr<DirectoryObjects>> DirectoryObjects::open(const fs::path& directory, std::string bucket,
                                                                       const base::Clock& clock, base::Random& random) {
  std::error_code error;
  const bool is_new = fs::create_directories(directory, error);
  if (is_new && !error) fs::permissions(directory, fs::perms::owner_all, error);
  if (error)
    return base::fail(base::ErrorCode::io,
                      "cannot create the directory of objects " + directory.string() + ": " + error.message());
  TRY(std::unique_ptr<DirectoryObjects> objects, open_to_read(directory, std::move(bucket), clock, random));
  objects->remove_unfinished();
  return objects;
}

base::Result<std::unique_ptr<DirectoryObjects>> DirectoryObjects::open_to_read(const fs::path& directory,
                                                                               std::string bucket,
                                                                               const base::Clock& clock,
                                                                               base::Random& random) {
  TRY(base::Descriptor descriptor, open_directory(directory.string()));
  return std::unique_ptr<DirectoryObjects>(
      new DirectoryObjects(fs::absolute(directory), std::move(bucket), std::move(descriptor), clock, random));
}

void DirectoryObjects::remove_unfinished() const {
  std::error_code error;
  for (fs::directory_iterator file(directory_ / unfinished_folder, error), end; !error && file != end;
       file.increment(error)) {
    std::error_code gone;
    const auto changed = std::chrono::file_clock::to_sys(file->last_write_time(gone));
    if (!gone && changed + left_behind < clock_.now()) fs::remove(file->path(), gone);
  }
}

base::Result<void> DirectoryObjects::put(const std::string& name, std::string_view bytes) {
  TRY_VOID(check_object_name(name));
  if (bytes.size() > largest_object)
    return base::invalid("an object must have at most " + std::to_string(largest_object) + " bytes");
  const std::string path = file_of(name);
  const std::string unfinished = std::string(unfinished_folder) + "/" + base::make_uuid(random_);
  base::Result<void> written;
  for (int attempt = 0; attempt < put_attempts; ++attempt) {
    written = replace_enclosed_file(descriptor_.number(), path, bytes, clock_.now(), unfinished);
    if (written || written.error().code != base::ErrorCode::not_found) break;
  }
  if (!written) return base::fail(base::ErrorCode::io, written.error().message);
  return {};
}

base::Result<std::string> DirectoryObjects::get(const std::string& name) {
  TRY_VOID(check_object_name(name));
  const std::string path = file_of(name);
  // What is wrong with one file says nothing of the others.
  auto file = open_enclosed_file(descriptor_.number(), path, largest_object);
  if (file) {
    auto bytes = read_file(*file);
    if (!bytes) return base::fail(base::ErrorCode::corrupt, bytes.error().message);
    return bytes;
  }
  base::Error error = std::move(file).error();
  const bool is_refused = error.code == base::ErrorCode::io && refuses_reading(descriptor_.number(), path);
  if (error.code == base::ErrorCode::invalid || is_refused) error.code = base::ErrorCode::corrupt;
  // A link may lead anywhere. What is behind it is not lost: an operator can put it there.
  if (error.code == base::ErrorCode::not_found && meets_link(descriptor_.number(), path))
    return base::fail(base::ErrorCode::corrupt,
                      "the object " + name + " is behind a symbolic link, which is not followed");
  return base::propagate(std::move(error));
}

base::Result<void> DirectoryObjects::remove(const std::string& name) {
  TRY_VOID(check_object_name(name));
  std::string path = file_of(name);
  const auto removed = remove_enclosed_file(descriptor_.number(), path);
  if (!removed && removed.error().code != base::ErrorCode::not_found) return removed;
  // Folders that are empty now go with it.
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos; slash = path.rfind('/')) {
    path.resize(slash);
    if (!remove_enclosed_directory(descriptor_.number(), path)) break;
  }
  return {};
}

std::unique_ptr<DirectoryObjects::Listing> DirectoryObjects::listing_after(const std::string& prefix,
                                                                           const std::string& after) {
  {
    const std::lock_guard lock(mutex_);
    if (listing_ && !after.empty() && listing_->walk.last() == after && listing_->walk.prefix() == prefix &&
        clock_.monotonic() - listing_->begun < listing_life)
      return std::move(listing_);
  }
  return std::make_unique<Listing>(Listing{DirectoryWalk(directory_, prefix, after), clock_.monotonic()});
}

base::Result<ObjectPage> DirectoryObjects::list(const std::string& prefix, const std::string& after, int limit) {
  std::unique_ptr<Listing> listing = listing_after(prefix, after);
  const std::uint64_t read_before = listing->walk.folders_read();
  auto page = listing->walk.next(static_cast<std::size_t>(std::clamp(limit, 1, most_listed)));
  if (!page) return base::fail(base::ErrorCode::io, "cannot read the directory of objects " + directory_.string());
  const std::lock_guard lock(mutex_);
  folders_read_ += listing->walk.folders_read() - read_before;
  listing_ = page->has_more ? std::move(listing) : nullptr;
  return ObjectPage{std::move(page->objects), page->has_more, clock_.now()};
}

std::uint64_t DirectoryObjects::folders_read() const {
  const std::lock_guard lock(mutex_);
  return folders_read_;
}

}  // namespace postino::objects
