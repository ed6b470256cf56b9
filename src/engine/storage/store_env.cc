#include "engine/storage/store_env.h"

#include <rocksdb/file_system.h>
#include <sys/stat.h>

#include <algorithm>

#include "engine/storage/crc32c.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/manifest.h"

namespace postino::engine {

// A log that is being written.
class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::string name, std::shared_ptr<LogRegister> logs)
      : FSWritableFileOwnerWrapper(std::move(file)), name_(std::move(name)), logs_(std::move(logs)) {
    const std::lock_guard lock(logs_->newest_mutex_);
    logs_->newest_ = this;
  }
  ~LogFile() override { leave(); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = noted(FSWritableFileOwnerWrapper::Append(data, options, debug));
    if (!status.ok()) return status;
    if (logs_->is_relaxed()) checksum_ = crc32c(std::string_view(data.data(), data.size()), checksum_);
    written_ += data.size();
    return status;
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo&, rocksdb::IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    const std::uint64_t bytes = written_;
    return synced(FSWritableFileOwnerWrapper::Sync(options, debug), bytes);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    const std::uint64_t bytes = written_;
    return synced(FSWritableFileOwnerWrapper::Fsync(options, debug), bytes);
  }
  rocksdb::IOStatus Close(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    leave();
    // Gives back the room that was not used.
    if (set_aside_ > written_) FSWritableFileOwnerWrapper::Truncate(written_, options, debug).PermitUncheckedError();
    return FSWritableFileOwnerWrapper::Close(options, debug);
  }
  // Done by set_room_aside(), which sees whether it succeeds.
  void PrepareWrite(std::size_t, std::size_t, const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {}

  rocksdb::IOStatus set_room_aside(std::uint64_t bytes) {
    constexpr std::uint64_t step = 16 << 20;
    const std::uint64_t end = written_ + bytes;
    if (end <= set_aside_) return rocksdb::IOStatus::OK();
    const std::uint64_t wanted = (end / step + 1) * step;
    rocksdb::IOStatus status =
        FSWritableFileOwnerWrapper::Allocate(set_aside_, wanted - set_aside_, rocksdb::IOOptions(), nullptr);
    if (status.IsNoSpace()) return status;
    set_aside_ = wanted;  // not every file system can do it; then the disk is met when it is full
    return rocksdb::IOStatus::OK();
  }

 private:
  rocksdb::IOStatus noted(rocksdb::IOStatus status) {
    if (!status.ok()) logs_->lost_ = true;
    return status;
  }
  rocksdb::IOStatus synced(rocksdb::IOStatus status, std::uint64_t bytes) {
    if (status.ok()) logs_->note_synced(name_, bytes, checksum_);
    return noted(std::move(status));
  }
  void leave() {
    const std::lock_guard lock(logs_->newest_mutex_);
    if (logs_->newest_ == this) logs_->newest_ = nullptr;
  }

  const std::string name_;
  const std::shared_ptr<LogRegister> logs_;
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<std::uint32_t> checksum_ = 0;  // of these bytes, in a relaxed store
  std::uint64_t set_aside_ = 0;
};

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }
bool is_log(const std::string& path) { return file_number(name_of(path), ".log").has_value(); }

// RocksDB lets everybody read its files.
void keep_private(const std::string& path) { static_cast<void>(::chmod(path.c_str(), S_IRUSR | S_IWUSR)); }

class StoreFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  StoreFileSystem(const std::shared_ptr<rocksdb::FileSystem>& below, std::shared_ptr<LogRegister> logs)
      : FileSystemWrapper(below), logs_(std::move(logs)) {}

  static const char* kClassName() { return "PostinoStore"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (!status.ok()) return status;
    keep_private(path);
    if (!is_log(path)) return status;
    status = sync_directory_of(path);
    if (status.ok()) status = logs_->add(name_of(path));
    if (status.ok())
      *file = std::make_unique<LogFile>(std::move(*file), name_of(path), logs_);
    else
      file->reset();
    return status;
  }

  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* debug) override {
    IOStatus status = is_log(path) ? logs_->remove(name_of(path)) : IOStatus::OK();
    return status.ok() ? FileSystemWrapper::DeleteFile(path, options, debug) : status;
  }
  // Large files are renamed first, and deleted bit by bit.
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus status = is_log(from) ? logs_->remove(name_of(from)) : IOStatus::OK();
    return status.ok() ? FileSystemWrapper::RenameFile(from, to, options, debug) : status;
  }

 private:
  IOStatus sync_directory_of(const std::string& path) {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    IOStatus status =
        NewDirectory(std::filesystem::path(path).parent_path().string(), IOOptions(), &directory, nullptr);
    return status.ok() ? directory->Fsync(IOOptions(), nullptr) : status;
  }

  const std::shared_ptr<LogRegister> logs_;
};

class StoreEnv final : public rocksdb::EnvWrapper {
 public:
  StoreEnv(rocksdb::Env* below, std::shared_ptr<LogRegister> logs) : EnvWrapper(below) {
    file_system_ = std::make_shared<StoreFileSystem>(below->GetFileSystem(), std::move(logs));
  }
  const char* Name() const override { return "PostinoStore"; }

  rocksdb::Status LockFile(const std::string& path, rocksdb::FileLock** lock) override {
    const rocksdb::Status status = EnvWrapper::LockFile(path, lock);
    if (status.ok()) keep_private(path);
    return status;
  }
};

}  // namespace

LogRegister::LogRegister(std::shared_ptr<rocksdb::FileSystem> files, std::filesystem::path directory,
                         Durability durability, std::vector<KnownFile> logs)
    : files_(std::move(files)), directory_(std::move(directory)) {
  state_.durability = durability;
  state_.files = std::move(logs);
}

IOStatus LogRegister::add(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (KnownFile& log : state_.files) {
    if (log.name != written_) continue;
    std::uint64_t size = 0;
    const std::string path = (store_directory(directory_) / log.name).string();
    IOStatus status = files_->GetFileSize(path, IOOptions(), &size, nullptr);
    if (!status.ok()) return status;
    log.size = size;
  }
  state_.files.push_back({name, std::nullopt, std::nullopt});
  written_ = name;
  next_record_ = 1;
  return save_locked();
}

void LogRegister::note_synced(const std::string& name, std::uint64_t bytes, std::uint32_t checksum) {
  constexpr std::uint64_t largest_step = 4 << 20;
  const bool relaxed = is_relaxed();
  const std::lock_guard lock(mutex_);
  // RocksDB syncs the log of a relaxed store in passing, perhaps in the middle of a write. What it has ended, it syncs
  // as a whole before any table has the writes in it.
  const bool is_due = relaxed ? name != written_ : name == written_ && bytes >= next_record_;
  if (!is_due) return;
  if (!relaxed) next_record_ = bytes + std::min(bytes, largest_step);
  for (KnownFile& log : state_.files) {
    if (log.name != name) continue;
    log.size = bytes;
    if (relaxed) log.checksum = checksum;
  }
  save_locked().PermitUncheckedError();
}

IOStatus LogRegister::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const std::size_t removed = std::erase_if(state_.files, [&](const KnownFile& log) { return log.name == name; });
  return removed == 0 ? IOStatus::OK() : save_locked();
}

IOStatus LogRegister::save() {
  const std::lock_guard lock(mutex_);
  return save_locked();
}

IOStatus LogRegister::set_room_aside(std::uint64_t bytes) {
  const std::lock_guard lock(newest_mutex_);
  return newest_ == nullptr ? IOStatus::OK() : newest_->set_room_aside(bytes);
}

IOStatus LogRegister::save_locked() {
  IOStatus status = write_state(*files_, directory_, state_);
  if (!status.ok() || is_marked_) return status;
  status = write_state_mark(*files_, directory_);
  is_marked_ = status.ok();
  return status;
}

std::unique_ptr<rocksdb::Env> make_store_env(rocksdb::Env* below, std::shared_ptr<LogRegister> logs) {
  return std::make_unique<StoreEnv>(below, std::move(logs));
}

}  // namespace postino::engine
