#include "engine/storage/store_files.h"

#include <fcntl.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "engine/storage/crc32c.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/log_scan.h"
#include "engine/storage/manifest.h"

namespace postino::engine {

namespace {

namespace fs = std::filesystem;

std::uint64_t size_or_zero(const fs::path& file) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

tl::unexpected<base::Error> unreadable(const fs::path& path, const std::string& reason) {
  return base::fail(base::ErrorCode::io, "cannot read '" + path.string() + "': " + reason);
}

// A file that this user may not read is not damaged.
base::Result<void> check_readable(const fs::path& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0 || (errno != EACCES && errno != EPERM)) return {};
  return unreadable(path, std::strerror(errno));
}

// Of no files when there is no such directory.
base::Result<std::set<std::string>> names_in(const fs::path& directory) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    names.insert(entry->path().filename().string());
  if (error && error != std::errc::no_such_file_or_directory) return unreadable(directory, error.message());
  return names;
}

base::Result<std::uint32_t> checksum_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string buffer(std::size_t{1} << 20, '\0');
  std::uint32_t checksum = 0;
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    checksum = crc32c(std::string_view(buffer.data(), static_cast<std::size_t>(in.gcount())), checksum);
  }
  if (!in.eof()) return unreadable(file, "the disk failed");
  return checksum;
}

std::string text_of(const LogFault& fault) {
  return fault.what + " at byte " + std::to_string(fault.offset) +
         (fault.followed ? ", and records that were written later follow it" : "");
}

// One look at a store. The steps find faults; a step that depends on another one is left out when that found some.
class Inspection {
 public:
  Inspection(fs::path directory, std::uint64_t most_table_bytes)
      : directory_(std::move(directory)), store_(store_directory(directory_)), most_table_bytes_(most_table_bytes) {}

  base::Result<StoreFiles> run() {
    TRY_VOID(check_readable(state_file(directory_)));
    if (!inspect_state()) return std::move(files_);
    TRY_VOID(list_files());
    if (was_closed()) inspect_closed_files();
    if (!inspect_current()) return std::move(files_);
    files_.exists = true;
    inspect_manifest();
    if (manifest_) {
      TRY_VOID(inspect_logs());
      inspect_tables();
    }
    return std::move(files_);
  }

 private:
  void add_fault(const std::string& name, std::string what) {
    const std::string file = "store/" + name;
    // One line for each file: what is found first is nearest to the cause.
    if (std::ranges::find(files_.faults, file, &FileFault::file) == files_.faults.end())
      files_.faults.push_back({file, std::move(what)});
  }

  bool inspect_state() {
    auto state = read_state(directory_);
    if (!state) {
      files_.faults.push_back({"STATE", state.error().message});
      return false;
    }
    state_ = *std::move(state);
    std::error_code error;
    if (!state_ && fs::exists(store_ / state_mark_name, error)) files_.faults.push_back({"STATE", "is missing"});
    return true;
  }

  base::Result<void> list_files() {
    TRY(names_, names_in(store_));
    for (const std::string& name : names_) TRY_VOID(check_readable(store_ / name));
    std::map<std::uint64_t, std::string> logs;
    for (const std::string& name : names_)
      if (const auto number = file_number(name, ".log")) logs.emplace(*number, name);
    for (const auto& [number, name] : logs) files_.logs.push_back(name);
    return {};
  }

  // False when there is nothing more to look at: no database yet, or none that can be found.
  bool inspect_current() {
    if (!names_.contains("CURRENT")) {
      const bool has_tables =
          std::ranges::any_of(names_, [](const std::string& name) { return file_number(name, ".sst").has_value(); });
      // RocksDB would take the directory for a new one, and delete everything in it.
      if (state_ || has_tables || !files_.logs.empty()) add_fault("CURRENT", "is missing");
      return false;
    }
    const auto name = current_manifest(store_);
    if (!name) {
      add_fault("CURRENT", name.error().message);
    } else if (!names_.contains(*name)) {
      add_fault(*name, "is missing, and CURRENT names it");
    } else {
      manifest_name_ = *name;
    }
    return true;
  }

