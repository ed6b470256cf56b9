// A fixed number of threads for work that waits: for the disk, for a database, for another server.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace postino::base {

// Safe to use from any thread.
class ThreadPool {
 public:
  enum class Priority { usual, lower };  // lower: where other threads have work, theirs goes first

  // No more than `max_waiting` tasks wait for a thread at a time.
  ThreadPool(int threads, std::size_t max_waiting, Priority priority = Priority::usual);
  ~ThreadPool();  // stop()
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // False when too much waits already, or it has been stopped; the task is then not run. Tasks are begun in their
  // order. They must not throw.
  [[nodiscard]] bool try_submit(std::function<void()> task);

  // Takes no more, runs what was taken, and returns when that is done. Not from a task. May be called again.
  void stop();

  std::size_t waiting() const;

 private:
  void run();

  const std::size_t max_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::mutex join_mutex_;  // for those who stop at the same time: each waits for the end
  std::vector<std::thread> threads_;
};

}  // namespace postino::base
