// RocksDB's files, read while no other process uses the data directory: nothing is written, and no store is opened.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/storage/database.h"
#include "engine/storage/store_files.h"

namespace postino::engine {

class OfflineDatabase {
 public:
  // `store` is the directory with RocksDB's files. Column families that are not there are empty. What is unfinished is
  // left out, as if it had been cut off.
  static base::Result<std::unique_ptr<OfflineDatabase>> open(const std::filesystem::path& store,
                                                             const std::vector<UnfinishedLog>& unfinished);
  ~OfflineDatabase();

  base::Result<std::optional<std::string>> get(Family family, std::string_view key) const;

  // All of a family, or the keys of one table, index or stream; nullptr when the family is not there. The caller looks
  // at its status when it has come to its end.
  std::unique_ptr<rocksdb::Iterator> iterate(Family family) const;

 private:
  OfflineDatabase() = default;
  rocksdb::ColumnFamilyHandle* handle(Family family) const { return handles_[static_cast<std::size_t>(family)]; }

  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, family_count> handles_{};
};

// For databases that are opened aside: says nothing, and makes no file.
std::shared_ptr<rocksdb::Logger> silent_log();

}  // namespace postino::engine
