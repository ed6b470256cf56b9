#include "engine/storage/power_loss_env_testing.h"

#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "engine/storage/file_contents_testing.h"

namespace postino::engine {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A directory's entry that was made and not synced; how to take it back.
struct NewName {
  std::string path;
  std::optional<std::string> renamed_from;
  std::optional<std::string> replaced;  // contents of the file that had the name before
};

struct Extent {
  std::uint64_t length = 0;
  std::uint64_t synced = 0;
};

std::string directory_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

// RocksDB joins names with a slash too many now and then.
std::string normal(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  if (text.ends_with('/')) text.pop_back();
  return text;
}

std::optional<std::string> contents_of(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  return file_contents(path);
}

void write_contents(const std::string& path, const std::string& contents) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << contents;
  CHECK(out.flush());
}

void append_tail(const std::string& path, std::uint64_t length, bool garbage, std::mt19937_64& random) {
  std::string tail(static_cast<std::size_t>(length), '\0');
  if (garbage)
    for (char& byte : tail) byte = static_cast<char>(random());
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << tail;
  CHECK(out.flush());
}

// The operating system writes pages in any order: one of those that were not synced is missing, and later ones are not.
void make_hole(const std::string& path, std::uint64_t synced, std::uint64_t unsynced, std::mt19937_64& random) {
  constexpr std::uint64_t page = 4 << 10;
  const std::uint64_t place = (synced + random() % unsynced) / page * page;
  const std::uint64_t begin = std::max(place, synced);
  const std::uint64_t end = std::min(place + page, synced + unsynced);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(begin));
  file << std::string(static_cast<std::size_t>(end - begin), '\0');
  CHECK(file.flush());
}

}  // namespace

class PowerLossEnv::State {
 public:
  std::atomic<bool> power = true;
  std::atomic<DiskFault> fault = DiskFault::none;
  std::atomic<std::uint64_t> free_space = std::uint64_t{1} << 40;
  std::atomic<bool> hangs = false;

  IOStatus check_power() const { return power ? IOStatus::OK() : IOStatus::IOError("no power"); }

  void cut_power_after(std::int64_t count) { power_end_ = operations_ + count; }
  void set_fault_after(DiskFault next, std::int64_t count) {
    next_fault_ = next;
    fault_begin_ = operations_ + count;
  }

  // Counts an append or a sync, and says whether the disk still does them.
  IOStatus begin_operation() {
    const std::int64_t number = operations_++;
    if (number == power_end_) power = false;
    if (number == fault_begin_) fault = next_fault_.load();
    return check_power();
  }

  void created(const std::string& path, std::optional<std::string> replaced) {
    const std::lock_guard lock(mutex_);
    extents_[path] = {};
    new_names_.push_back({path, std::nullopt, std::move(replaced)});
  }

  // A file that was there before counts as synced.
  void reopened(const std::string& path, std::uint64_t length) {
    const std::lock_guard lock(mutex_);
    extents_.try_emplace(path, Extent{length, length});
  }

  void renamed(const std::string& from, const std::string& to, std::optional<std::string> replaced) {
    const std::lock_guard lock(mutex_);
    if (const auto found = extents_.find(from); found != extents_.end()) {
      extents_[to] = found->second;
      extents_.erase(from);
    } else {
      extents_.erase(to);
    }
    new_names_.push_back({to, from, std::move(replaced)});
  }

  void removed(const std::string& path) {
    const std::lock_guard lock(mutex_);
    extents_.erase(path);
    std::erase_if(new_names_, [&](const NewName& name) { return name.path == path; });
  }

  void appended(const std::string& path, std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    extents_[path].length += count;
  }

  void truncated(const std::string& path, std::uint64_t length) {
    const std::lock_guard lock(mutex_);
    Extent& extent = extents_[path];
    extent = {length, std::min(extent.synced, length)};
  }

  void synced(const std::string& path) {
    const std::lock_guard lock(mutex_);
    extents_[path].synced = extents_[path].length;
  }

  void directory_synced(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    std::erase_if(new_names_, [&](const NewName& name) { return directory_of(name.path) == directory; });
  }

  void lose_unsynced(std::mt19937_64& random, UnsyncedTail tail) {
    for (const auto& [path, extent] : extents_) cut(path, extent, random, tail);
    // File systems journal names in order: the first few may have made it.
    const std::size_t kept = tail == UnsyncedTail::torn ? random() % (new_names_.size() + 1) : 0;
    while (new_names_.size() > kept) {
      take_back(new_names_.back());
      new_names_.pop_back();
    }
    extents_.clear();
    new_names_.clear();
  }

