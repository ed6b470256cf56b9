#include "app/backups/backup_service.h"

#include <algorithm>
#include <fstream>

#include "app/backups/backup_files.h"
#include "backup/backup_writer.h"
#include "backup/place_lock.h"
#include "backup/retention.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/timestamp.h"
#include "engine/store_backup.h"

namespace postino::app {

namespace {

constexpr base::Milliseconds pause_after_failure = std::chrono::minutes(10);
constexpr base::Milliseconds pause_between_looks = std::chrono::seconds(30);
constexpr base::Milliseconds grace_of_age = std::chrono::hours(1);

// Of this very directory: it is locked, so no other process has the same.
std::string owner_of(const std::filesystem::path& data) {
  std::ifstream file(data / "store" / "IDENTITY");
  std::string text;
  std::getline(file, text);
  return text.empty() ? data.string() : text;
}

}  // namespace

BackupService::BackupService(const Settings& settings, BackupContext context)
    : settings_(settings), context_(std::move(context)), ages_(context_.clock, "") {
  state_.place = settings.backups.place;
}

base::Result<std::unique_ptr<BackupService>> BackupService::create(const Settings& settings, BackupContext context) {
  std::unique_ptr<BackupService> service(new BackupService(settings, std::move(context)));
  TRY(service->key_, read_master_key(settings.backups.key));
  TRY(service->place_, open_backup_place(settings, service->context_.clock, service->random_, service->pause_, false));
  service->state_.sealed = service->key_.has_value();
  service->owner_ = owner_of(settings.data);
  // What a process that was killed has left keeps tables on the disk.
  static_cast<void>(engine::remove_checkpoint(engine::checkpoint_directory(settings.data)));
  return service;
}

void BackupService::start() {
  thread_ = std::thread([this] {
    base::name_thread("backups");
    base::lower_thread_priority();
    run();
  });
}

void BackupService::begin_stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  pause_.end();
  changed_.notify_all();
}

void BackupService::stop() {
  begin_stop();
  if (thread_.joinable()) thread_.join();
}

void BackupService::run() {
  while (true) {
    ages_.look();
    if (!is_known_) look_at_place();
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [&] {
        const bool is_due = is_known_ && settings_.backups.every.count() > 0 && context_.clock.monotonic() >= due_;
        return is_stopping_ || is_asked_ || is_due;
      };
      changed_.wait_for(lock, pause_between_looks, has_work);
      if (is_stopping_) return;
      if (!has_work()) continue;
    }
    make_backup();
  }
}

// What others, or processes before this one, have left there.
void BackupService::look_at_place() {
  const auto backups = backup::list_backups(*place_.place, key_);
  const std::lock_guard lock(mutex_);
  if (!backups) {
    state_.problem = "the place of the backups cannot be read: " + backups.error().message;
    return;
  }
  is_known_ = true;
  state_.problem.clear();
  kept_ = backups->size();
  if (!backups->empty() && backups->back().manifest) {
    const backup::ListedBackup& newest = backups->back();
    state_.newest = newest.manifest->taken;
    state_.last_id = newest.id;
    verdict_of_newest_ = newest.verdict;
  } else if (!backups->empty()) {
    state_.problem = backups->back().problem;
  }
  due_ = context_.clock.monotonic() + pause_before_next();
  if (settings_.backups.every.count() > 0) state_.next = context_.clock.now() + pause_before_next();
}

// A clock that was wrong when the last one was taken, or is now, puts it off by one interval at most.
base::Milliseconds BackupService::pause_before_next() const {
  if (!state_.newest) return base::Milliseconds(0);
  return std::clamp<base::Milliseconds>(*state_.newest + settings_.backups.every - context_.clock.now(),
                                        base::Milliseconds(0), settings_.backups.every);
}

