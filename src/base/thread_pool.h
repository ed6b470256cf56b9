// Threads for work that waits: for the disk, for a database, for another server. They come with the work, up to a
// limit, and go when there has been none for them for a while.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace postino::base {

// Threads that come and go, none of which is left behind. Safe to use from any thread.
class ThreadGroup {
 public:
  ThreadGroup() = default;
  ~ThreadGroup() { join(); }
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  // Runs it on a new thread, which ends with it. False when the system has no more threads. It must not throw.
  [[nodiscard]] bool try_start(std::function<void()> run);

  // Returns when all threads have ended, and with them what belonged to them. No more may be started meanwhile. Not
  // from one of the threads. May be called again, and by several at the same time.
  void join();

 private:
  using Threads = std::list<std::thread>;

  void leave(Threads::iterator self);

  std::mutex mutex_;
  std::condition_variable changed_;
  Threads running_;
  Threads ended_;  // and not joined: the one that ended last
  std::mutex join_mutex_;
};

// Safe to use from any thread.
class ThreadPool {
 public:
  enum class Priority { usual, lower };  // lower: where other threads have work, theirs goes first

  // How long a thread without work stays. Starting one takes about as long as a short task.
  static constexpr std::chrono::milliseconds usual_rest{10'000};

  // No more than `max_waiting` tasks wait for a thread at a time.
  ThreadPool(int most_threads, std::size_t max_waiting, Priority priority = Priority::usual,
             std::chrono::milliseconds rest = usual_rest);
  ~ThreadPool();  // stop()
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // False when too much waits already, when it has been stopped, or when it has no thread and the system gives it none;
  // the task is then not run. Tasks are begun in their order. They must not throw.
  [[nodiscard]] bool try_submit(std::function<void()> task);

  // Takes no more, runs what was taken, and returns when that is done. Not from a task. May be called again.
  void stop();

  std::size_t waiting() const;  // tasks
  std::size_t threads() const;
  std::size_t resting() const;  // threads that have nothing to do

 private:
  // Of one thread. The one that began to rest last is called first: so the others get their time to go.
  struct Rest {
    std::condition_variable changed;
    bool is_called = false;
  };

  bool call_thread();
  void run();
  bool await_task(std::unique_lock<std::mutex>& lock);

  const std::size_t most_threads_;
  const std::size_t max_waiting_;
  const Priority priority_;
  const std::chrono::milliseconds rest_;
  mutable std::mutex mutex_;
  std::deque<std::function<void()>> tasks_;
  std::vector<Rest*> resting_;
  std::size_t thread_count_ = 0;
  std::size_t coming_ = 0;  // threads that were started or called and have not looked at the tasks yet
  bool stopping_ = false;
  ThreadGroup threads_;  // the last member: its threads use the others
};

}  // namespace postino::base
