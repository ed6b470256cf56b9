#include "metrics/sinks/file_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/log.h"
#include "metrics/sinks/change_json.h"

namespace postino::metrics {

namespace {

constexpr std::string_view file_end = ".jsonl";
// A number beyond is none of ours: another program has made it up.
constexpr std::int64_t highest_possible = 1'000'000'000'000;

tl::unexpected<Failure> file_trouble(const std::filesystem::path& path, const char* what) {
  return trouble(Trouble::temporary, std::string(what) + " " + path.string() + ": " + std::strerror(errno));
}

std::int64_t noted(const item::Map& notes, std::string_view name, std::int64_t otherwise) {
  const item::AttributeValue* const value = notes.find(name);
  const auto* const number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return number != nullptr ? number->to_int64().value_or(otherwise) : otherwise;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// So that the name of a new file is on the disk, too.
bool sync_directory(const std::filesystem::path& directory) {
  const base::Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened && ::fsync(opened.number()) == 0;
}

}  // namespace

FileSink::Place FileSink::place_in(const Checkpoint& checkpoint) {
  const Place place{.number = noted(checkpoint.notes, "file", 0), .bytes = noted(checkpoint.notes, "bytes", 0)};
  return place.number < 0 || place.number > highest_possible || place.bytes < 0 ? Place() : place;
}

std::filesystem::path FileSink::path_of(std::int64_t number) const {
  constexpr std::size_t digits = 6;
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return options_.directory / (options_.name + "-" + text + std::string(file_end));
}

std::string FileSink::lines_of(std::span<const store::StreamRecord> records) const {
  std::string lines;
  for (const store::StreamRecord& record : records) {
    append_change(lines, table(), record);
    lines += '\n';
  }
  return lines;
}

Outcome<std::int64_t> FileSink::highest_number() const {
  std::error_code error;
  // What is changed is for this user alone, as in the tables.
  if (std::filesystem::create_directories(options_.directory, error) && !error)
    std::filesystem::permissions(options_.directory, std::filesystem::perms::owner_all, error);
  if (error) return trouble(Trouble::temporary, "cannot make " + options_.directory.string() + ": " + error.message());
  std::int64_t highest = 0;
  std::filesystem::directory_iterator entry(options_.directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(options_.name + "-") || !name.ends_with(file_end)) continue;
    const char* const begin = name.data() + options_.name.size() + 1;
    const char* const end = name.data() + name.size() - file_end.size();
    std::int64_t number = 0;
    if (begin >= end) continue;
    const auto [last, fault] = std::from_chars(begin, end, number);
    if (fault == std::errc() && last == end && number < highest_possible) highest = std::max(highest, number);
  }
  if (error) return trouble(Trouble::temporary, "cannot read " + options_.directory.string() + ": " + error.message());
  return highest;
}

Outcome<void> FileSink::open(const Place& place, int flags) {
  const std::filesystem::path path = path_of(place.number);
  base::Descriptor opened(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, S_IRUSR | S_IWUSR));
  if (!opened) return file_trouble(path, "cannot open");
  // A process that has lost its turn and does not know it yet must not write between the lines of another.
  if (::flock(opened.number(), LOCK_EX | LOCK_NB) != 0) return file_trouble(path, "another process writes to");
  if (!sync_directory(options_.directory)) return file_trouble(options_.directory, "cannot sync");
  file_ = std::move(opened);
  open_ = place;
  return {};
}

bool FileSink::is_in_place() const {
  struct stat opened = {}, named = {};
  return ::fstat(file_.number(), &opened) == 0 && ::lstat(path_of(open_.number).c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

Outcome<std::optional<std::size_t>> FileSink::there_already(const Place& place, const std::string& lines) const {
  const off_t size = ::lseek(file_.number(), 0, SEEK_END);
  if (size < 0) return file_trouble(path_of(place.number), "cannot read");
  if (size < place.bytes) return std::optional<std::size_t>();
  std::string there(std::min(static_cast<std::size_t>(size - place.bytes), lines.size()), '\0');
  std::size_t done = 0;
  while (done < there.size()) {
    const ssize_t count =
        ::pread(file_.number(), there.data() + done, there.size() - done, place.bytes + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return file_trouble(path_of(place.number), "cannot read");
    done += static_cast<std::size_t>(count);
  }
  if (!lines.starts_with(there)) return std::optional<std::size_t>();
  return std::optional(there.size());
}

Outcome<bool> FileSink::open_again(const Place& place, const std::string& lines) {
  const auto is_as_left = [&]() -> Outcome<bool> {
    const bool is_new = place.bytes == 0;
    if (!is_new && ::access(path_of(place.number).c_str(), F_OK) != 0 && errno == ENOENT) return false;
    TRY_VOID(open(place, is_new ? O_CREAT : 0));
    TRY(const std::optional<std::size_t> there, there_already(place, lines));
    return there.has_value();
  };
  const auto found = is_as_left();
  if (found && *found) return true;
  file_.reset();
  if (!found) return base::propagate(found.error());
  base::log_error("metrics", "a file of changes is not as it was left; it stays, and a new one is begun",
                  {{"file", path_of(place.number).string()}});
  return false;
}

// The file to be written to is open when this says that nothing has changed in the checkpoint.
Outcome<bool> FileSink::prepare(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) {
  const Place place = place_in(checkpoint);
  const bool is_full = place.bytes >= static_cast<std::int64_t>(options_.file_bytes);
  const std::string lines = lines_of(records);
  if (file_ && open_ == place && !is_full && is_in_place()) {
    TRY(const std::optional<std::size_t> there, there_already(place, lines));
    if (there) return false;
  }
  file_.reset();
  TRY(const std::int64_t highest, highest_number());
  // Behind a file that the checkpoint does not know nothing is added to an older one.
  if (place.number > 0 && !is_full && highest <= place.number) {
    TRY(const bool is_open, open_again(place, lines));
    if (is_open) return false;
  }
  checkpoint.notes = {{"file", std::max(highest, place.number) + 1}, {"bytes", std::int64_t{0}}};
  return true;
}

Outcome<void> FileSink::deliver(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) {
  Place place = place_in(checkpoint);
  // A number that was free a moment ago: if it is not any more, the file is not ours.
  if (!file_) TRY_VOID(open(place, O_CREAT | O_EXCL));
  const std::string lines = lines_of(records);
  TRY(const std::optional<std::size_t> there, there_already(place, lines));
  if (!there) return trouble(Trouble::temporary, path_of(place.number).string() + " was changed by another program");
  if (!write_all(file_.number(), std::string_view(lines).substr(*there)) || ::fdatasync(file_.number()) != 0) {
    const auto failure = file_trouble(path_of(place.number), "cannot write to");
    file_.reset();
    return failure;
  }
  if (!is_in_place()) {
    file_.reset();
    return trouble(Trouble::temporary, path_of(place.number).string() + " was removed while it was written to");
  }
  place.bytes += static_cast<std::int64_t>(lines.size());
  open_ = place;
  checkpoint.notes = {{"file", place.number}, {"bytes", place.bytes}};
  return {};
}

}  // namespace postino::metrics
