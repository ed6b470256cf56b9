// Calls that are made after a time, all of them the same one, on a thread of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace postino::wire {

class DelayedCalls {
 public:
  explicit DelayedCalls(std::chrono::milliseconds delay);
  // Calls that still wait are made at once.
  ~DelayedCalls();
  DelayedCalls(const DelayedCalls&) = delete;
  DelayedCalls& operator=(const DelayedCalls&) = delete;

  void add(std::function<void()> call);

 private:
  struct Waiting {
    std::chrono::steady_clock::time_point due;
    std::function<void()> call;
  };
  void run();

  const std::chrono::milliseconds delay_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;  // the delay is always the same, so the first is due first
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace postino::wire
