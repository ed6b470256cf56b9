#include "objects/directory_walk.h"

#include <algorithm>

#include "objects/directory_names.h"

namespace postino::objects {

namespace {

namespace fs = std::filesystem;

// Keeps the first ones, in any order.
void keep_first(std::vector<std::string>& parts, std::size_t count) {
  std::ranges::nth_element(parts, parts.begin() + static_cast<std::ptrdiff_t>(count));
  parts.resize(count);
}

}  // namespace

DirectoryWalk::DirectoryWalk(fs::path directory, std::string prefix, const std::string& after, std::size_t most_kept)
    : directory_(std::move(directory)),
      prefix_(std::move(prefix)),
      after_(after),
      most_kept_(most_kept),
      last_(after),
      folders_(1) {}

bool DirectoryWalk::is_wanted(const std::string& name) const {
  const bool is_folder = name.ends_with('/');
  if (!name.starts_with(prefix_) && !(is_folder && prefix_.starts_with(name))) return false;
  return name > after_ || (is_folder && after_.starts_with(name));
}

// The entries behind those that it has.
bool DirectoryWalk::read(Folder& folder) {
  ++folders_read_;
  const fs::path path = directory_ / folder_of(folder.begin);
  const std::string last = folder.parts.empty() ? "" : folder.parts.back();
  folder = {.begin = std::move(folder.begin), .parts = {}, .next = 0, .is_complete = true};
  std::error_code error;
  // Another process may have put a link in its place, which may lead anywhere.
  if (!folder.begin.empty() && fs::is_symlink(path.parent_path(), error)) return true;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    std::optional<std::string> part = part_of_entry(*entry);
    if (!part || *part <= last || !is_wanted(folder.begin + *part)) continue;
    folder.parts.push_back(*std::move(part));
    if (folder.parts.size() < 2 * most_kept_) continue;
    keep_first(folder.parts, most_kept_);
    folder.is_complete = false;
  }
  // Another process may have removed it because it is empty; but not the directory itself.
  if (error && (folder.begin.empty() || error != std::errc::no_such_file_or_directory)) return false;
  if (folder.parts.size() > most_kept_) {
    keep_first(folder.parts, most_kept_);
    folder.is_complete = false;
  }
  std::ranges::sort(folder.parts);
  return true;
}

void DirectoryWalk::add(const std::string& name) {
  const fs::path path = directory_ / file_of(name);
  std::error_code size_error, time_error;
  const auto size = fs::file_size(path, size_error);
  const auto time = fs::last_write_time(path, time_error);
  if (size_error || time_error) return;  // it was removed meanwhile
  ahead_.push_back(
      {name, size, std::chrono::time_point_cast<base::Milliseconds>(std::chrono::file_clock::to_sys(time))});
}

// So that there are so many ahead, unless there are no more.
bool DirectoryWalk::fill(std::size_t count) {
  while (ahead_.size() < count && !folders_.empty()) {
    Folder& folder = folders_.back();
    if (folder.next < folder.parts.size()) {
      std::string name = folder.begin + folder.parts[folder.next++];
      if (name.ends_with('/'))
        folders_.push_back({.begin = std::move(name), .parts = {}, .next = 0, .is_complete = false});
      else
        add(name);
    } else if (!folder.is_complete) {
      if (!read(folder)) return false;
    } else {
      folders_.pop_back();
    }
  }
  return true;
}

std::optional<DirectoryWalk::Page> DirectoryWalk::next(std::size_t limit) {
  // A directory that is gone, as when it is not mounted any more, is not one whose folders were all removed.
  std::error_code error;
  if (!fs::is_directory(directory_, error) || !fill(limit + 1)) return std::nullopt;
  const auto end = ahead_.begin() + static_cast<std::ptrdiff_t>(std::min(limit, ahead_.size()));
  Page page{.objects = {std::make_move_iterator(ahead_.begin()), std::make_move_iterator(end)}, .has_more = false};
  ahead_.erase(ahead_.begin(), end);
  page.has_more = !ahead_.empty();
  if (!page.objects.empty()) last_ = page.objects.back().name;
  return page;
}

}  // namespace postino::objects
