#include "objects/enclosed_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace postino::objects {

namespace {

base::Descriptor open_below(int directory, const std::string& path, int flags, mode_t mode) {
  constexpr int patience = 100;  // with files that are renamed at the same time
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  base::Descriptor opened;
  for (int tries = 0; tries < patience; ++tries) {
    opened = base::Descriptor(static_cast<int>(syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
    if (opened || !base::is_temporary(errno)) break;
  }
  return opened;
}

// A pipe or a device must not keep us waiting.
base::Descriptor open_for_reading(int directory, const std::string& path) {
  return open_below(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

tl::unexpected<base::Error> failure(const std::string& what, const std::string& path) {
  if (errno == ENXIO) return base::invalid(path + " is not a regular file");  // a socket
  const bool missing = errno == ENOENT || errno == ENOTDIR || errno == EXDEV || errno == ELOOP || errno == ENAMETOOLONG;
  return base::fail(missing ? base::ErrorCode::not_found : base::ErrorCode::io,
                    "cannot " + what + " " + path + ": " + (missing ? "there is no such file" : std::strerror(errno)));
}

// A path below the base, split for calls that take a directory and a name in it.
struct Place {
  std::string folder;  // "." for the base itself
  std::string name;
};

Place place_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

base::Descriptor open_folder(int directory, const std::string& path) {
  return open_below(directory, path, O_RDONLY | O_DIRECTORY, 0);
}

// "2026/11/x.json": makes 2026 and 2026/11, each durable in the one above.
base::Result<void> make_directories(int directory, const std::string& path) {
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    const Place place = place_of(path.substr(0, end));
    const base::Descriptor above = open_folder(directory, place.folder);
    if (!above) return failure("create", path);
    if (mkdirat(above.number(), place.name.c_str(), 0700) == 0) {
      if (fsync(above.number()) != 0) return failure("create", path);
    } else if (errno != EEXIST) {
      return failure("create", path);
    }
  }
  return {};
}

base::Result<void> write_all(int file, const std::string& path, std::string_view bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("write", path);
    done += static_cast<std::size_t>(count);
  }
  return {};
}

base::Result<void> write_unfinished(int folder, const std::string& name, const std::string& path,
                                    std::string_view bytes, base::TimePoint modified) {
  const base::Descriptor file = open_below(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!file) return failure("create", path);
  TRY_VOID(write_all(file.number(), path, bytes));
  const timespec time{base::epoch_seconds(modified), 0};
  const timespec times[2] = {time, time};
  if (futimens(file.number(), times) != 0 || fsync(file.number()) != 0) return failure("write", path);
  return {};
}

}  // namespace

base::Result<EnclosedFile> open_enclosed_file(int directory, const std::string& path, std::size_t max_bytes) {
  EnclosedFile file{open_for_reading(directory, path), path};
  if (!file.descriptor) return failure("read", path);
  struct stat status {};
  if (fstat(file.descriptor.number(), &status) != 0) return failure("read", path);
  if (!S_ISREG(status.st_mode)) return base::invalid(path + " is not a regular file");
  file.size = static_cast<std::size_t>(status.st_size);
  if (file.size > max_bytes) return base::invalid(path + " is larger than " + std::to_string(max_bytes) + " bytes");
  return file;
}

base::Result<std::string> read_file(const EnclosedFile& file) {
  std::string bytes(file.size, '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::read(file.descriptor.number(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("read", file.path);
    if (count == 0) bytes.resize(done);  // it became shorter
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

base::Result<std::string> read_enclosed_file(int directory, const std::string& path, std::size_t max_bytes) {
  TRY(const EnclosedFile file, open_enclosed_file(directory, path, max_bytes));
  return read_file(file);
}

bool meets_link(int directory, const std::string& path) {
  return !open_below(directory, path, O_PATH, 0) && errno == ELOOP;
}

bool refuses_reading(int directory, const std::string& path) {
  return !open_for_reading(directory, path) && (errno == EACCES || errno == EPERM || errno == EIO);
}

base::Result<void> write_enclosed_file(int directory, const std::string& path, std::string_view bytes,
                                       base::TimePoint modified) {
  TRY_VOID(make_directories(directory, path));
  const Place place = place_of(path);
  const base::Descriptor folder = open_folder(directory, place.folder);
  if (!folder) return failure("create", path);
  // Under another name first: a reader that sees the file sees all of it.
  const std::string unfinished = place.name + std::string(unfinished_ending);
  base::Result<void> written = write_unfinished(folder.number(), unfinished, path, bytes, modified);
  if (written && linkat(folder.number(), unfinished.c_str(), folder.number(), place.name.c_str(), 0) != 0) {
    written = errno == EEXIST ? base::Result<void>(base::fail(base::ErrorCode::conflict, path + " exists"))
                              : base::Result<void>(failure("create", path));
  }
  unlinkat(folder.number(), unfinished.c_str(), 0);
  if (written && fsync(folder.number()) != 0) return failure("create", path);
  return written;
}

base::Result<void> replace_enclosed_file(int directory, const std::string& path, std::string_view bytes,
                                         base::TimePoint modified, const std::string& unfinished) {
  TRY_VOID(make_directories(directory, path));
  TRY_VOID(make_directories(directory, unfinished));
  const Place place = place_of(path);
  const Place first = place_of(unfinished);
  const base::Descriptor folder = open_folder(directory, place.folder);
  const base::Descriptor first_folder = open_folder(directory, first.folder);
  if (!folder || !first_folder) return failure("create", path);
  base::Result<void> written = write_unfinished(first_folder.number(), first.name, path, bytes, modified);
  if (written && renameat(first_folder.number(), first.name.c_str(), folder.number(), place.name.c_str()) != 0)
    written = failure("create", path);
  if (!written) {
    unlinkat(first_folder.number(), first.name.c_str(), 0);
    return written;
  }
  if (fsync(folder.number()) != 0) return failure("create", path);
  return {};
}

base::Result<void> remove_enclosed_file(int directory, const std::string& path) {
  const Place place = place_of(path);
  const base::Descriptor folder = open_folder(directory, place.folder);
  if (!folder || unlinkat(folder.number(), place.name.c_str(), 0) != 0) return failure("remove", path);
  return {};
}

bool remove_enclosed_directory(int directory, const std::string& path) {
  const Place place = place_of(path);
  const base::Descriptor folder = open_folder(directory, place.folder);
  return folder && unlinkat(folder.number(), place.name.c_str(), AT_REMOVEDIR) == 0;
}

base::Result<base::Descriptor> open_directory(const std::string& path) {
  base::Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return failure("open", path);
  return directory;
}

}  // namespace postino::objects
