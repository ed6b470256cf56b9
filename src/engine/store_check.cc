#include "engine/store_check.h"

#include "engine/recovery/contents_check.h"
#include "engine/recovery/offline_database.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/store_files.h"
#include "engine/store_repair.h"

namespace postino::engine {

namespace {

std::string note_of(const UnfinishedLog& log) {
  const std::string bytes = std::to_string(log.unfinished_bytes) + " bytes";
  return "store/" + log.file +
         (log.holds_writes
              ? ": its last " + bytes +
                    " follow what had not reached the disk when the machine failed; the "
                    "next start cuts them off"
              : ": ends with a write of " + bytes + " that a crash left unfinished; the next start cuts it off");
}

}  // namespace

base::Result<void> find_store(const std::filesystem::path& directory) {
  const auto found = find_data_directory(directory);
  // A directory of a newer version, or one that may not be read, is nothing for this one to look after.
  using enum base::ErrorCode;
  if (!found && (found.error().code == invalid || found.error().code == io || !holds_a_store(directory))) return found;
  return {};
}

base::Result<StoreCheck> check_store(const std::filesystem::path& directory, const base::Clock& clock,
                                     const EachItem& each) {
  TRY_VOID(find_store(directory));
  TRY(const DataDirectoryLock lock, DataDirectoryLock::take(directory));
  return check_locked_store(directory, clock, each);
}

base::Result<StoreCheck> check_locked_store(const std::filesystem::path& directory, const base::Clock& clock,
                                            const EachItem& each) {
  StoreCheck result;
  if (!find_data_directory(directory)) result.problems.add("POSTINO: is missing or damaged");
  TRY(const StoreFiles files, inspect_store_files(directory));
  result.files = files.tables + files.logs.size();
  result.bytes = files.table_bytes;
  for (const FileFault& fault : files.faults) result.problems.add(fault.file + ": " + fault.what);
  if (!refuse_interrupted_repair(directory))
    result.notes.emplace_back("repairing: a repair was interrupted; 'postino repair' finishes it or starts over");
  if (is_recount_due(directory))
    result.notes.emplace_back(
        "RECOUNT: a repair has lost something, and e-mails and messages were not counted again; 'postino repair' does "
        "it");
  for (const UnfinishedLog& log : files.unfinished) result.notes.push_back(note_of(log));
  if (!files.faults.empty() || !files.exists) return result;
  const auto database = OfflineDatabase::open(store_directory(directory), files.unfinished);
  if (!database) {
    result.problems.add("the store cannot be opened: " + database.error().message);
    return result;
  }
  result.contents_checked = true;
  if (const auto checked = check_contents(**database, clock.now(), each, result.problems, result.counts); !checked) {
    result.contents_checked = false;
    result.problems.add("the contents cannot be read: " + checked.error().message);
  }
  return result;
}

}  // namespace postino::engine
