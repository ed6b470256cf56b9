#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "engine/recovery/newest_records.h"
#include "engine/recovery/salvage.h"
#include "engine/recovery/table_file.h"
#include "engine/recovery/write_records.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/log_scan.h"
#include "engine/storage/manifest.h"
#include "engine/storage/store_files.h"
#include "engine/storage/store_state.h"

namespace postino::engine {

namespace {

namespace fs = std::filesystem;

// The others follow from these.
constexpr std::array salvaged_families = {Family::meta, Family::items, Family::streams, Family::tokens, Family::undo};

bool is_salvaged(std::uint64_t family) {
  return std::ranges::any_of(salvaged_families,
                             [&](Family each) { return static_cast<std::uint64_t>(each) == family; });
}

// For the operator. `missing` are the changes whose numbers no record of the log has, between two that are there.
std::string what_is_lost(const LogFault& fault, std::uint64_t missing) {
  const std::string place = "byte " + std::to_string(fault.offset);
  if (!fault.followed) return "what is behind " + place;
  if (missing == 0) return "writes around " + place + ", it is not known how many";
  return counted(missing, "change") + " of keys around " + place + "; what follows was saved";
}

constexpr std::string_view manifest_prefix = "MANIFEST-";

class Salvage {
 public:
  Salvage(const fs::path& directory, NewestRecords& records, Findings& lost)
      : store_(store_directory(directory)), records_(records), lost_(lost) {
    if (auto state = read_state(directory)) state_ = *std::move(state);
  }

  base::Result<void> run() {
    TRY_VOID(list_files());
    read_list_of_files();
    choose_tables();
    for (const std::uint64_t number : chosen_) read_table(number);
    find_missing_logs();
    for (const auto& [number, name] : logs_) read_log(number, name);
    return {};
  }

 private:
  bool was_closed() const { return state_ && !state_->open; }

  base::Result<void> list_files() {
    std::error_code error;
    for (fs::directory_iterator entry(store_, error), end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (const auto number = file_number(name, ".sst")) tables_.insert(*number);
      if (const auto number = file_number(name, ".log")) logs_.emplace(*number, name);
      if (name.starts_with(manifest_prefix)) manifests_.insert(name);
    }
    if (error) return base::fail(base::ErrorCode::io, "cannot read '" + store_.string() + "': " + error.message());
    return {};
  }

  // The manifest, when it can be relied on: whole, and after a clean stop as it was then. Without CURRENT it is the one
  // with the largest number.
  void read_list_of_files() {
    std::string name = current_manifest(store_).value_or("");
    if (!manifests_.contains(name)) name = newest_manifest();
    if (name.empty()) return;
    if (was_closed()) {
      const auto known = std::ranges::find(state_->files, name, &KnownFile::name);
      if (known == state_->files.end() || !difference_from_record(store_, *known).empty()) return;
    }
    auto manifest = read_manifest(store_ / name);
    if (manifest && !manifest->scan.fault && manifest->scan.records > 0) manifest_ = *std::move(manifest);
  }

  std::string newest_manifest() const {
    std::string newest;
    for (const std::string& name : manifests_)
      if (newest.size() < name.size() || (newest.size() == name.size() && newest < name)) newest = name;
    return newest;
  }

  // The files that the manifest names, or the record of the last stop; all that are there when neither can be read.
  void choose_tables() {
    std::set<std::uint64_t> known;
    if (manifest_) {
      for (const auto& [number, size] : manifest_->tables) known.insert(number);
    } else if (was_closed()) {
      for (const KnownFile& file : state_->files)
        if (const auto number = file_number(file.name, ".sst")) known.insert(*number);
    } else {
      lost_.add("perhaps more: the list of files is damaged, so that a table file that is missing cannot be named");
      chosen_ = tables_;
      return;
    }
    for (const std::uint64_t number : known) {
      if (tables_.contains(number))
        chosen_.insert(number);
      else if (const auto family = family_in_manifest(number); !family || is_salvaged(*family))
        lost_.add("file " + numbered_file(number, ".sst") + ": all of it, it is missing");
    }
  }

  std::optional<std::uint64_t> family_in_manifest(std::uint64_t table) const {
    if (!manifest_) return std::nullopt;
    const auto found = manifest_->families.find(table);
    return found == manifest_->families.end() ? std::nullopt : std::optional(found->second);
  }

