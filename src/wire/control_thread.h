// One thread for operations on tables, which wait for the disk: the I/O threads must not.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace postino::wire {

class ControlThread {
 public:
  ControlThread();
  ~ControlThread();
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;

  // Runs what was taken, then ends. May be called again.
  void stop();

  // False when too much waits already, or it has been stopped; `task` is then not run.
  [[nodiscard]] bool submit(std::function<void()> task);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace postino::wire
