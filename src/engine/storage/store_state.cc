#include "engine/storage/store_state.h"

#include <sys/stat.h>

#include <charconv>
#include <sstream>

#include "engine/storage/crc32c.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/whole_file.h"

namespace postino::engine {

namespace {

constexpr std::string_view state_title = "postino store state 1";
constexpr std::string_view unknown_value = "-";

std::string hexadecimal(std::uint32_t value) {
  std::string digits(8, '0');
  for (std::size_t i = 0; i < digits.size(); ++i) digits[i] = "0123456789abcdef"[(value >> (28 - 4 * i)) & 0xF];
  return digits;
}

template <class Integer>
bool read_value(const std::string& text, int base, std::optional<Integer>& value) {
  if (text == unknown_value) return true;
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  value = number;
  return error == std::errc() && end == text.data() + text.size();
}

base::Result<StoreState> not_a_state() {
  return base::fail(base::ErrorCode::corrupt, "is not a record of the store's files, or is damaged");
}

rocksdb::IOStatus write_synced(rocksdb::FileSystem& files, const std::string& path, const std::string& contents) {
  const rocksdb::IOOptions options;
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::IOStatus status = files.NewWritableFile(path, rocksdb::FileOptions(), &file, nullptr);
  if (status.ok()) static_cast<void>(::chmod(path.c_str(), S_IRUSR | S_IWUSR));
  if (status.ok()) status = file->Append(contents, options, nullptr);
  if (status.ok()) status = file->Sync(options, nullptr);
  if (file) {
    const rocksdb::IOStatus closed = file->Close(options, nullptr);
    if (status.ok()) status = closed;
  }
  return status;
}

rocksdb::IOStatus sync_names(rocksdb::FileSystem& files, const std::filesystem::path& directory) {
  std::unique_ptr<rocksdb::FSDirectory> names;
  rocksdb::IOStatus status = files.NewDirectory(directory.string(), rocksdb::IOOptions(), &names, nullptr);
  return status.ok() ? names->Fsync(rocksdb::IOOptions(), nullptr) : status;
}

}  // namespace

std::string encode_state(const StoreState& state) {
  std::string text(state_title);
  text.append(state.open ? "\nopen " : "\nclosed ");
  text.append(state.durability == Durability::synced ? "synced\n" : "relaxed\n");
  for (const KnownFile& file : state.files) {
    text.append(file.name).append(" ");
    text.append(file.size ? std::to_string(*file.size) : unknown_value).append(" ");
    text.append(file.checksum ? hexadecimal(*file.checksum) : unknown_value).append("\n");
  }
  return text + "end " + hexadecimal(crc32c(text)) + "\n";
}

base::Result<StoreState> decode_state(std::string_view text) {
  constexpr std::size_t end_size = 4 + 8 + 1;  // "end ", checksum, line end
  if (text.size() < end_size) return not_a_state();
  const std::string_view body = text.substr(0, text.size() - end_size);
  if (text.substr(body.size()) != "end " + hexadecimal(crc32c(body)) + "\n") return not_a_state();

  std::istringstream lines{std::string(body)};
  std::string line;
  if (!std::getline(lines, line) || line != state_title || !std::getline(lines, line)) return not_a_state();
  StoreState state;
  state.open = line.starts_with("open ");
  state.durability = line.ends_with(" relaxed") ? Durability::relaxed : Durability::synced;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    KnownFile file;
    std::string size;
    std::string checksum;
    if (!(words >> file.name >> size >> checksum) || !read_value(size, 10, file.size) ||
        !read_value(checksum, 16, file.checksum))
      return not_a_state();
    state.files.push_back(std::move(file));
  }
  return state;
}

base::Result<std::optional<std::string>> read_state_text(const std::filesystem::path& directory) {
  const std::filesystem::path file = state_file(directory);
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return std::nullopt;
  TRY(std::string text, read_whole_file(file));
  return std::optional<std::string>(std::move(text));
}

base::Result<std::optional<StoreState>> read_state(const std::filesystem::path& directory) {
  TRY(const auto text, read_state_text(directory));
  if (!text) return std::nullopt;
  TRY(StoreState state, decode_state(*text));
  return std::optional<StoreState>(std::move(state));
}

rocksdb::IOStatus write_state(rocksdb::FileSystem& files, const std::filesystem::path& directory,
                              const StoreState& state) {
  return write_state_text(files, directory, encode_state(state));
}

rocksdb::IOStatus write_state_text(rocksdb::FileSystem& files, const std::filesystem::path& directory,
                                   const std::optional<std::string>& text) {
  const rocksdb::IOOptions options;
  if (!text) {
    rocksdb::IOStatus status =
        files.DeleteFile((store_directory(directory) / state_mark_name).string(), options, nullptr);
    if (status.ok()) status = sync_names(files, store_directory(directory));
    if (status.ok()) status = files.DeleteFile(state_file(directory).string(), options, nullptr);
    return status.ok() ? sync_names(files, directory) : status;
  }
  const std::string draft = state_file(directory).string() + ".new";
  rocksdb::IOStatus status = write_synced(files, draft, *text);
  if (status.ok()) status = files.RenameFile(draft, state_file(directory).string(), options, nullptr);
  return status.ok() ? sync_names(files, directory) : status;
}

rocksdb::IOStatus write_state_mark(rocksdb::FileSystem& files, const std::filesystem::path& directory) {
  const std::filesystem::path store = store_directory(directory);
  const std::string mark = (store / state_mark_name).string();
  if (files.FileExists(mark, rocksdb::IOOptions(), nullptr).ok()) return rocksdb::IOStatus::OK();
  rocksdb::IOStatus status = write_synced(files, mark, "");
  return status.ok() ? sync_names(files, store) : status;
}

}  // namespace postino::engine
