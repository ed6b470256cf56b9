#include "engine/storage/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"

namespace postino::engine {

base::Result<std::string> read_whole_file(const std::filesystem::path& file) {
  const auto failed = [&] {
    return base::fail(base::ErrorCode::io, "cannot read '" + file.string() + "': " + std::strerror(errno));
  };
  const base::Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return failed();
  std::string contents;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = ::read(opened.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed();
    if (count == 0) return contents;
    contents.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace postino::engine