 private:
  static void cut(const std::string& path, const Extent& extent, std::mt19937_64& random, UnsyncedTail tail) {
    if (extent.length == extent.synced || !std::filesystem::exists(path)) return;
    const std::uint64_t unsynced = extent.length - extent.synced;
    std::uint64_t kept = tail == UnsyncedTail::torn ? random() % (unsynced + 1) : 0;
    if (tail == UnsyncedTail::torn && random() % 3 == 0) kept = unsynced;
    std::filesystem::resize_file(path, extent.synced + kept);
    // Only in the log: RocksDB refuses a manifest with a record that is half zeros, and asks for repair.
    const bool damaged_tail = tail == UnsyncedTail::torn && path.ends_with(".log") && random() % 2 == 0;
    if (damaged_tail) append_tail(path, unsynced - kept, random() % 2 == 0, random);
    if (tail == UnsyncedTail::torn && path.ends_with(".log") && kept > 0 && random() % 2 == 0)
      make_hole(path, extent.synced, kept, random);
  }

  static void take_back(const NewName& name) {
    std::error_code ignored;
    if (name.renamed_from)
      std::filesystem::rename(name.path, *name.renamed_from, ignored);
    else
      std::filesystem::remove_all(name.path, ignored);
    if (name.replaced) write_contents(name.path, *name.replaced);
  }

  std::atomic<std::int64_t> operations_ = 0;
  std::atomic<std::int64_t> power_end_ = -1;
  std::atomic<std::int64_t> fault_begin_ = -1;
  std::atomic<DiskFault> next_fault_ = DiskFault::none;
  std::mutex mutex_;
  std::map<std::string, Extent> extents_;  // of files written since the disk was made
  std::vector<NewName> new_names_;         // oldest first
};

class PowerLossEnv::File final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(std::unique_ptr<rocksdb::FSWritableFile> file, std::string path, std::shared_ptr<State> state)
      : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), state_(std::move(state)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (path_.ends_with(".sst")) state_->hangs.wait(true);
    IOStatus status = state_->begin_operation();
    if (!status.ok()) return status;
    const DiskFault fault = state_->fault;
    const bool full = fault == DiskFault::no_space || (fault == DiskFault::no_table && path_.ends_with(".sst"));
    if (!full && fault != DiskFault::append_fails) return append(data, options, debug);
    // Half of it is written before the disk notices.
    status = append(Slice(data.data(), data.size() / 2), options, debug);
    if (!status.ok()) return status;
    return full ? no_space() : IOStatus::IOError("the disk failed while writing", path_);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Allocate(std::uint64_t offset, std::uint64_t length, const IOOptions& options,
                    IODebugContext* debug) override {
    if (state_->fault == DiskFault::no_space) return no_space();
    return FSWritableFileOwnerWrapper::Allocate(offset, length, options, debug);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = state_->check_power();
    if (status.ok()) status = FSWritableFileOwnerWrapper::Truncate(size, options, debug);
    if (status.ok()) state_->truncated(path_, size);
    return status;
  }
  // The real file is not synced: the machine that runs the test keeps its power.
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    IOStatus status = state_->begin_operation();
    if (!status.ok()) return status;
    if (state_->fault == DiskFault::sync_fails) return IOStatus::IOError("the disk failed while syncing", path_);
    state_->synced(path_);
    return IOStatus::OK();
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override { return Sync(options, debug); }
  IOStatus RangeSync(std::uint64_t, std::uint64_t, const IOOptions&, IODebugContext*) override {
    return state_->check_power();  // starts writing out, promises nothing
  }

  static IOStatus no_space() {
    IOStatus status = IOStatus::NoSpace("No space left on device");
    status.SetRetryable(true);  // as the real file system says it
    return status;
  }

 private:
  IOStatus append(const Slice& data, const IOOptions& options, IODebugContext* debug) {
    IOStatus status = FSWritableFileOwnerWrapper::Append(data, options, debug);
    if (status.ok()) state_->appended(path_, data.size());
    return status;
  }

  const std::string path_;
  const std::shared_ptr<State> state_;
};

class PowerLossEnv::Directory final : public rocksdb::FSDirectoryWrapper {
 public:
  Directory(std::unique_ptr<rocksdb::FSDirectory> directory, std::string path, std::shared_ptr<State> state)
      : FSDirectoryWrapper(std::move(directory)), path_(std::move(path)), state_(std::move(state)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    IOStatus status = state_->begin_operation();
    if (!status.ok()) return status;
    if (state_->fault == DiskFault::sync_fails) return IOStatus::IOError("the disk failed while syncing", path_);
    state_->directory_synced(path_);
    return IOStatus::OK();
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Fsync(options, debug);
  }

 private:
  const std::string path_;
  const std::shared_ptr<State> state_;
};

