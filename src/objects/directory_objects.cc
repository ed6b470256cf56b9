#include "objects/directory_objects.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "objects/enclosed_file.h"

namespace postino::objects {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished_folder = ".unfinished";
constexpr std::chrono::hours left_behind{24};  // after so long the writer of an unfinished file is gone
constexpr int put_attempts = 16;               // a folder may be removed because it is empty while a file comes into it

// "a/.b/c.json" is the file "a/\.b/=c.json".
std::string file_of(std::string_view name) {
  std::string path;
  for (std::size_t begin = 0;;) {
    const std::size_t slash = name.find('/', begin);
    const std::string_view part = name.substr(begin, slash - begin);
    if (slash == std::string_view::npos) return path.append("=").append(part);
    if (part.front() == '.' || part.front() == '=') path += '\\';
    path.append(part).append("/");
    begin = slash + 1;
  }
}

// What an entry of a folder adds to the names of objects: "c.json", or "b/" for a folder. nullopt for what is not ours.
std::optional<std::string> part_of_entry(const fs::directory_entry& entry) {
  std::error_code error;
  std::string name = entry.path().filename().string();
  if (entry.is_symlink(error) || error) return std::nullopt;
  if (entry.is_directory(error)) {
    if (name.starts_with('.') || name.starts_with('=')) return std::nullopt;
    if (name.starts_with('\\')) name.erase(0, 1);
    return name + "/";
  }
  if (!entry.is_regular_file(error) || !name.starts_with('=')) return std::nullopt;
  return name.substr(1);
}

// Collects names in their order.
class Walk {
 public:
  Walk(const std::string& prefix, const std::string& after, std::size_t limit)
      : prefix_(prefix), after_(after), limit_(limit) {}

  // The names in the folder begin with `begin`, which is empty or ends with a slash. False when it cannot be read.
  bool visit(const fs::path& folder, const std::string& begin) {
    std::vector<Entry> entries;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      std::optional<std::string> part = part_of_entry(*entry);
      if (part && is_wanted(begin + *part)) entries.push_back({begin + *std::move(part), entry->path()});
    }
    // Another process may have removed it because it is empty; but not the directory itself.
    if (error && (begin.empty() || error != std::errc::no_such_file_or_directory)) return false;
    std::ranges::sort(entries, {}, &Entry::name);
    for (const Entry& entry : entries) {
      if (objects_.size() > limit_) return true;
      if (entry.name.ends_with('/')) {
        if (!visit(entry.path, entry.name)) return false;
      } else {
        add(entry.name, entry.path);
      }
    }
    return true;
  }

  // One more than the limit when there are more.
  std::vector<ObjectInfo>& objects() { return objects_; }

 private:
  struct Entry {
    std::string name;
    fs::path path;
  };

  // Of an object's name, or of what those in a folder begin with.
  bool is_wanted(const std::string& name) const {
    const bool is_folder = name.ends_with('/');
    if (!name.starts_with(prefix_) && !(is_folder && prefix_.starts_with(name))) return false;
    return name > after_ || (is_folder && after_.starts_with(name));
  }

  void add(const std::string& name, const fs::path& path) {
    std::error_code size_error, time_error;
    const auto size = fs::file_size(path, size_error);
    const auto time = fs::last_write_time(path, time_error);
    if (size_error || time_error) return;  // it was removed meanwhile
    objects_.push_back(
        {name, size, std::chrono::time_point_cast<base::Milliseconds>(std::chrono::file_clock::to_sys(time))});
  }

  const std::string& prefix_;
  const std::string& after_;
  const std::size_t limit_;
  std::vector<ObjectInfo> objects_;
};

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

base::Result<ObjectPage> DirectoryObjects::list(const std::string& prefix, const std::string& after, int limit) {
  const auto wanted = static_cast<std::size_t>(std::clamp(limit, 1, most_listed));
  Walk walk(prefix, after, wanted);
  if (!walk.visit(directory_, ""))
    return base::fail(base::ErrorCode::io, "cannot read the directory of objects " + directory_.string());
  ObjectPage page{std::move(walk.objects()), false, clock_.now()};
  if (page.objects.size() > wanted) {
    page.objects.resize(wanted);
    page.has_more = true;
  }
  return page;
}

}  // namespace postino::objects