  void inspect_closed_files() {
    std::set<std::string> known;
    for (const KnownFile& file : state_->files) {
      known.insert(file.name);
      if (std::string what = difference_from_record(store_, file); !what.empty()) add_fault(file.name, std::move(what));
    }
    for (const std::string& log : files_.logs)
      if (!known.contains(log)) add_fault(log, "was not there when the store was closed");
  }

  void inspect_manifest() {
    if (manifest_name_.empty()) return;
    auto manifest = read_manifest(store_ / manifest_name_);
    if (!manifest) {
      add_fault(manifest_name_, manifest.error().message);
    } else if (manifest->scan.fault && manifest->scan.fault->followed) {
      add_fault(manifest_name_, text_of(*manifest->scan.fault));
    } else {
      // RocksDB itself gets over a change of the list that was not finished: it was never in force.
      manifest_ = *std::move(manifest);
    }
  }

  bool is_needed(const std::string& log) const { return file_number(log, ".log").value_or(0) >= manifest_->first_log; }

  base::Result<void> inspect_logs() {
    std::map<std::string, KnownFile> known;
    for (const KnownFile& file : state_ ? state_->files : std::vector<KnownFile>())
      if (file_number(file.name, ".log")) known.emplace(file.name, file);
    if (!was_closed())
      for (const auto& [name, log] : known)
        if (!names_.contains(name) && is_needed(name)) add_fault(name, "is missing");

    // RocksDB always leaves a log, from when it has numbered the first one. Older versions recorded none.
    for (const auto& [family, number] : manifest_->first_logs) first_number_ = std::max(first_number_, number);
    if (!state_ && files_.logs.empty() && first_number_ > 0)
      add_fault(numbered_file(first_number_, ".log"), "is missing, and so are all logs after it");

    for (const std::string& name : files_.logs) {
      if (!is_needed(name)) continue;
      TRY(const LogScan scan, scan_log(store_ / name, LogKind::writes));
      judge_log(name, scan, known.contains(name) ? known.at(name) : KnownFile());
    }
    return {};
  }

  bool was_closed() const { return state_ && !state_->open; }
  bool is_relaxed() const { return state_ && state_->open && state_->durability == Durability::relaxed; }

  void judge_log(const std::string& name, const LogScan& scan, const KnownFile& known) {
    const std::uint64_t had = was_closed() ? 0 : known.size.value_or(0);
    const bool is_unsynced = is_relaxed() && !known.checksum && !has_ended_before_tables(name);
    const std::uint64_t synced = is_unsynced ? 0 : had;
    const bool shorter = scan.size < synced || (scan.fault && scan.whole < synced);
    if (is_relaxed() && !shorter && !(scan.fault && has_ended_before_tables(name)))
      judge_relaxed_log(name, scan, had, synced);
    else if (scan.fault && (scan.fault->followed || was_closed() || name != files_.logs.back()))
      add_fault(name, text_of(*scan.fault));
    else if (shorter)
      add_fault(name, (scan.size < synced ? "has " + std::to_string(scan.size) + " bytes" : text_of(*scan.fault)) +
                          ", and had at least " + std::to_string(synced) + " bytes");
    else if (scan.fault)
      files_.unfinished.push_back({name, scan.whole, scan.size - scan.whole, false});
  }

  // RocksDB has synced it as a whole, before a table got what a family had written to it. Earlier versions did not
  // record that. To cut it would leave the families at different times.
  bool has_ended_before_tables(const std::string& log) const {
    return file_number(log, ".log").value_or(0) < first_number_;
  }

