#include "engine/recovery/offline_database.h"

#include <rocksdb/file_system.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <map>
#include <vector>

namespace postino::engine {

namespace {

// Says nothing, and makes no file.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// Ends before the file does.
class FirstBytes final : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  FirstBytes(std::unique_ptr<rocksdb::FSSequentialFile> file, std::uint64_t bytes)
      : FSSequentialFileOwnerWrapper(std::move(file)), left_(bytes) {}

  rocksdb::IOStatus Read(std::size_t bytes, const rocksdb::IOOptions& options, rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) override {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
    rocksdb::IOStatus status = FSSequentialFileOwnerWrapper::Read(wanted, options, result, scratch, debug);
    if (status.ok()) left_ -= result->size();
    return status;
  }
  rocksdb::IOStatus Skip(std::uint64_t bytes) override {
    const std::uint64_t skipped = std::min(bytes, left_);
    left_ -= skipped;
    return FSSequentialFileOwnerWrapper::Skip(skipped);
  }

 private:
  std::uint64_t left_;
};

// RocksDB would go on behind a hole in a log, and show a mixture that the store never was.
class WithoutUnfinished final : public rocksdb::FileSystemWrapper {
 public:
  explicit WithoutUnfinished(const std::vector<UnfinishedLog>& unfinished)
      : FileSystemWrapper(rocksdb::FileSystem::Default()) {
    for (const UnfinishedLog& log : unfinished) whole_bytes_[log.file] = log.whole_bytes;
  }

  static const char* kClassName() { return "PostinoWithoutUnfinished"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* file,
                                      rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewSequentialFile(path, options, file, debug);
    const auto cut = whole_bytes_.find(std::filesystem::path(path).filename().string());
    if (status.ok() && cut != whole_bytes_.end()) *file = std::make_unique<FirstBytes>(std::move(*file), cut->second);
    return status;
  }

 private:
  std::map<std::string, std::uint64_t> whole_bytes_;
};

rocksdb::DBOptions offline_options(rocksdb::Env* env) {
  rocksdb::DBOptions options;
  options.env = env;
  options.info_log = silent_log();
  options.max_open_files = 1024;
  // Logs were looked at before, and what was not finished is left out.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  return options;
}

}  // namespace

base::Result<std::unique_ptr<OfflineDatabase>> OfflineDatabase::open(const std::filesystem::path& store,
                                                                     const std::vector<UnfinishedLog>& unfinished) {
  std::unique_ptr<OfflineDatabase> database(new OfflineDatabase);
  database->env_ = rocksdb::NewCompositeEnv(std::make_shared<WithoutUnfinished>(unfinished));
  const rocksdb::DBOptions options = offline_options(database->env_.get());
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, store.string(), &names);
  if (!status.ok()) return base::propagate(error_from(status));
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  status = rocksdb::DB::OpenForReadOnly(options, store.string(), families, &handles, &db);
  if (!status.ok()) return base::propagate(error_from(status));
  database->db_.reset(db);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    const auto known = std::ranges::find(family_names, handle->GetName());
    if (known == family_names.end())
      db->DestroyColumnFamilyHandle(handle);
    else
      database->handles_[static_cast<std::size_t>(known - family_names.begin())] = handle;
  }
  return database;
}

OfflineDatabase::~OfflineDatabase() {
  if (!db_) return;
  for (rocksdb::ColumnFamilyHandle* handle : handles_)
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle);
}

base::Result<std::optional<std::string>> OfflineDatabase::get(Family family, std::string_view key) const {
  if (handle(family) == nullptr) return std::nullopt;
  std::string value;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), handle(family), rocksdb::Slice(key.data(), key.size()), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return base::propagate(error_from(status));
  return std::optional<std::string>(std::move(value));
}

std::unique_ptr<rocksdb::Iterator> OfflineDatabase::iterate(Family family) const {
  if (handle(family) == nullptr) return nullptr;
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, handle(family)));
}

std::shared_ptr<rocksdb::Logger> silent_log() { return std::make_shared<NoLog>(); }

}  // namespace postino::engine
