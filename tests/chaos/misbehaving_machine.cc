// A machine that misbehaves on purpose, for one process: loaded before the C library (LD_PRELOAD), it stands between
// the process and the system calls for files and for the wall clock. What it does is told in a file of numbers that the
// driver has mapped too, and changes while the process runs (machine.py has the same list of numbers).
//
// Only files below one directory misbehave: sockets, pipes and libraries work as always. The monotonic clock stays
// true.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

struct Control {
  // What the driver asks for.
  std::atomic<std::int64_t> limits_space;    // 1: `space` counts
  std::atomic<std::int64_t> space;           // bytes that can still be written
  std::atomic<std::int64_t> write_delay;     // milliseconds
  std::atomic<std::int64_t> sync_delay;      // milliseconds
  std::atomic<std::int64_t> writes_to_fail;  // the next ones
  std::atomic<std::int64_t> syncs_to_fail;   // the next ones
  std::atomic<std::int64_t> clock_offset;    // nanoseconds
  // What was done, for the driver to see.
  std::atomic<std::int64_t> writes;
  std::atomic<std::int64_t> syncs;
  std::atomic<std::int64_t> failed_writes;
  std::atomic<std::int64_t> failed_syncs;
  std::atomic<std::int64_t> refused_for_space;
  std::atomic<std::int64_t> delays;
};

// An open file below the directory.
struct File {
  std::atomic<bool> misbehaves;
  std::atomic<std::int64_t> synced_bytes;  // from its beginning
  std::atomic<std::int64_t> set_aside;     // up to here it has room, however full the disk is
};

Control* control = nullptr;
char directory[PATH_MAX];
char lost_ranges[PATH_MAX];
std::array<File, 1 << 16> files;

std::int64_t size_of(int fd) {
  struct stat status = {};
  return fstat(fd, &status) == 0 ? status.st_size : 0;
}

File* find_file(int fd) {
  if (control == nullptr || fd < 0 || static_cast<std::size_t>(fd) >= files.size()) return nullptr;
  File& file = files[static_cast<std::size_t>(fd)];
  return file.misbehaves ? &file : nullptr;
}

bool is_below_directory(const char* path) {
  const std::size_t length = std::strlen(directory);
  return std::strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool path_of(int fd, char (&path)[PATH_MAX]) {
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return true;
}

void opened(int fd) {
  char path[PATH_MAX];
  if (control == nullptr || fd < 0 || static_cast<std::size_t>(fd) >= files.size()) return;
  File& file = files[static_cast<std::size_t>(fd)];
  file.synced_bytes = size_of(fd);
  file.set_aside = 0;
  file.misbehaves = path_of(fd, path) && is_below_directory(path);
}

void delay(const std::atomic<std::int64_t>& milliseconds) {
  const std::int64_t wait = milliseconds;
  if (wait == 0) return;
  ++control->delays;
  const int saved = errno;
  poll(nullptr, 0, static_cast<int>(wait));
  errno = saved;
}

// Takes one of those that shall fail.
bool takes_one(std::atomic<std::int64_t>& left) {
  std::int64_t count = left;
  while (count > 0)
    if (left.compare_exchange_weak(count, count - 1)) return true;
  return false;
}

bool lacks_space(std::int64_t bytes) {
  if (control->limits_space == 0 || control->space >= bytes) return false;
  ++control->refused_for_space;
  errno = ENOSPC;
  return true;
}

// Whether a write shall go on as it is: it has to say so before it writes. A failed write leaves the first half of its
// bytes behind, written by `write_half`.
template <class WriteHalf>
bool may_write(const File& file, off_t offset, std::size_t bytes, WriteHalf write_half) {
  ++control->writes;
  delay(control->write_delay);
  const std::int64_t end = offset + static_cast<std::int64_t>(bytes);
  const std::int64_t taken = std::clamp<std::int64_t>(end - file.set_aside, 0, static_cast<std::int64_t>(bytes));
  if (taken > 0 && lacks_space(taken)) return false;
  if (takes_one(control->writes_to_fail)) {
    ++control->failed_writes;
    write_half(bytes / 2);
    errno = EIO;
    return false;
  }
  if (control->limits_space != 0) control->space -= taken;
  return true;
}

// Where write() will write.
off_t position_of(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_APPEND) != 0 ? size_of(fd) : lseek(fd, 0, SEEK_CUR);
}

// 0, or what went wrong.
int set_aside(int fd, int mode, off_t offset, off_t bytes) {
  File* file = find_file(fd);
  if (file != nullptr && lacks_space(bytes)) return ENOSPC;
  if (syscall(SYS_fallocate, fd, mode, offset, bytes) != 0) return errno;
  if (file == nullptr) return 0;
  if (control->limits_space != 0) control->space -= bytes;
  if (offset <= file->set_aside) file->set_aside = std::max<std::int64_t>(file->set_aside, offset + bytes);
  return 0;
}