  // What was synced of it is there. The power may have failed while only the operating system had the rest. It writes
  // pages in any order, so what is missing may be followed by later writes, and by later logs. None of that was
  // promised to survive, and it must go: what is left has to be a state that the store once had.
  void judge_relaxed_log(const std::string& name, const LogScan& scan, std::uint64_t had, std::uint64_t synced) {
    if (log_has_ended_ && synced > 0) {
      add_fault(name, "was synced, and a log before it is not whole");
    } else if (log_has_ended_) {
      files_.unfinished.push_back({name, 0, scan.size, scan.records > 0});
    } else if (scan.fault || scan.size < had) {
      files_.unfinished.push_back({name, scan.whole, scan.size - scan.whole, scan.fault && scan.fault->followed});
      log_has_ended_ = true;
    }
  }

  void inspect_tables() {
    files_.tables = manifest_->tables.size();
    std::vector<std::string> sound;  // as far as their sizes tell
    for (auto table = manifest_->tables.rbegin(); table != manifest_->tables.rend(); ++table) {
      const std::string name = numbered_file(table->first, ".sst");
      files_.table_bytes += table->second;
      const std::uint64_t size = size_or_zero(store_ / name);
      if (!names_.contains(name)) {
        add_fault(name, "is missing");
      } else if (size != table->second) {
        add_fault(name, "has " + std::to_string(size) + " bytes instead of " + std::to_string(table->second));
      } else if (files_.verified_bytes + size <= most_table_bytes_) {
        files_.verified_bytes += size;
        sound.push_back(name);
      }
    }
    verify_tables(sound);
  }

  // Every start waits for it: all processors share the work, a few at most.
  void verify_tables(const std::vector<std::string>& names) {
    constexpr std::size_t most_threads = 4;
    std::vector<rocksdb::Status> outcomes(names.size());
    std::atomic<std::size_t> next = 0;
    const auto verify_some = [&] {
      for (std::size_t i = next++; i < names.size(); i = next++) outcomes[i] = verify_table(store_ / names[i]);
    };
    {
      const std::size_t processors = std::min<std::size_t>(most_threads, std::thread::hardware_concurrency());
      base::ThreadGroup others;
      for (std::size_t i = 1; i < std::min(processors, names.size()); ++i)
        if (!others.try_start(verify_some)) break;
      verify_some();
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!outcomes[i].ok()) add_fault(names[i], "cannot be read: " + outcomes[i].ToString());
  }

  static rocksdb::Status verify_table(const fs::path& file) {
    rocksdb::SstFileReader reader{rocksdb::Options()};
    rocksdb::Status status = reader.Open(file.string());
    return status.ok() ? reader.VerifyChecksum() : status;
  }

  const fs::path directory_;
  const fs::path store_;
  const std::uint64_t most_table_bytes_;
  std::optional<StoreState> state_;
  std::set<std::string> names_;
  std::string manifest_name_;
  std::optional<Manifest> manifest_;
  std::uint64_t first_number_ = 0;  // the log from which on a family has nothing in tables, of the last such family
  bool log_has_ended_ = false;      // with relaxed durability, before the log that is looked at
  StoreFiles files_;
};

base::Result<void> cut_and_sync(const fs::path& file, std::optional<std::uint64_t> size) {
  const auto failed = [&](const char* what) {
    return base::fail(base::ErrorCode::io,
                      std::string("cannot ") + what + " '" + file.string() + "': " + std::strerror(errno));
  };
  const base::Descriptor opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!opened) return failed("open");
  if (size && ::ftruncate(opened.number(), static_cast<off_t>(*size)) != 0) return failed("shorten");
  if (::fsync(opened.number()) != 0) return failed("sync");
  return {};
}

}  // namespace

base::Result<StoreFiles> inspect_store_files(const fs::path& directory, std::uint64_t most_table_bytes) {
  return Inspection(directory, most_table_bytes).run();
}

