// The backups of a running server: made by themselves and on request, verified, and taken away when they are old.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/backups/backup_place.h"
#include "app/settings/settings.h"
#include "backup/backups.h"
#include "backup/manifest.h"
#include "backup/place_lock.h"
#include "base/clock.h"
#include "base/plausible_clock.h"
#include "base/random.h"
#include "base/this_thread.h"

namespace postino::app {

struct BackupContext {
  // Makes a data directory of what the store is now, in this directory.
  std::function<base::Result<void>(const std::filesystem::path& directory)> make_checkpoint;
  // Tells the audit of what the server does by itself; may be empty.
  std::function<void(const std::string& action, const std::string& subject)> tell_audit;
  const base::Clock& clock;
  std::string program;  // its version
};

class BackupService final : public backup::Backups {
 public:
  // Opens the place and reads the key: an operator learns of a wrong one at the start. Calls no bucket yet.
  static base::Result<std::unique_ptr<BackupService>> create(const Settings& settings, BackupContext context);
  ~BackupService() override { stop(); }

  void start();
  // What is under way ends soon: the backup is not there then.
  void begin_stop();
  void stop();

  base::Result<void> begin() override;
  backup::BackupState state() const override;
  base::Result<std::vector<backup::ListedBackup>> list() override;

  // What an operator should know: there is no backup, it failed, is too old, or is not sound. Answers at once.
  std::vector<std::string> troubles() const;
  void append_metrics(std::string& out) const;

 private:
  BackupService(const Settings& settings, BackupContext context);

  void run();
  void look_at_place();
  void make_backup();
  base::Result<void> make_one();
  base::Result<backup::Manifest> write_one(backup::PlaceLock& lock);
  base::Result<void> verify_one(const std::string& id, backup::PlaceLock& lock);
  base::Result<void> remove_old(backup::PlaceLock& lock);
  base::Result<void> go_on(backup::PlaceLock& lock);
  void set_doing(const std::string& doing);
  base::Milliseconds pause_before_next() const;

  const Settings settings_;
  const BackupContext context_;
  base::SystemRandom random_;
  base::Pause pause_;
  BackupPlace place_;
  std::optional<backup::MasterKey> key_;
  base::AgeWatch ages_;
  std::string owner_;
  std::set<std::string> damaged_;  // chunks, as the last verification has found

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  backup::BackupState state_;
  bool is_asked_ = false;
  bool is_stopping_ = false;
  bool is_known_ = false;  // what the place has
  std::optional<backup::Verdict> verdict_of_newest_;
  base::Milliseconds due_{0};  // by the monotonic clock
  std::uint64_t made_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t kept_ = 0;
  std::thread thread_;
};

}  // namespace postino::app
