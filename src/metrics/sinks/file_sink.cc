#include "metrics/sinks/file_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "metrics/sinks/change_json.h"

namespace postino::metrics {

namespace {

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
  return {.number = noted(checkpoint.notes, "file", 1), .bytes = noted(checkpoint.notes, "bytes", 0)};
}

std::filesystem::path FileSink::path_of(std::int64_t number) const {
  constexpr std::size_t digits = 6;
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return options_.directory / (options_.name + "-" + text + ".jsonl");
}

Outcome<void> FileSink::create(Place& place) {
  std::error_code error;
  std::filesystem::create_directories(options_.directory, error);
  if (error) return trouble(Trouble::temporary, "cannot make " + options_.directory.string() + ": " + error.message());
  const std::filesystem::path path = path_of(place.number);
  file_ = base::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file_) return file_trouble(path, "cannot open");
  // A process that has lost its turn and does not know it yet must not write between the lines of another.
  if (::flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
    const auto failure = file_trouble(path, "another process writes to");
    file_.reset();
    return failure;
  }
  if (!sync_directory(options_.directory)) {
    const auto failure = file_trouble(options_.directory, "cannot sync");
    file_.reset();
    return failure;
  }
  return {};
}

Outcome<void> FileSink::open(Place& place) {
  TRY_VOID(create(place));
  const off_t size = ::lseek(file_.number(), 0, SEEK_END);
  if (size < place.bytes) {
    base::log_error("metrics", "a file of changes is shorter than it was; a new one is begun",
                    {{"file", path_of(place.number).string()}});
    place = {.number = place.number + 1, .bytes = 0};
    TRY_VOID(create(place));
  }
  if (::ftruncate(file_.number(), place.bytes) != 0 || ::lseek(file_.number(), place.bytes, SEEK_SET) != place.bytes) {
    const auto failure = file_trouble(path_of(place.number), "cannot cut");
    file_.reset();
    return failure;
  }
  return {};
}

Outcome<void> FileSink::deliver(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) {
  Place place = place_in(checkpoint);
  const bool is_full = place.bytes >= static_cast<std::int64_t>(options_.file_bytes);
  if (is_full) {
    file_.reset();
    place = {.number = place.number + 1, .bytes = 0};
  }
  if (!file_ || open_.number != place.number || open_.bytes != place.bytes) {
    file_.reset();
    TRY_VOID(open(place));
  }
  std::string lines;
  for (const store::StreamRecord& record : records) {
    append_change(lines, table(), record);
    lines += '\n';
  }
  if (!write_all(file_.number(), lines) || ::fdatasync(file_.number()) != 0) {
    const auto failure = file_trouble(path_of(place.number), "cannot write to");
    file_.reset();
    return failure;
  }
  place.bytes += static_cast<std::int64_t>(lines.size());
  open_ = place;
  checkpoint.notes = {{"file", place.number}, {"bytes", place.bytes}};
  return {};
}

}  // namespace postino::metrics