void BackupService::make_backup() {
  {
    const std::lock_guard lock(mutex_);
    state_.files = state_.bytes = state_.new_bytes = 0;
  }
  const auto made = make_one();
  static_cast<void>(engine::remove_checkpoint(engine::checkpoint_directory(settings_.data)));
  const std::lock_guard lock(mutex_);
  is_asked_ = false;
  state_.doing.clear();
  state_.ended = context_.clock.now();
  state_.problem = made ? "" : made.error().message;
  const base::Milliseconds pause =
      made ? settings_.backups.every : std::min(settings_.backups.every, pause_after_failure);
  due_ = context_.clock.monotonic() + pause;
  state_.next.reset();
  if (settings_.backups.every.count() > 0) state_.next = context_.clock.now() + pause;
  ++(made ? made_ : failed_);
  if (made)
    base::log_info("backup", "made and verified",
                   {{"id", state_.last_id},
                    {"files", std::to_string(state_.files)},
                    {"bytes", std::to_string(state_.bytes)},
                    {"new_bytes", std::to_string(state_.new_bytes)}});
  else if (!is_stopping_)
    base::log_error("backup", "no backup was made", {{"error", made.error().message}});
}

base::Result<void> BackupService::make_one() {
  set_doing("writing");
  TRY(backup::PlaceLock lock, backup::PlaceLock::take(*place_.place, "a backup of '" + settings_.data.string() + "'",
                                                      owner_, context_.clock, random_));
  TRY(const backup::Manifest written, write_one(lock));
  {
    const std::lock_guard guard(mutex_);
    state_.last_id = written.id;
    state_.newest = written.taken;
    state_.new_bytes = written.new_bytes;
    verdict_of_newest_.reset();
    ++kept_;
  }
  // The store may remove its tables again.
  TRY_VOID(engine::remove_checkpoint(engine::checkpoint_directory(settings_.data)));
  set_doing("verifying");
  TRY_VOID(verify_one(written.id, lock));
  set_doing("removing");
  return remove_old(lock);
}

base::Result<backup::Manifest> BackupService::write_one(backup::PlaceLock& lock) {
  TRY(const std::vector<backup::ListedBackup> before, backup::list_backups(*place_.place, key_));
  TRY(const std::string id, store_id(settings_.data, random_));
  backup::Manifest begun;
  begun.store = id;
  begun.program = context_.program;
  for (const backup::ListedBackup& each : before) {
    if (!each.manifest) continue;
    begun.number = std::max(begun.number, each.manifest->number);
    if (each.manifest->store != id)
      return base::fail(base::ErrorCode::conflict,
                        "the place has backups of another store (" + each.id + "): give each store a place of its own");
  }
  ++begun.number;
  TRY(const backup::SealedForm form, backup::form_to_write(*place_.place, key_, random_));
  begun.taken = context_.clock.now();
  begun.id = backup::make_backup_id(begun.taken, static_cast<std::uint32_t>(random_.next() >> 32));
  const std::filesystem::path checkpoint = engine::checkpoint_directory(settings_.data);
  TRY_VOID(context_.make_checkpoint(checkpoint));
  TRY(std::vector<backup::SourceFile> files, files_of_backup(settings_, checkpoint));
  backup::BackupWriter writer(*place_.place, form, random_, [&](const backup::Manifest& so_far) {
    {
      const std::lock_guard guard(mutex_);
      state_.files = so_far.files;
      state_.bytes = so_far.bytes;
      state_.new_bytes = so_far.new_bytes;
    }
    return go_on(lock);
  });
  writer.distrust(damaged_);
  return writer.write(std::move(begun), std::move(files), context_.clock);
}

base::Result<void> BackupService::verify_one(const std::string& id, backup::PlaceLock& lock) {
  TRY(backup::Verification found, backup::verify_backup(*place_.place, id, key_, [&] { return go_on(lock); }));
  damaged_ = std::move(found.damaged);
  const backup::Verdict verdict{context_.clock.now(), found.sound(), found.sound() ? "" : found.problems.front()};
  TRY(backup::BackupReader reader, backup::BackupReader::open(*place_.place, id, key_));
  TRY_VOID(reader.note(verdict, random_));
  const std::lock_guard guard(mutex_);
  verdict_of_newest_ = verdict;
  state_.files = found.files;
  state_.bytes = found.bytes;
  if (found.sound()) return {};
  return base::fail(base::ErrorCode::corrupt, "backup " + id + " is not sound: " + verdict.problem);
}

