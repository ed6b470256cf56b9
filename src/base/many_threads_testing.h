// What tests with many threads share, and those that wait: how long that may take on a busy machine.
#pragma once

#include <barrier>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/effort_testing.h"

namespace postino::base {

// How much of the usual there is time for.
inline int volume(int usual) { return usual * test_effort() / 5; }

// Only a test that fails waits so long.
inline constexpr std::chrono::seconds test_patience{120};

// Calls the attempt with a short time limit. What comes before the silence that the test is about must happen within
// the limit, and a busy machine may need longer for it: the attempt then returns false, and is made again with twice
// the time. False if even the longest limit was too short.
template <class Attempt>
bool with_enough_time(const Attempt& attempt) {
  for (std::chrono::milliseconds limit(50); limit < test_patience; limit *= 2)
    if (attempt(limit)) return true;
  return false;
}

// Looks again and again until the condition holds, and lets other threads work meanwhile. False after the longest time
// that a test waits.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + test_patience;
  std::mutex mutex;
  std::condition_variable pause;
  std::unique_lock lock(mutex);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    // Without a pause it takes the processor from what it waits for.
    pause.wait_for(lock, std::chrono::milliseconds(2));
  }
  return true;
}

// The threads begin together.
inline void run_threads(int count, const std::function<void(int)>& work) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace postino::base
