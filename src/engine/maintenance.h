// What the store does on its own: expiring items, trimming streams and tokens, filling new indexes.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/core.h"

namespace postino::engine {

class Maintenance {
 public:
  explicit Maintenance(Core& core) : core_(core) {}
  // Ends the thread, if there is one, after the step it is in.
  ~Maintenance();

  // Starts a thread that calls run_once at the configured interval, and at once when woken.
  void start();
  void wake();

  // One bounded round of every duty. True when there is more to do right away.
  store::Answer<bool> run_once();

 private:
  void run();

  Core& core_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool woken_ = false;
  std::thread thread_;
};

}  // namespace postino::engine
