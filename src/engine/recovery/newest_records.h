// Brings together what the files of a store hold, in any order: of each key the newest version holds, and a deletion is
// a version as well.
#pragma once

#include <rocksdb/db.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recovery/table_file.h"
#include "engine/storage/database.h"

namespace postino::engine {

class NewestRecords {
 public:
  // Sorts the records in files of its own, in a directory that is made.
  static base::Result<std::unique_ptr<NewestRecords>> open(const std::filesystem::path& scratch);

  void add(Family family, const Record& record);
  // What went wrong while adding, at the latest now. Then copies what holds.
  base::Result<void> copy_to(Database& target);

 private:
  NewestRecords() = default;
  void write(bool all);
  bool is_deleted(Family family, std::string_view key, std::uint64_t sequence) const;

  struct DeletedRange {
    Family family = Family::meta;
    std::string first;
    std::string end;
    std::uint64_t sequence = 0;
  };

  std::unique_ptr<rocksdb::DB> sorted_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status status_;
  std::vector<DeletedRange> deleted_;
};

}  // namespace postino::engine
