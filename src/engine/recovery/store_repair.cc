#include "engine/recovery/store_repair.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>

#include "base/descriptor.h"
#include "engine/recovery/salvage.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/store_files.h"
#include "engine/storage/store_state.h"

namespace postino::engine {

namespace {

namespace fs = std::filesystem;

// The new store is made in here. A damaged store is never in it, so a later repair may remove what it finds.
constexpr const char* work_name = "repairing";
// Earlier versions had the damaged store in this one for a while.
constexpr const char* former_work_name = "repair";
// The report, in the directory of the damaged store.
constexpr const char* report_name = "LOST";
// An empty file of the data directory: what services count is to be counted anew.
constexpr const char* recount_name = "RECOUNT";

std::error_code last_error() { return {errno, std::generic_category()}; }

base::Result<void> failed(const std::string& what, const fs::path& path, const std::error_code& error) {
  return base::fail(base::ErrorCode::io, "cannot " + what + " '" + path.string() + "': " + error.message());
}

bool is_there(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

base::Result<void> make_directory(const fs::path& path) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0) return {};
  return failed("create", path, last_error());
}

base::Result<void> move_to(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return failed("move to '" + to.string() + "' what is", from, last_error());
}

base::Result<void> sync(const fs::path& path) {
  const base::Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened && ::fsync(opened.number()) == 0) return {};
  return failed("sync", path, last_error());
}

base::Result<void> copy_synced(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) return failed("copy", from, error);
  return sync(to);
}

base::Result<void> copy_files(const fs::path& from, const fs::path& to) {
  TRY_VOID(make_directory(to));
  std::error_code error;
  for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) TRY_VOID(copy_synced(entry->path(), to / entry->path().filename()));
  }
  if (error) return failed("read", from, error);
  return sync(to);
}

bool on_one_disk(const fs::path& one, const fs::path& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev;
}

// At once where the file system can do it: there is never a moment without a store.
base::Result<void> exchange(const fs::path& one, const fs::path& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) return {};
  const fs::path aside = other.string() + ".damaged";
  TRY_VOID(move_to(one, aside));
  if (const auto moved = move_to(other, one); !moved) {
    static_cast<void>(move_to(aside, one));
    return moved;
  }
  return move_to(aside, other);
}

// A new directory below the data directory, with a name that no other one had.
base::Result<fs::path> make_place_for_damaged(const fs::path& directory, base::TimePoint now) {
  const fs::path first = directory / ("damaged-" + std::to_string(base::epoch_seconds(now)));
  for (int number = 2;; ++number) {
    const fs::path place = number == 2 ? first : fs::path(first.string() + "-" + std::to_string(number - 1));
    if (::mkdir(place.c_str(), S_IRWXU) == 0) return place;
    if (errno != EEXIST) return base::propagate(failed("create", place, last_error()).error());
  }
}

base::Result<fs::path> make_place_for_damaged(const fs::path& directory, const std::optional<fs::path>& keep_in,
                                              base::TimePoint now) {
  if (!keep_in) return make_place_for_damaged(directory, now);
  if (is_there(*keep_in)) return base::fail(base::ErrorCode::conflict, "'" + keep_in->string() + "' is there already");
  TRY_VOID(make_directory(*keep_in));
  return *keep_in;
}

base::Result<void> write_report(const Findings& lost, const fs::path& file) {
  {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    for (const std::string& line : lost.lines()) out << line << '\n';
    if (lost.count() > lost.lines().size()) out << "and " << lost.count() - lost.lines().size() << " more\n";
    out.flush();
    if (!out) return failed("write", file, last_error());
  }
  return sync(file);
}

// A repair that ended between putting the new store in its place and recording its files is finished. What is left of
// one that did not come so far goes.
base::Result<void> finish_interrupted(const fs::path& directory, base::TimePoint now, StoreRepair& result) {
  if (const fs::path former = directory / former_work_name; is_there(former)) {
    TRY(const fs::path place, make_place_for_damaged(directory, now));
    TRY_VOID(move_to(former, place / former_work_name));
    result.notes.push_back("what an earlier repair left is now in " + (place / former_work_name).string());
  }
  const fs::path work = directory / work_name;
  if (!is_there(work)) return {};
  const auto made = read_state(work / "new");
  if (made && *made && !is_there(store_directory(work / "new"))) {
    const auto found = closed_state(directory, (*made)->durability);
    if (found && found->files == (*made)->files) {
      TRY_VOID(move_to(state_file(work / "new"), state_file(directory)));
      result.notes.push_back("a repair that was interrupted is finished now; the newest damaged-… in " +
                             directory.string() + ", or the directory that it was to keep the damaged store in, has " +
                             report_name + ", which says what it lost");
    }
  }
  std::error_code error;
  fs::remove_all(work, error);
  if (error) return failed("remove", work, error);
  return sync(directory);
}

