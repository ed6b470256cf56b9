#include "sealing/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/descriptor.h"
#include "base/hash.h"
#include "base/text.h"
#include "sealing/sealer.h"

namespace postino::sealing {

namespace {

constexpr std::size_t largest_file = 64 << 10;

std::string last_error() { return std::error_code(errno, std::generic_category()).message(); }

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  const char low = base::lower(letter);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

base::Result<void> failure(std::string_view what, const std::filesystem::path& file) {
  return base::fail(base::ErrorCode::io,
                    "cannot " + std::string(what) + " the sealing key '" + file.string() + "': " + last_error());
}

base::Result<void> write_all(int descriptor, std::string_view text, const std::filesystem::path& file) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return failure("write", file);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(descriptor) != 0) return failure("write", file);
  const base::Descriptor folder(::open((file.parent_path() / ".").c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (!folder || ::fsync(folder.number()) != 0) return failure("write", file);
  return {};
}

}  // namespace

std::optional<std::string> key_of(std::string_view digits) {
  if (digits.size() != 2 * key_bytes) return std::nullopt;
  std::string key;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_of(digits[i]);
    const int low = digit_of(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    key += static_cast<char>(high * 16 + low);
  }
  return key;
}

base::Result<std::vector<std::string>> parse_keys(std::string_view text) {
  std::vector<std::string> keys;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    std::optional<std::string> key = key_of(line);
    if (!key) return base::invalid("line " + std::to_string(number) + " must be a key of 64 hexadecimal digits");
    keys.push_back(*std::move(key));
  }
  if (keys.empty()) return base::invalid("has no key");
  if (keys.size() > most_keys) return base::invalid("has more than " + std::to_string(most_keys) + " keys");
  return keys;
}

base::Result<std::vector<std::string>> read_key_file(const std::filesystem::path& file) {
  const base::Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened && errno == ENOENT)
    return base::fail(base::ErrorCode::not_found, "there is no sealing key '" + file.string() + "'");
  if (!opened) return base::propagate(failure("read", file).error());
  std::string text(largest_file + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(opened.number(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::propagate(failure("read", file).error());
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  if (size > largest_file) return base::invalid("the sealing key '" + file.string() + "' is too large");
  auto keys = parse_keys(text);
  if (!keys) return base::invalid("the sealing key '" + file.string() + "': " + keys.error().message);
  return keys;
}

base::Result<std::vector<std::string>> make_key_file(const std::filesystem::path& file, base::Random& random) {
  constexpr mode_t of_owner = S_IRUSR | S_IWUSR;
  const std::string key = random_bytes(random, key_bytes);
  const base::Descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, of_owner));
  if (!made && errno == EEXIST)
    return base::fail(base::ErrorCode::conflict, "there is a sealing key '" + file.string() + "' already");
  if (!made) return base::propagate(failure("make", file).error());
  const std::string text =
      "# Seals the keys in the store of Postino. Without it they cannot be used: keep a copy of it, apart from the "
      "data.\n" +
      base::to_hex(key) + "\n";
  if (const auto written = write_all(made.number(), text, file); !written) {
    ::unlink(file.c_str());
    return base::propagate(written.error());
  }
  return std::vector<std::string>{key};
}

bool is_open_to_others(const std::filesystem::path& file) {
  struct stat found {};
  return ::stat(file.c_str(), &found) == 0 && (found.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

}  // namespace postino::sealing
