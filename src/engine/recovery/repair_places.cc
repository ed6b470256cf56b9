#include "engine/recovery/repair_places.h"

#include <unistd.h>

#include <cerrno>

#include "engine/recovery/repair_files.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/store_files.h"
#include "engine/storage/whole_file.h"

namespace postino::engine {

namespace fs = std::filesystem;

namespace {

constexpr const char* place_note = "PLACE";
constexpr const char* target_note = "KEPT_IN";
constexpr std::string_view place_prefix = "damaged-";

fs::path full_path(const fs::path& path) {
  std::error_code error;
  fs::path full = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path) : full;
}

// Empty when there is none.
std::string note_in(const fs::path& file) {
  auto text = read_whole_file(file);
  if (!text) return "";
  while (text->ends_with('\n')) text->pop_back();
  return *std::move(text);
}

base::Result<void> write_place_note(const fs::path& file, const std::string& text) {
  return write_synced_file(file, text + "\n");
}

// But perhaps a mark that could not be written any more.
bool holds_nothing(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename() != unfinished_name) return false;
  return !error;
}

}  // namespace

fs::path free_place(const fs::path& directory, base::TimePoint now) {
  const std::string first = std::string(place_prefix) + std::to_string(base::epoch_seconds(now));
  fs::path place = directory / first;
  for (int number = 1; is_path_there(place); ++number) place = directory / (first + "-" + std::to_string(number));
  return place;
}

bool RepairPlaces::is_ours(const fs::path& target) const {
  return note_in(target / unfinished_name) == full_path(directory_).string();
}

base::Result<void> RepairPlaces::take_target(const fs::path& target) {
  if (!is_path_there(target)) {
    TRY_VOID(make_private_directory(target));
    made_target_ = true;
  } else if (is_ours(target)) {
    discard_copies(target);
  } else if (const std::string other = note_in(target / unfinished_name); !other.empty()) {
    return base::fail(base::ErrorCode::conflict, "'" + target.string() + "' holds what an interrupted repair of '" +
                                                     other + "' has left: repair that first, or remove it");
  } else if (!holds_nothing(target)) {
    return base::fail(base::ErrorCode::conflict, "'" + target.string() + "' is there already");
  }
  target_ = target;
  TRY_VOID(write_place_note(target_ / unfinished_name, full_path(directory_).string()));
  TRY_VOID(sync_path_of_repair(target_));
  return sync_path_of_repair(target_ / "..");
}

base::Result<void> RepairPlaces::make_work(base::TimePoint now) {
  const fs::path work = repair_directory(directory_);
  const fs::path place = free_place(directory_, now);
  TRY_VOID(make_private_directory(work));
  if (!target_.empty()) TRY_VOID(write_place_note(work / target_note, full_path(target_).string()));
  TRY_VOID(write_place_note(work / place_note, place.filename().string()));
  TRY_VOID(sync_path_of_repair(work));
  TRY_VOID(make_private_directory(place));
  place_ = place;
  return sync_path_of_repair(directory_);
}

base::Result<void> RepairPlaces::move_to_target(const AtStep& at) const {
  // From now on nothing in the target is removed.
  const fs::path mark = target_ / unfinished_name;
  if (::unlink(mark.c_str()) != 0 && errno != ENOENT) return repair_failure("remove", mark, last_system_error());
  TRY_VOID(sync_path_of_repair(target_));
  at("the target is unmarked");
  if (place_.empty() || !is_path_there(store_directory(place_)) || is_path_there(store_directory(target_))) return {};
  TRY_VOID(move_path(store_directory(place_), store_directory(target_)));
  TRY_VOID(sync_path_of_repair(target_));
  at("the damaged store is in the target");
  return {};
}

fs::path RepairPlaces::settle(bool has_copied, const AtStep& at, std::vector<std::string>& notes) const {
  if (target_.empty()) return place_;
  if (const auto moved = move_to_target(at); !moved) {
    notes.push_back(moved.error().message + "; the damaged store is in '" + place_.string() + "'");
    return place_;
  }
  if (place_.empty()) return target_;
  std::error_code error;
  const fs::path original = store_directory(place_);
  if (has_copied) fs::remove_all(original, error);
  if (is_path_there(original))
    notes.push_back("the damaged store is in '" + place_.string() + "' as well, and may be removed there");
  else
    fs::remove(place_, error);
  return target_;
}

void RepairPlaces::discard_copies(const fs::path& where) const {
  std::error_code error;
  for (const fs::path& copy : {store_directory(where), state_file(where), where / lost_report_name})
    fs::remove_all(copy, error);
}

void RepairPlaces::discard(const std::optional<StoreState>& made) const {
  std::error_code error;
  if (!place_.empty()) {
    // What is not known for the new store may be the damaged one.
    const auto found = made ? closed_state(place_, made->durability) : base::Result<StoreState>(base::invalid(""));
    const bool is_new = found && found->files == made->files;
    if (is_new || !is_path_there(store_directory(place_))) {
      discard_copies(place_);
      fs::remove(place_, error);
    }
  }
  if (target_.empty() || !is_ours(target_)) return;
  discard_copies(target_);
  // What others have put there stays, and the mark with it: the next repair may take the target all the same.
  if (!holds_nothing(target_)) return;
  fs::remove(target_ / unfinished_name, error);
  if (made_target_) fs::remove(target_, error);
}

void RepairPlaces::read_notes() {
  const fs::path work = repair_directory(directory_);
  const std::string name = note_in(work / place_note);
  const bool is_name = name.starts_with(place_prefix) && name.find('/') == std::string::npos;
  if (is_name && is_path_there(directory_ / name)) place_ = directory_ / name;
  const std::string target = note_in(work / target_note);
  if (!target.empty() && is_path_there(target)) target_ = target;
}

base::Result<void> RepairPlaces::mend_exchange() const {
  if (place_.empty()) return {};
  const fs::path aside = aside_of(store_directory(place_));
  if (!is_path_there(aside)) return {};
  const fs::path store = store_directory(directory_);
  TRY_VOID(move_path(aside, is_path_there(store) ? store_directory(place_) : store));
  TRY_VOID(sync_path_of_repair(place_));
  return sync_path_of_repair(directory_);
}

bool RepairPlaces::is_in_place(const StoreState& made) const {
  if (is_path_there(store_directory(repair_directory(directory_) / "new"))) return false;
  const auto found = closed_state(directory_, made.durability);
  return found && found->files == made.files;
}

}  // namespace postino::engine