base::Result<void> BackupService::remove_old(backup::PlaceLock& lock) {
  // A clock that is wrong makes backups old.
  if (!ages_.is_trusted() || context_.clock.is_doubtful()) return {};
  TRY(const std::vector<backup::ListedBackup> backups, backup::list_backups(*place_.place, key_));
  const std::vector<std::string> old = backup::expired_backups(backups, context_.clock.now(), settings_.backups.kept);
  // Also without any: an interrupted backup or removal may have left chunks.
  for (const std::string& id : old)
    if (context_.tell_audit) context_.tell_audit("backup.removed", id);
  TRY(const backup::Removal removed, backup::remove_backups(*place_.place, old, key_, [&] { return go_on(lock); }));
  if (!removed.left_because.empty())
    base::log_warning("backup", "nothing that backups consist of is removed as long as one cannot be read",
                      {{"reason", removed.left_because}});
  const std::lock_guard guard(mutex_);
  kept_ = backups.size() - removed.backups.size();
  return {};
}

base::Result<void> BackupService::go_on(backup::PlaceLock& lock) {
  {
    const std::lock_guard guard(mutex_);
    if (is_stopping_) return base::fail(base::ErrorCode::exhausted, "the server is ending");
  }
  return lock.renew();
}

void BackupService::set_doing(const std::string& doing) {
  const std::lock_guard lock(mutex_);
  state_.doing = doing;
}

base::Result<void> BackupService::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return base::fail(base::ErrorCode::exhausted, "the server is ending");
    if (is_asked_ || !state_.doing.empty()) return base::fail(base::ErrorCode::conflict, "a backup is under way");
    is_asked_ = true;
    state_.doing = "writing";
  }
  changed_.notify_all();
  return {};
}

backup::BackupState BackupService::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

base::Result<std::vector<backup::ListedBackup>> BackupService::list() {
  return backup::list_backups(*place_.place, key_);
}

std::vector<std::string> BackupService::troubles() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  if (!state_.problem.empty()) found.push_back("the last backup failed: " + state_.problem);
  if (!is_known_ || settings_.backups.every.count() == 0) return found;
  const base::Milliseconds most_age = 2 * settings_.backups.every + grace_of_age;
  if (state_.newest && *state_.newest + most_age < context_.clock.now())
    found.push_back("the newest backup is of " + base::format_timestamp(*state_.newest));
  if (state_.newest && !verdict_of_newest_ && state_.doing.empty())
    found.push_back("the newest backup was not verified");
  if (verdict_of_newest_ && !verdict_of_newest_->sound && state_.problem.empty())
    found.push_back("the newest backup is not sound: " + verdict_of_newest_->problem);
  return found;
}

void BackupService::append_metrics(std::string& out) const {
  const std::lock_guard lock(mutex_);
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
    base::append_metric(out, name, type, help, std::to_string(value));
  };
  const std::int64_t newest = state_.newest ? base::epoch_seconds(*state_.newest) : 0;
  add("postino_backup_newest_timestamp_seconds", "gauge", "When the newest backup was taken; 0: there is none.",
      static_cast<std::uint64_t>(newest));
  add("postino_backup_verified", "gauge", "1: the newest backup was read as a whole, and is sound.",
      verdict_of_newest_ && verdict_of_newest_->sound ? 1 : 0);
  add("postino_backups_kept", "gauge", "Backups in the place.", kept_);
  add("postino_backups_made_total", "counter", "Backups that this process has made and verified.", made_);
  add("postino_backups_failed_total", "counter", "Backups that this process could not make, or that are not sound.",
      failed_);
  add("postino_backup_running", "gauge", "1: one is being made, verified or removed.", state_.doing.empty() ? 0 : 1);
}

}  // namespace postino::app