class PowerLossEnv::Files final : public rocksdb::FileSystemWrapper {
 public:
  explicit Files(std::shared_ptr<State> state)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), state_(std::move(state)) {}

  static const char* kClassName() { return "PowerLoss"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file, IODebugContext* debug) override {
    IOStatus status = state_->check_power();
    return status.ok() ? FileSystemWrapper::NewSequentialFile(path, options, file, debug) : status;
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file, IODebugContext* debug) override {
    IOStatus status = state_->check_power();
    return status.ok() ? FileSystemWrapper::NewRandomAccessFile(path, options, file, debug) : status;
  }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = check_writable();
    if (!status.ok()) return status;
    std::optional<std::string> replaced = contents_of(path);
    std::unique_ptr<rocksdb::FSWritableFile> real;
    status = FileSystemWrapper::NewWritableFile(path, options, &real, debug);
    if (!status.ok()) return status;
    state_->created(normal(path), std::move(replaced));
    *file = std::make_unique<File>(std::move(real), normal(path), state_);
    return status;
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = check_writable();
    if (!status.ok()) return status;
    const bool existed = std::filesystem::exists(path);
    std::unique_ptr<rocksdb::FSWritableFile> real;
    status = FileSystemWrapper::ReopenWritableFile(path, options, &real, debug);
    if (!status.ok()) return status;
    if (existed)
      state_->reopened(normal(path), std::filesystem::file_size(path));
    else
      state_->created(normal(path), std::nullopt);
    *file = std::make_unique<File>(std::move(real), normal(path), state_);
    return status;
  }
  // Old files are not used again by the settings of the store.
  IOStatus ReuseWritableFile(const std::string&, const std::string&, const FileOptions&,
                             std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return IOStatus::NotSupported("ReuseWritableFile");
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* directory, IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSDirectory> real;
    IOStatus status = state_->check_power();
    if (status.ok()) status = FileSystemWrapper::NewDirectory(path, options, &real, debug);
    if (status.ok()) *directory = std::make_unique<Directory>(std::move(real), normal(path), state_);
    return status;
  }

  IOStatus CreateDir(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = check_writable();
    if (status.ok()) status = FileSystemWrapper::CreateDir(path, options, debug);
    if (status.ok()) state_->created(normal(path), std::nullopt);
    return status;
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    if (!std::filesystem::exists(path)) return CreateDir(path, options, debug);
    return state_->check_power();
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = state_->check_power();
    if (status.ok()) status = FileSystemWrapper::DeleteFile(path, options, debug);
    if (status.ok()) state_->removed(normal(path));
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus status = state_->check_power();
    if (!status.ok()) return status;
    std::optional<std::string> replaced = contents_of(to);
    status = FileSystemWrapper::RenameFile(from, to, options, debug);
    if (status.ok()) state_->renamed(normal(from), normal(to), std::move(replaced));
    return status;
  }
  IOStatus GetFreeSpace(const std::string&, const IOOptions&, std::uint64_t* free, IODebugContext*) override {
    *free = state_->fault == DiskFault::no_space ? 0 : state_->free_space.load();
    return IOStatus::OK();
  }

 private:
  IOStatus check_writable() const {
    IOStatus status = state_->check_power();
    return status.ok() && state_->fault == DiskFault::no_space ? File::no_space() : status;
  }

  const std::shared_ptr<State> state_;
};

// RocksDB waits a second after every fault. That tells nothing, and a test has many.
class PowerLossEnv::Clock final : public rocksdb::SystemClockWrapper {
 public:
  explicit Clock(std::shared_ptr<State> state)
      : SystemClockWrapper(rocksdb::SystemClock::Default()), state_(std::move(state)) {}

  const char* Name() const override { return "PowerLoss"; }
  void SleepForMicroseconds(int microseconds) override {
    if (state_->power && state_->fault == DiskFault::none) SystemClockWrapper::SleepForMicroseconds(microseconds);
  }

 private:
  const std::shared_ptr<State> state_;
};

class PowerLossEnv::Machine final : public rocksdb::EnvWrapper {
 public:
  explicit Machine(const std::shared_ptr<State>& state)
      : EnvWrapper(rocksdb::NewCompositeEnv(std::make_shared<Files>(state))) {
    system_clock_ = std::make_shared<Clock>(state);
  }
};

PowerLossEnv::PowerLossEnv() : state_(std::make_shared<State>()), env_(std::make_unique<Machine>(state_)) {}
PowerLossEnv::~PowerLossEnv() = default;

void PowerLossEnv::cut_power() { state_->power = false; }
void PowerLossEnv::cut_power_after(std::int64_t operations) { state_->cut_power_after(operations); }
void PowerLossEnv::restore_power() { state_->power = true; }
bool PowerLossEnv::has_power() const { return state_->power; }
void PowerLossEnv::set_fault(DiskFault fault) { state_->fault = fault; }
void PowerLossEnv::set_fault_after(DiskFault fault, std::int64_t operations) {
  state_->set_fault_after(fault, operations);
}

void PowerLossEnv::lose_unsynced(std::mt19937_64& random, UnsyncedTail tail) {
  CHECK(!has_power());
  state_->lose_unsynced(random, tail);
}

void PowerLossEnv::set_free_space(std::uint64_t bytes) { state_->free_space = bytes; }

void PowerLossEnv::set_hanging(bool hangs) {
  state_->hangs = hangs;
  state_->hangs.notify_all();
}

}  // namespace postino::engine
