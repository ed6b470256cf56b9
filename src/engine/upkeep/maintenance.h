// What the store does on its own: expiring items, trimming streams, tokens and undo records, filling new indexes,
// restored tables and backups, removing old backups, finishing table changes that take their time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/backups/restore_runner.h"
#include "engine/catalog/core.h"
#include "engine/upkeep/clock_watch.h"
#include "engine/upkeep/expiry_sweeper.h"
#include "engine/upkeep/stream_trimmer.h"
#include "engine/upkeep/token_sweeper.h"
#include "engine/upkeep/undo_trimmer.h"

namespace postino::engine {

class Maintenance {
 public:
  explicit Maintenance(Core& core);
  // Ends the thread, if there is one, after the step it is in.
  ~Maintenance();

  // Starts a thread that calls run_once at the configured interval, and at once when woken. To be called before other
  // threads use the core.
  void start();
  void wake();
  // Waits for the thread to end.
  void stop();

  // Any thread.
  void guard_expiry(ExpiryGuard guard);

  // One bounded round of every duty, also after one has failed. True when there is more to do right away; the first
  // error, if any. Any thread, one round at a time.
  store::Answer<bool> run_once();

 private:
  struct Duty {
    std::string name;
    std::function<store::Answer<bool>()> run_once;
    std::string reported;  // the error that was logged last, so that it is not logged every second
  };

  void run();
  static void report(Duty& duty, const store::Answer<bool>& outcome);

  Core& core_;
  ClockWatch clock_watch_;
  ExpirySweeper expiry_sweeper_;
  StreamTrimmer stream_trimmer_;
  TokenSweeper token_sweeper_;
  UndoTrimmer undo_trimmer_;
  RestoreRunner restore_runner_;

  std::mutex round_mutex_;
  std::vector<Duty> duties_;  // guarded by round_mutex_

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool woken_ = false;
  std::thread thread_;
};

}  // namespace postino::engine
