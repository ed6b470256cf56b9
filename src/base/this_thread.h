// What the calling thread says of itself to the system, and how it waits.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace postino::base {

// For those who look at the process from outside. The system keeps the first 15 characters.
inline void name_thread(const std::string& name) { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); }

// For work that can wait. From here on the thread gets about a tenth of what busy threads get; alone it gets
// everything.
inline void lower_thread_priority() {
  constexpr int niceness = 10;
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness);  // where it is refused nothing is lost
}

// Waiting that can be ended, for threads that have nothing to do for a while. Safe to use from any thread.
class Pause {
 public:
  // Until the time is over or end() is called. After end() no thread waits any more.
  void wait(Milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return ended_; });
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

// Calls something at a moment, on a thread of its own, unless the alarm is gone by then.
class Alarm {
 public:
  Alarm(std::chrono::steady_clock::time_point when, std::function<void()> call)
      : thread_([this, when, call = std::move(call)] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_until(lock, when, [this] { return is_off_; })) call();
        }) {}
  ~Alarm() {
    {
      const std::lock_guard lock(mutex_);
      is_off_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_off_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace postino::base
