#include "engine/upkeep/maintenance.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "engine/backups/table_backups.h"
#include "engine/tables/table_transition.h"
#include "engine/upkeep/index_backfill.h"

namespace postino::engine {

namespace {

constexpr base::Milliseconds longest_pause = std::chrono::seconds(10);

}  // namespace

Maintenance::Maintenance(Core& core)
    : core_(core),
      clock_watch_(core),
      expiry_sweeper_(core),
      stream_trimmer_(core),
      token_sweeper_(core),
      undo_trimmer_(core),
      restore_runner_(core) {
  // Those who delete by age wait as long as the clock may be wrong.
  const auto if_trusted = [this](auto& sweeper) {
    return [this, &sweeper]() -> store::Answer<bool> {
      if (!clock_watch_.is_trusted()) return false;
      return sweeper.run_once();
    };
  };
  duties_.push_back({"looking at the clock", [this] { return clock_watch_.run_once(); }, {}});
  duties_.push_back({"looking at the disk",
                     [this]() -> store::Answer<bool> {
                       core_.database->look_at_disk();
                       return false;
                     },
                     {}});
  duties_.push_back({"writing out what is in memory",
                     [this]() -> store::Answer<bool> {
                       core_.database->write_out_when_idle(core_.options.clock->monotonic());
                       return false;
                     },
                     {}});
  duties_.push_back({"finishing table changes",
                     [this]() -> store::Answer<bool> {
                       TRY_VOID(complete_due_transitions(core_));
                       return false;
                     },
                     {}});
  duties_.push_back({"filling indexes", [this] { return run_index_backfill_once(core_); }, {}});
  duties_.push_back({"expiring items", if_trusted(expiry_sweeper_), {}});
  duties_.push_back({"trimming streams", if_trusted(stream_trimmer_), {}});
  duties_.push_back({"forgetting request tokens", if_trusted(token_sweeper_), {}});
  duties_.push_back({"trimming undo records", if_trusted(undo_trimmer_), {}});
  duties_.push_back({"removing old backups",
                     [this]() -> store::Answer<bool> {
                       if (!clock_watch_.is_trusted()) return false;
                       return remove_old_backups(core_);
                     },
                     {}});
  duties_.push_back({"restoring tables and making backups", [this] { return restore_runner_.run_once(); }, {}});
}

Maintenance::~Maintenance() {
  stop();
  core_.wake_maintenance = nullptr;
}

void Maintenance::start() {
  CHECK(!thread_.joinable());
  stopping_ = false;
  core_.wake_maintenance = [this] { wake(); };
  thread_ = std::thread([this] { run(); });
}

void Maintenance::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

void Maintenance::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Maintenance::guard_expiry(ExpiryGuard guard) {
  const std::lock_guard round(round_mutex_);
  expiry_sweeper_.set_guard(std::move(guard));
}

store::Answer<bool> Maintenance::run_once() {
  const std::lock_guard round(round_mutex_);
  store::Answer<bool> result = false;
  for (Duty& duty : duties_) {
    store::Answer<bool> outcome = duty.run_once();
    report(duty, outcome);
    if (result && (!outcome || *outcome)) result = std::move(outcome);
  }
  return result;
}

void Maintenance::report(Duty& duty, const store::Answer<bool>& outcome) {
  if (!outcome && duty.reported != outcome.error().message) {
    duty.reported = outcome.error().message;
    base::log_warning("maintenance", duty.name + " failed and will be tried again: " + duty.reported);
  } else if (outcome && !duty.reported.empty()) {
    duty.reported.clear();
    base::log_info("maintenance", duty.name + " works again");
  }
}

void Maintenance::run() {
  base::Milliseconds pause = core_.options.maintenance_interval;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    woken_ = false;
    lock.unlock();
    const store::Answer<bool> more = run_once();
    lock.lock();
    // A full disk does not get better by being asked ever faster.
    pause = more ? core_.options.maintenance_interval : std::min(pause * 2, longest_pause);
    if (more && *more) continue;
    changed_.wait_for(lock, pause, [&] { return stopping_ || woken_; });
  }
}

}  // namespace postino::engine
