// The threads for calls that take long, so that short ones need not wait behind them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/thread_pool.h"

namespace postino::wire {

// How much a read may do on an I/O thread: about as long as a few dozen short calls take. Beyond that it moves here.
inline constexpr std::size_t short_read_keys = 1'000;
inline constexpr std::size_t short_read_bytes = 128 << 10;
// A larger body takes long to check and to read.
inline constexpr std::size_t short_body_bytes = 256 << 10;

// Safe to use from any thread. The threads have a lower priority than those that serve connections.
class LongCalls {
 public:
  // 0 threads: one per core, but at least two. No more than `max_waiting` calls wait for a thread.
  LongCalls(int threads, std::size_t max_waiting);

  // False when too many wait, or it has been stopped; the call is then not run.
  [[nodiscard]] bool try_submit(std::function<void()> call);

  // Returns when the calls that run are done. Those that wait are dropped: there is no caller left to answer.
  void stop();

  // Appends what it did in Prometheus' text format.
  void append_to(std::string& out) const;

 private:
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  base::ThreadPool pool_;
};

}  // namespace postino::wire