std::string difference_from_record(const fs::path& store, const KnownFile& file) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(store / file.name, error))) return "is missing";
  const std::uint64_t size = size_or_zero(store / file.name);
  if (file.size && size != *file.size)
    return "has " + std::to_string(size) + " bytes, and had " + std::to_string(*file.size) +
           " when the store was closed";
  if (file.checksum && checksum_of(store / file.name).value_or(~*file.checksum) != *file.checksum)
    return "is not as it was when the store was closed";
  return "";
}

base::Result<void> finish_logs(const fs::path& directory, const StoreFiles& files) {
  for (const std::string& log : files.logs) {
    const auto unfinished = std::ranges::find(files.unfinished, log, &UnfinishedLog::file);
    const bool cut = unfinished != files.unfinished.end();
    TRY_VOID(
        cut_and_sync(store_directory(directory) / log, cut ? std::optional(unfinished->whole_bytes) : std::nullopt));
    if (cut && unfinished->unfinished_bytes > 0)
      base::log_warning("store",
                        unfinished->holds_writes
                            ? "the last writes were cut off: not all that was before them had reached the disk"
                            : "a write that a crash left unfinished was cut off",
                        {{"log", log},
                         {"from_byte", std::to_string(unfinished->whole_bytes)},
                         {"bytes", std::to_string(unfinished->unfinished_bytes)}});
  }
  return {};
}

base::Result<std::vector<KnownFile>> synced_logs(const fs::path& directory, const StoreFiles& files,
                                                 Durability durability) {
  std::vector<KnownFile> logs;
  for (const std::string& name : files.logs) {
    const fs::path log = store_directory(directory) / name;
    logs.push_back({name, size_or_zero(log), std::nullopt});
    if (durability == Durability::synced) continue;
    TRY(logs.back().checksum, checksum_of(log));
  }
  return logs;
}

base::Result<std::vector<KnownFile>> list_store_files(const fs::path& directory) {
  TRY(const std::set<std::string> names, names_in(store_directory(directory)));
  std::vector<KnownFile> files;
  for (const std::string& name : names)
    if (name != state_mark_name && !name.ends_with(".trash"))
      files.push_back({name, size_or_zero(store_directory(directory) / name), std::nullopt});
  return files;
}

base::Result<StoreState> closed_state(const fs::path& directory, Durability durability) {
  const fs::path store = store_directory(directory);
  StoreState state;
  state.open = false;
  state.durability = durability;
  TRY(const std::string manifest_name, current_manifest(store));
  TRY(const Manifest manifest, read_manifest(store / manifest_name));
  for (const std::string& name : {std::string("CURRENT"), manifest_name}) {
    TRY(const std::uint32_t checksum, checksum_of(store / name));
    state.files.push_back({name, size_or_zero(store / name), checksum});
  }
  TRY(const std::set<std::string> names, names_in(store));
  for (const std::string& name : names) {
    if (!file_number(name, ".log")) continue;
    TRY(const std::uint32_t checksum, checksum_of(store / name));
    state.files.push_back({name, size_or_zero(store / name), checksum});
  }
  for (const auto& [number, size] : manifest.tables)
    state.files.push_back({numbered_file(number, ".sst"), size, std::nullopt});
  std::ranges::sort(state.files, {}, &KnownFile::name);
  return state;
}

base::Error damage_error(const fs::path& directory, const std::string& what, const std::string& changed) {
  return {base::ErrorCode::corrupt, "the store in '" + directory.string() + "' is damaged: " + what + ". " + changed +
                                        ". 'postino check --data " + directory.string() +
                                        "' says what is wrong, and 'postino repair --data " + directory.string() +
                                        "' saves what can be saved."};
}

base::Error damage_error(const fs::path& directory, const std::vector<FileFault>& faults) {
  std::string what = faults.front().file + ": " + faults.front().what;
  if (faults.size() > 1) what += " (and " + std::to_string(faults.size() - 1) + " more)";
  return damage_error(directory, what, "Nothing was changed");
}

}  // namespace postino::engine
