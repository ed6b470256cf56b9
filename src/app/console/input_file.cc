#include "app/console/input_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace postino::app {

namespace {

auto cannot_read(const std::string& name, int error) {
  return base::fail(base::ErrorCode::io, "cannot read " + name + ": " + std::generic_category().message(error));
}

}  // namespace

base::Result<std::string> read_input(const std::string& name, std::size_t most_bytes) {
  const auto close = [](std::FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(name == "-" ? stdin : std::fopen(name.c_str(), "rb"), close);
  if (!file) return cannot_read(name, errno);
  std::string content;
  std::array<char, 64 << 10> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    if (content.size() + count > most_bytes)
      return base::invalid(name + " has more than " + std::to_string(most_bytes >> 20) + " MiB");
    content.append(buffer.data(), count);
  }
  if (std::ferror(file.get()) != 0) return cannot_read(name, errno);
  return content;
}

}  // namespace postino::app
