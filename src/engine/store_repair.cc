#include "engine/store_repair.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"
#include "engine/recovery/repair_files.h"
#include "engine/recovery/repair_places.h"
#include "engine/recovery/salvage.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/store_files.h"
#include "engine/storage/store_state.h"
#include "engine/store_check.h"

namespace postino::engine {

namespace {

namespace fs = std::filesystem;

// Earlier versions had the damaged store in this one for a while.
constexpr const char* former_work_name = "repair";
// An empty file of the data directory: what services count is to be counted again.
constexpr const char* recount_name = "RECOUNT";

base::Result<void> write_report(const Findings& lost, const fs::path& file) {
  std::string text;
  for (const std::string& line : lost.lines()) text += line + '\n';
  if (lost.count() > lost.lines().size())
    text += "and " + std::to_string(lost.count() - lost.lines().size()) + " more\n";
  return write_synced_file(file, text);
}

base::Result<void> keep_former_work(const fs::path& directory, base::TimePoint now, StoreRepair& result) {
  const fs::path former = directory / former_work_name;
  if (!is_path_there(former)) return {};
  const fs::path place = free_place(directory, now);
  TRY_VOID(make_private_directory(place));
  TRY_VOID(move_path(former, place / former_work_name));
  result.notes.push_back("what an earlier repair left is now in " + (place / former_work_name).string());
  return {};
}

// The new store is in its place, and perhaps the damaged one is not, or the record of the files.
base::Result<void> finish_exchange(const fs::path& directory, const RepairPlaces& places, const AtStep& at,
                                   StoreRepair& result) {
  const fs::path kept_in = places.settle(false, at, result.notes);
  TRY_VOID(move_path(state_file(repair_directory(directory) / "new"), state_file(directory)));
  TRY_VOID(sync_path_of_repair(directory));
  at("the record is in its place");
  const std::string where = kept_in.empty() ? "the directory of the damaged store" : "'" + kept_in.string() + "'";
  result.notes.push_back("a repair that was interrupted is finished now; " + where + " has the damaged store, and " +
                         lost_report_name + ", which says what was lost");
  return {};
}

// A repair that ended between putting the new store in its place and recording its files is finished. What is left of
// one that did not come so far goes.
base::Result<void> finish_interrupted(const fs::path& directory, const AtStep& at, StoreRepair& result) {
  const fs::path work = repair_directory(directory);
  if (!is_path_there(work)) return {};
  RepairPlaces places(directory);
  places.read_notes();
  TRY_VOID(places.mend_exchange());
  const auto record = read_state(work / "new");
  const std::optional<StoreState> made = record ? *record : std::nullopt;
  if (made && places.is_in_place(*made)) {
    TRY_VOID(finish_exchange(directory, places, at, result));
  } else {
    places.discard(made);
    at("what was made is discarded");
  }
  TRY_VOID(remove_path(work));
  return sync_path_of_repair(directory);
}

// One repair of a store that is damaged. What it made is removed with it, unless the new store is in its place.
class Exchange {
 public:
  Exchange(const fs::path& directory, const std::vector<store::TableSetup>& known, const base::Clock& clock,
           const AtStep& at, StoreRepair& result)
      : directory_(directory),
        work_(repair_directory(directory)),
        known_(known),
        clock_(clock),
        at_(at),
        result_(result),
        places_(directory) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    std::error_code error;
    if (!exchanged_) {
      const auto made = read_state(work_ / "new");
      places_.discard(made ? *made : std::nullopt);
      if (noted_recount_) fs::remove(directory_ / recount_name, error);
    }
    if (!exchanged_ || done_) fs::remove_all(work_, error);
  }

  base::Result<void> run(const std::optional<fs::path>& keep_in) {
    // Where the damaged store goes is tried first.
    if (keep_in) TRY_VOID(places_.take_target(*keep_in));
    at_("the target is marked");
    TRY_VOID(places_.make_work(clock_.now()));
    at_("the places are made");
    result_.kept_in = places_.kept_in();
    TRY_VOID(copy_damaged());
    TRY_VOID(make_new_store());
    at_("the new store is made");
    TRY_VOID(write_report(result_.lost, result_.kept_in / lost_report_name));
    TRY_VOID(sync_path_of_repair(result_.kept_in));
    if (!result_.lost.empty() && !is_recount_due(directory_)) {
      noted_recount_ = true;
      TRY_VOID(note_recount_due(directory_));
    }
    at_("what is lost is written down");
    if (const auto placed = put_in_place(); !placed) {
      if (!in_place_) return placed;
      result_.unfinished = placed.error().message;
    }
    return {};
  }

 private:
  // The record of its files, and on another disk the store itself.
  base::Result<void> copy_damaged() {
    has_copied_ = !are_on_one_disk(result_.kept_in, directory_);
    if (has_copied_) TRY_VOID(copy_synced_directory(store_directory(directory_), store_directory(result_.kept_in)));
    at_("the damaged store is copied");
    std::error_code unknown;
    if (fs::is_regular_file(state_file(directory_), unknown))
      TRY_VOID(copy_synced_file(state_file(directory_), state_file(result_.kept_in)));
    return {};
  }