  void read_table(std::uint64_t number) {
    const std::string name = "file " + numbered_file(number, ".sst");
    auto table = TableFile::open(store_ / numbered_file(number, ".sst"));
    if (!table) return lost_.add(name + ": all of it, " + table.error().message);
    const auto in_manifest = family_in_manifest(number);
    const auto family = in_manifest ? in_manifest : table->family();
    if (!family) return lost_.add(name + ": all of it, nothing says to which part of the store it belongs");
    if (!is_salvaged(*family)) return;
    std::uint64_t found = 0;
    table->each_record([&](const Record& record) {
      ++found;
      records_.add(static_cast<Family>(*family), record);
    });
    if (table->lost().empty()) return;
    const LostPart& first = table->lost().front();
    std::string what = name + " (" + family_names[*family] + "): ";
    what += table->record_count() && *table->record_count() >= found
                ? std::to_string(*table->record_count() - found) + " of " + counted(*table->record_count(), "record")
                : counted(table->lost().size(), "part") + " of unknown contents beside " + counted(found, "record") +
                      " that can be read";
    what += ", in " + counted(first.size, "byte") + " from byte " + std::to_string(first.offset);
    if (table->lost().size() > 1) what += " and in " + counted(table->lost().size() - 1, "further part");
    lost_.add(std::move(what));
  }

  bool is_needed(std::uint64_t log) const { return !manifest_ || log >= manifest_->first_log; }

  void find_missing_logs() {
    if (!state_) return;
    for (const KnownFile& file : state_->files) {
      const auto number = file_number(file.name, ".log");
      if (!number || !is_needed(*number) || file.size == 0) continue;
      std::error_code error;
      const auto found = logs_.find(*number);
      const std::uint64_t size = found == logs_.end() ? 0 : fs::file_size(store_ / found->second, error);
      if (found == logs_.end())
        lost_.add("log " + file.name + ": all of it, it is missing");
      else if (!error && file.size && size < *file.size)
        lost_.add("log " + file.name + ": its last " + counted(*file.size - size, "byte") + ", which were cut off");
    }
  }

  void read_log(std::uint64_t number, const std::string& name) {
    if (!is_needed(number)) return;
    const auto each = [&](std::uint64_t family, const Record& write) {
      if (is_salvaged(family) && (!manifest_ || number >= first_log_of(family)))
        records_.add(static_cast<Family>(family), write);
    };
    std::uint64_t strange = 0;
    std::uint64_t missing = 0;
    std::uint64_t next = 0;  // changes are numbered without gaps
    const auto scan = salvage_log(store_ / name, LogKind::writes, [&](std::string_view record) {
      if (!read_writes(record, each)) ++strange;
      const auto numbers = numbers_of_writes(record);
      if (!numbers) return;
      if (next > 0 && numbers->first > next) missing += numbers->first - next;
      next = numbers->first + numbers->count;
    });
    if (!scan) return lost_.add("log " + name + ": " + scan.error().message);
    if (strange > 0) lost_.add("log " + name + ": " + counted(strange, "record") + " that hold no writes");
    // The newest log of a store that was not closed may end with a write that a crash left: no caller was told of it.
    const bool unfinished = scan->fault && !scan->fault->followed && !was_closed() && number == logs_.rbegin()->first;
    if (scan->fault && !unfinished)
      lost_.add("log " + name + ": " + what_is_lost(*scan->fault, missing) + " (" + scan->fault->what + ")");
  }

  std::uint64_t first_log_of(std::uint64_t family) const {
    const auto found = manifest_->first_logs.find(family);
    return found == manifest_->first_logs.end() ? 0 : found->second;
  }

  const fs::path store_;
  NewestRecords& records_;
  Findings& lost_;
  std::optional<StoreState> state_;
  std::set<std::uint64_t> tables_;  // all that are there
  std::map<std::uint64_t, std::string> logs_;
  std::set<std::string> manifests_;
  std::optional<Manifest> manifest_;
  std::set<std::uint64_t> chosen_;  // of the tables
};

}  // namespace

base::Result<void> salvage_records(const fs::path& directory, const fs::path& scratch, Database& target,
                                   Findings& lost) {
  TRY(const std::unique_ptr<NewestRecords> records, NewestRecords::open(scratch));
  TRY_VOID(Salvage(directory, *records, lost).run());
  return records->copy_to(target);
}

}  // namespace postino::engine