// One repair of a store that is damaged. What it made is removed with it, unless the new store is in its place.
class Exchange {
 public:
  Exchange(const fs::path& directory, const std::vector<store::TableSetup>& known, const base::Clock& clock,
           StoreRepair& result)
      : directory_(directory), work_(directory / work_name), known_(known), clock_(clock), result_(result) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    std::error_code error;
    if (!exchanged_ || done_) fs::remove_all(work_, error);
    if (exchanged_) return;
    if (noted_recount_) fs::remove(directory_ / recount_name, error);
    if (!result_.kept_in.empty()) fs::remove_all(result_.kept_in, error);
    if (!place_.empty()) fs::remove_all(place_, error);
  }

  base::Result<void> run(const std::optional<fs::path>& keep_in) {
    // Where the damaged store goes is tried first.
    TRY(result_.kept_in, make_place_for_damaged(directory_, keep_in, clock_.now()));
    const bool elsewhere = !on_one_disk(result_.kept_in, directory_);
    if (elsewhere) TRY_VOID(copy_files(store_directory(directory_), store_directory(result_.kept_in)));
    std::error_code unknown;
    if (fs::is_regular_file(state_file(directory_), unknown))
      TRY_VOID(copy_synced(state_file(directory_), state_file(result_.kept_in)));
    TRY_VOID(make_directory(work_));
    TRY_VOID(make_new_store());
    TRY_VOID(write_report(result_.lost, result_.kept_in / report_name));
    TRY_VOID(sync(result_.kept_in));
    if (!result_.lost.empty() && !is_recount_due(directory_)) {
      noted_recount_ = true;
      TRY_VOID(note_recount_due(directory_));
    }
    if (elsewhere) {
      TRY_VOID(sync(result_.kept_in / ".."));
      TRY(place_, make_place_for_damaged(directory_, clock_.now()));
    }
    const fs::path place = elsewhere ? place_ : result_.kept_in;
    if (const auto placed = put_in_place(place); !placed) {
      if (!in_place_) return placed;
      result_.unfinished = placed.error().message;
      return {};
    }
    if (!elsewhere) return {};
    std::error_code error;
    fs::remove_all(place, error);
    if (error)
      result_.notes.push_back("'" + place.string() + "' could not be removed (" + error.message() +
                              "); the damaged store in it is copied already");
    return {};
  }

 private:
  // A store of what can be saved, closed and checked.
  base::Result<void> make_new_store() {
    const fs::path scratch = work_ / "records";
    {
      Options options;
      options.directory = work_ / "new";
      options.durability = Durability::relaxed;  // closing it syncs everything
      TRY(const std::unique_ptr<Database> database, Database::open(options, nullptr));
      TRY_VOID(salvage_records(directory_, scratch, *database, result_.lost));
      TRY_VOID(rebuild_contents(*database, known_, clock_.now(), result_.lost));
    }
    std::error_code error;
    fs::remove_all(scratch, error);
    TRY(const StoreCheck made, check_locked_store(work_ / "new", clock_));
    result_.saved = made.counts;
    if (!made.sound())
      return base::fail(base::ErrorCode::corrupt, "the repaired store is not sound: " + made.problems.lines().front());
    if (!is_there(state_file(work_ / "new")))
      return base::fail(base::ErrorCode::io, "the repaired store could not be closed");
    return {};
  }

  // The new store goes to where the damaged one is to be, and then the two change places. A crash behind that leaves a
  // record of the files of the old one: a start refuses, and the next repair finishes this one.
  base::Result<void> put_in_place(const fs::path& place) {
    TRY_VOID(move_to(store_directory(work_ / "new"), store_directory(place)));
    exchanged_ = true;
    if (const auto exchanged = exchange(store_directory(directory_), store_directory(place)); !exchanged) {
      exchanged_ = !is_there(store_directory(directory_));
      return exchanged;
    }
    in_place_ = true;
    TRY_VOID(sync(place));
    TRY_VOID(move_to(state_file(work_ / "new"), state_file(directory_)));
    TRY_VOID(sync(directory_));
    done_ = true;
    return {};
  }

  const fs::path directory_;
  const fs::path work_;
  const std::vector<store::TableSetup>& known_;
  const base::Clock& clock_;
  StoreRepair& result_;
  fs::path place_;  // below the data directory, when the damaged store is kept on another disk
  bool noted_recount_ = false;
  bool exchanged_ = false;  // the place may hold the damaged store
  bool in_place_ = false;   // the new store is
  bool done_ = false;
};

base::Result<void> repair_locked_store(const fs::path& directory, const std::optional<fs::path>& keep_in,
                                       const base::Clock& clock, const std::vector<store::TableSetup>& known,
                                       StoreRepair& result) {
  TRY_VOID(finish_interrupted(directory, clock.now(), result));
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
  return Exchange(directory, known, clock, result).run(keep_in);
}

}  // namespace

bool is_recount_due(const fs::path& directory) { return is_there(directory / recount_name); }

base::Result<void> note_recount_due(const fs::path& directory) {
  const fs::path note = directory / recount_name;
  const base::Descriptor made(::open(note.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!made || ::fsync(made.number()) != 0) return failed("write", note, last_error());
  return sync(directory);
}

base::Result<void> note_recounted(const fs::path& directory) {
  const fs::path note = directory / recount_name;
  if (::unlink(note.c_str()) != 0 && errno != ENOENT) return failed("remove", note, last_error());
  return sync(directory);
}

base::Result<StoreRepair> repair_store(const fs::path& directory, const std::optional<fs::path>& keep_in,
                                       const base::Clock& clock, const std::vector<store::TableSetup>& known) {
  StoreRepair result;
  TRY_VOID(find_store(directory));
  TRY(const DataDirectoryLock lock, DataDirectoryLock::take(directory));
  TRY_VOID(repair_locked_store(directory, keep_in, clock, known, result));
  result.recount_due = is_recount_due(directory);
  return result;
}

}  // namespace postino::engine