  // A store of what can be saved, closed and checked.
  base::Result<void> make_new_store() {
    const fs::path scratch = work_ / "records";
    {
      Options options;
      options.directory = work_ / "new";
      options.durability = Durability::relaxed;  // closing it syncs everything
      TRY(const std::unique_ptr<Database> database, Database::open(options, nullptr));
      TRY_VOID(salvage_records(directory_, scratch, *database, result_.lost));
      at_("the records are saved");
      TRY_VOID(rebuild_contents(*database, known_, clock_.now(), result_.lost));
    }
    std::error_code error;
    fs::remove_all(scratch, error);
    TRY(const StoreCheck made, check_locked_store(work_ / "new", clock_));
    result_.saved = made.counts;
    if (!made.sound())
      return base::fail(base::ErrorCode::corrupt, "the repaired store is not sound: " + made.problems.lines().front());
    if (!is_path_there(state_file(work_ / "new")))
      return base::fail(base::ErrorCode::io, "the repaired store could not be closed");
    return {};
  }

  // The new store goes to where the damaged one is to be, and then the two change places. A crash behind that leaves
  // repairing/: a start refuses, and the next repair finishes this one. The record of the new store's files goes last.
  base::Result<void> put_in_place() {
    const fs::path place = store_directory(places_.place());
    TRY_VOID(move_path(store_directory(work_ / "new"), place));
    at_("the new store is in the place");
    exchanged_ = true;
    if (const auto exchanged = exchange_directories(store_directory(directory_), place); !exchanged) {
      exchanged_ = !is_path_there(store_directory(directory_));
      return exchanged;
    }
    in_place_ = true;
    TRY_VOID(sync_path_of_repair(places_.place()));
    TRY_VOID(sync_path_of_repair(directory_));
    at_("the stores are exchanged");
    result_.kept_in = places_.settle(has_copied_, at_, result_.notes);
    TRY_VOID(move_path(state_file(work_ / "new"), state_file(directory_)));
    TRY_VOID(sync_path_of_repair(directory_));
    at_("the record is in its place");
    done_ = true;
    return {};
  }

  const fs::path directory_;
  const fs::path work_;
  const std::vector<store::TableSetup>& known_;
  const base::Clock& clock_;
  const AtStep& at_;
  StoreRepair& result_;
  RepairPlaces places_;
  bool has_copied_ = false;  // the damaged store is kept on another disk
  bool noted_recount_ = false;
  bool exchanged_ = false;  // the place may hold the damaged store
  bool in_place_ = false;   // the new store is
  bool done_ = false;
};

base::Result<void> repair_locked_store(const fs::path& directory, const std::optional<fs::path>& keep_in,
                                       const base::Clock& clock, const std::vector<store::TableSetup>& known,
                                       const AtStep& at, StoreRepair& result) {
  TRY_VOID(keep_former_work(directory, clock.now(), result));
  TRY_VOID(finish_interrupted(directory, at, result));
  TRY(StoreCheck before, check_locked_store(directory, clock));
  result.problems = before.problems.lines();
  result.saved = before.counts;
  if (before.sound()) return {};
  result.needed = true;
  if (!find_data_directory(directory)) {
    TRY_VOID(mark_data_directory(directory));
    TRY(before, check_locked_store(directory, clock));
    result.saved = before.counts;
    if (before.sound()) return {};
  }
  std::error_code error;
  if (!fs::is_directory(store_directory(directory), error))
    return base::fail(base::ErrorCode::not_found,
                      "'" + store_directory(directory).string() + "' is missing: there is nothing to save from");
  return Exchange(directory, known, clock, at, result).run(keep_in);
}

}  // namespace

bool is_recount_due(const fs::path& directory) { return is_path_there(directory / recount_name); }

base::Result<void> note_recount_due(const fs::path& directory) {
  const fs::path note = directory / recount_name;
  const base::Descriptor made(::open(note.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!made || ::fsync(made.number()) != 0) return repair_failure("write", note, last_system_error());
  return sync_path_of_repair(directory);
}

base::Result<void> note_recounted(const fs::path& directory) {
  const fs::path note = directory / recount_name;
  if (::unlink(note.c_str()) != 0 && errno != ENOENT) return repair_failure("remove", note, last_system_error());
  return sync_path_of_repair(directory);
}

base::Result<StoreRepair> repair_store(const fs::path& directory, const std::optional<fs::path>& keep_in,
                                       const base::Clock& clock, const std::vector<store::TableSetup>& known,
                                       const AtStep& at) {
  StoreRepair result;
  TRY_VOID(find_store(directory));
  TRY(const DataDirectoryLock lock, DataDirectoryLock::take(directory));
  TRY_VOID(repair_locked_store(directory, keep_in, clock, known, at ? at : AtStep([](std::string_view) {}), result));
  result.recount_due = is_recount_due(directory);
  return result;
}

}  // namespace postino::engine