// After a sync that failed the system takes the data for written, and the disk does not have it. The driver reads here
// what to take away from the file before the process is started again.
void note_loss(int fd, const File& file) {
  char path[PATH_MAX];
  char line[PATH_MAX + 64];
  const std::int64_t end = size_of(fd);
  if (end <= file.synced_bytes || !path_of(fd, path)) return;
  const int length = std::snprintf(line, sizeof line, "%lld %lld %s\n",
                                   static_cast<long long>(file.synced_bytes.load()), static_cast<long long>(end), path);
  const int log =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, lost_ranges, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (log < 0) return;
  syscall(SYS_write, log, line, length);
  syscall(SYS_close, log);
}

int sync_file(int fd, long number) {
  File* file = find_file(fd);
  if (file == nullptr) return static_cast<int>(syscall(number, fd));
  ++control->syncs;
  delay(control->sync_delay);
  const std::int64_t end = size_of(fd);
  if (takes_one(control->syncs_to_fail)) {
    ++control->failed_syncs;
    note_loss(fd, *file);
    file->synced_bytes = end;  // as the system has it
    errno = EIO;
    return -1;
  }
  const int result = static_cast<int>(syscall(number, fd));
  if (result == 0) file->synced_bytes = end;
  return result;
}

// Does the disk refuse a file that the call would make?
bool lacks_space_for_file(int folder, const char* path, std::uint64_t flags) {
  if (control == nullptr || (flags & O_CREAT) == 0 || faccessat(folder, path, F_OK, 0) == 0) return false;
  char above[PATH_MAX];
  const bool is_absolute = path[0] == '/' || folder == AT_FDCWD || !path_of(folder, above);
  return is_below_directory(is_absolute ? path : above) && lacks_space(1);
}

int open_file(int folder, const char* path, int flags, mode_t mode) {
  if (lacks_space_for_file(folder, path, static_cast<std::uint64_t>(flags))) return -1;
  const int fd = static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
  opened(fd);
  return fd;
}

void show_space(std::uint64_t block_bytes, auto& free_blocks, auto& available_blocks) {
  if (control == nullptr || control->limits_space == 0) return;
  const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(control->space, 0)) / block_bytes;
  free_blocks = std::min<std::uint64_t>(free_blocks, left);
  available_blocks = std::min<std::uint64_t>(available_blocks, left);
}

bool is_wall_clock(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

timespec plus(const timespec& time, std::int64_t nanoseconds) {
  const std::int64_t sum = time.tv_sec * nanoseconds_per_second + time.tv_nsec + nanoseconds;
  return {sum / nanoseconds_per_second, sum % nanoseconds_per_second};
}

timespec wall_clock() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

template <class Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// A wait until a time of the wall clock. The clock may jump meanwhile: so it wakes now and then, which everybody who
// waits for a condition must expect, and lets the caller look at the clock.
int wait_by_wall_clock(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  static const auto wait = next_function<Wait>("pthread_cond_clockwait");
  if (control == nullptr || !is_wall_clock(clock)) return wait(condition, mutex, clock, until);
  timespec slice = {};
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &slice);
  slice = plus(slice, nanoseconds_per_second / 5);
  const timespec true_end = plus(*until, -control->clock_offset);
  const bool ends_within =
      true_end.tv_sec < slice.tv_sec || (true_end.tv_sec == slice.tv_sec && true_end.tv_nsec <= slice.tv_nsec);
  const int result = wait(condition, mutex, CLOCK_REALTIME, ends_within ? &true_end : &slice);
  return result == ETIMEDOUT && !ends_within ? 0 : result;
}

__attribute__((constructor)) void begin() {
  const char* file = std::getenv("MACHINE_CONTROL");
  const char* below = std::getenv("MACHINE_DIRECTORY");
  const char* lost = std::getenv("MACHINE_LOST_RANGES");
  if (file == nullptr || below == nullptr || lost == nullptr) return;
  std::snprintf(directory, sizeof directory, "%s", below);
  std::snprintf(lost_ranges, sizeof lost_ranges, "%s", lost);
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC));
  if (fd < 0) return;
  void* mapped = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (mapped != MAP_FAILED) control = static_cast<Control*>(mapped);
}

}  // namespace

