// What tests with many threads share.
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

// Gives other threads the processor for so long.
inline void pause(std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, time, [] { return false; });
}

// Asks again and again until it is so; false when that takes too long.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    pause(std::chrono::milliseconds(2));
  }
  return true;
}

// They begin together.
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
