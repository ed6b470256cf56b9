#include "base/thread_pool.h"

#include "base/check.h"
#include "base/this_thread.h"

namespace postino::base {

ThreadPool::ThreadPool(int threads, std::size_t max_waiting, Priority priority) : max_waiting_(max_waiting) {
  CHECK(threads > 0);
  threads_.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this, priority] {
      if (priority == Priority::lower) lower_thread_priority();
      run();
    });
}

ThreadPool::~ThreadPool() { stop(); }

bool ThreadPool::try_submit(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || tasks_.size() >= max_waiting_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  const std::lock_guard lock(join_mutex_);
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::size_t ThreadPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

void ThreadPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }  // what the task holds goes before the lock is taken again
    lock.lock();
  }
}

}  // namespace postino::base