// The functions of the C library under their own names. What has a twin with 64 in its name does the same: offsets have
// 64 bits on the systems that this is built for.
extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_file(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_file(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

// The C library has no function for openat2, by which files of the spool and objects are opened. All other calls pass,
// also those of this library.
long syscall(long number, ...) noexcept {
  using Call = long (*)(long, ...);
  static constinit std::atomic<Call> next = nullptr;  // those who wait for a first time of other kinds come here
  if (next == nullptr) next = next_function<Call>("syscall");
  va_list more;
  va_start(more, number);
  long values[6];
  for (long& value : values) value = va_arg(more, long);
  va_end(more);
  if (number == SYS_openat2) {
    const auto* path = reinterpret_cast<const char*>(values[1]);
    const auto* how = reinterpret_cast<const open_how*>(values[2]);
    if (lacks_space_for_file(static_cast<int>(values[0]), path, how->flags)) return -1;
  }
  const long result = next.load()(number, values[0], values[1], values[2], values[3], values[4], values[5]);
  if (number == SYS_openat2) opened(static_cast<int>(result));
  return result;
}

int close(int fd) {
  if (File* file = find_file(fd)) file->misbehaves = false;
  return static_cast<int>(syscall(SYS_close, fd));
}

ssize_t write(int fd, const void* bytes, size_t count) {
  const auto write_half = [&](size_t half) { syscall(SYS_write, fd, bytes, half); };
  if (const File* file = find_file(fd); file != nullptr && !may_write(*file, position_of(fd), count, write_half))
    return -1;
  return syscall(SYS_write, fd, bytes, count);
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  const auto write_half = [&](size_t half) { syscall(SYS_pwrite64, fd, bytes, half, offset); };
  if (const File* file = find_file(fd); file != nullptr && !may_write(*file, offset, count, write_half)) return -1;
  return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) __attribute__((alias("pwrite")));

ssize_t writev(int fd, const iovec* parts, int count) {
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  const auto write_half = [&](size_t) { syscall(SYS_writev, fd, parts, count / 2); };
  if (const File* file = find_file(fd); file != nullptr && !may_write(*file, position_of(fd), bytes, write_half))
    return -1;
  return syscall(SYS_writev, fd, parts, count);
}

ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  ssize_t written = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t part = pwrite(fd, parts[i].iov_base, parts[i].iov_len, offset + written);
    if (part < 0) return written > 0 ? written : -1;
    written += part;
    if (static_cast<std::size_t>(part) < parts[i].iov_len) break;
  }
  return written;
}

ssize_t pwritev64(int fd, const iovec* parts, int count, off64_t offset) __attribute__((alias("pwritev")));

int fsync(int fd) { return sync_file(fd, SYS_fsync); }

int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

// It begins to write, and promises nothing.
int sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned int flags) {
  if (find_file(fd) != nullptr) delay(control->sync_delay);
  return static_cast<int>(syscall(SYS_sync_file_range, fd, offset, bytes, flags));
}

int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  const int error = set_aside(fd, mode, offset, bytes);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int fallocate64(int fd, int mode, off64_t offset, off64_t bytes) __attribute__((alias("fallocate")));

int posix_fallocate(int fd, off_t offset, off_t bytes) { return set_aside(fd, 0, offset, bytes); }

int posix_fallocate64(int fd, off64_t offset, off64_t bytes) __attribute__((alias("posix_fallocate")));

int statvfs(const char* path, struct statvfs* status) {
  static const auto next = next_function<int (*)(const char*, struct statvfs*)>("statvfs");
  const int result = next(path, status);
  if (result == 0 && is_below_directory(path)) show_space(status->f_frsize, status->f_bfree, status->f_bavail);
  return result;
}

int statvfs64(const char* path, struct statvfs64* status) __attribute__((alias("statvfs")));

int fstatvfs(int fd, struct statvfs* status) {
  static const auto next = next_function<int (*)(int, struct statvfs*)>("fstatvfs");
  const int result = next(fd, status);
  if (result == 0 && find_file(fd) != nullptr) show_space(status->f_frsize, status->f_bfree, status->f_bavail);
  return result;
}

int fstatvfs64(int fd, struct statvfs64* status) __attribute__((alias("fstatvfs")));

int statfs(const char* path, struct statfs* status) {
  const int result = static_cast<int>(syscall(SYS_statfs, path, status));
  if (result == 0 && is_below_directory(path))
    show_space(static_cast<std::uint64_t>(status->f_bsize), status->f_bfree, status->f_bavail);
  return result;
}

int statfs64(const char* path, struct statfs64* status) __attribute__((alias("statfs")));

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto next = next_function<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int result = next(clock, time);
  if (result == 0 && control != nullptr && is_wall_clock(clock)) *time = plus(*time, control->clock_offset);
  return result;
}

int gettimeofday(timeval* time, void*) noexcept {
  const timespec now = wall_clock();
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* seconds) noexcept {
  const timespec now = wall_clock();
  if (seconds != nullptr) *seconds = now.tv_sec;
  return now.tv_sec;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  return wait_by_wall_clock(condition, mutex, clock, until);
}

// Some make their conditions wait by the monotonic clock, which began with the machine: its times are small.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  constexpr time_t first_wall_clock_time = 1'000'000'000;
  const clockid_t clock = until->tv_sec < first_wall_clock_time ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  return wait_by_wall_clock(condition, mutex, clock, until);
}

}  // extern "C"
