#include "engine/store_backup.h"

#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/recovery/repair_files.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/database.h"
#include "engine/storage/log_scan.h"
#include "engine/storage/manifest.h"
#include "engine/storage/store_files.h"
#include "engine/storage/store_state.h"

namespace postino::engine {

namespace {

namespace fs = std::filesystem;

// RocksDB's own checkpoints write by way of the store's environment, which would enter their logs into the record of
// the store's files. So the files are taken by hand, in the order that RocksDB prescribes.
class CheckpointMaker {
 public:
  CheckpointMaker(Database& database, const fs::path& directory)
      : database_(database),
        from_(store_directory(database.directory())),
        directory_(directory),
        to_(store_directory(directory)) {}

  base::Result<void> run() {
    TRY_VOID(remove_checkpoint(directory_));
    TRY_VOID(make_private_directory(directory_));
    TRY_VOID(make_private_directory(to_));
    TRY_VOID(flush());
    // As long as nothing is deleted, files that were named a moment ago are there.
    if (const auto status = rocks().DisableFileDeletions(); !status.ok()) return base::propagate(error_from(status));
    const auto taken = take_files();
    const auto status = rocks().EnableFileDeletions(false);
    TRY_VOID(taken);
    if (!status.ok()) return base::propagate(error_from(status));
    TRY(const StoreState state, closed_state(directory_, database_.durability()));
    TRY_VOID(write_synced_file(state_file(directory_), encode_state(state)));
    return {};
  }

 private:
  rocksdb::DB& rocks() const { return database_.rocks(); }

  // The rest, which the logs hold, is short then.
  base::Result<void> flush() {
    std::vector<rocksdb::ColumnFamilyHandle*> families;
    for (std::size_t i = 0; i < family_count; ++i) families.push_back(database_.handle(static_cast<Family>(i)));
    const auto status = rocks().Flush(rocksdb::FlushOptions(), families);
    return status.ok() ? base::Result<void>() : base::Result<void>(base::propagate(error_from(status)));
  }

  base::Result<void> take_files() {
    std::vector<std::string> names;
    std::uint64_t manifest_bytes = 0;
    if (const auto status = rocks().GetLiveFiles(names, &manifest_bytes, false); !status.ok())
      return base::propagate(error_from(status));
    for (std::string& name : names) {
      name.erase(0, name.find_first_not_of('/'));
      if (name.starts_with("MANIFEST-"))
        TRY_VOID(take_manifest(name, manifest_bytes));
      else if (file_number(name, ".sst"))
        TRY_VOID(link(name));
      else if (name.starts_with("OPTIONS-"))
        TRY_VOID(copy_synced_file(from_ / name, to_ / name));
    }
    return take_logs();
  }

  // It goes on growing, and names tables behind that place that are not taken.
  base::Result<void> take_manifest(const std::string& name, std::uint64_t bytes) {
    TRY_VOID(copy_synced_file(from_ / name, to_ / name));
    TRY_VOID(cut(to_ / name, bytes));
    return write_synced_file(to_ / "CURRENT", name + "\n");
  }

  base::Result<void> link(const std::string& name) {
    if (::link((from_ / name).c_str(), (to_ / name).c_str()) == 0) return {};
    return repair_failure("link", from_ / name, last_system_error());
  }

  // All that are there now and needed, oldest first. Those before the last one are not written any more; of the last
  // one the copy has what was written by then, and may end in the middle of a commit, which is cut off.
  base::Result<void> take_logs() {
    TRY(const std::string manifest_name, current_manifest(to_));
    TRY(const Manifest manifest, read_manifest(to_ / manifest_name));
    std::set<std::uint64_t> numbers;
    TRY(const std::vector<KnownFile> files, list_store_files(database_.directory()));
    for (const KnownFile& file : files)
      if (const auto number = file_number(file.name, ".log"); number && *number >= manifest.first_log)
        numbers.insert(*number);
    for (const std::uint64_t number : numbers) {
      const std::string name = numbered_file(number, ".log");
      TRY_VOID(copy_synced_file(from_ / name, to_ / name));
      TRY(const LogScan scan, scan_log(to_ / name, LogKind::writes));
      if (scan.fault && (scan.fault->followed || number != *numbers.rbegin()))
        return base::fail(base::ErrorCode::corrupt,
                          "store/" + name + ": " + scan.fault->what + " at byte " + std::to_string(scan.fault->offset));
      if (scan.fault) TRY_VOID(cut(to_ / name, scan.whole));
    }
    return {};
  }

  static base::Result<void> cut(const fs::path& file, std::uint64_t bytes) {
    if (::truncate(file.c_str(), static_cast<off_t>(bytes)) == 0) return sync_path_of_repair(file);
    return repair_failure("shorten", file, last_system_error());
  }

  Database& database_;
  const fs::path from_;
  const fs::path directory_;
  const fs::path to_;
};

}  // namespace

base::Result<void> make_checkpoint(Database& database, const fs::path& directory) {
  auto made = CheckpointMaker(database, directory).run();
  if (!made) static_cast<void>(remove_checkpoint(directory));
  return made;
}

base::Result<void> remove_checkpoint(const fs::path& directory) { return remove_path(directory); }

}  // namespace postino::engine
