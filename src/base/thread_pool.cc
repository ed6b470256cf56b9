#include "base/thread_pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/this_thread.h"

namespace postino::base {

bool ThreadGroup::try_start(std::function<void()> run) {
  const std::lock_guard lock(mutex_);
  const auto self = running_.emplace(running_.end());
  try {
    // It cannot leave before it is in the list: leaving takes the mutex.
    *self = std::thread([this, self, run = std::move(run)]() mutable {
      run();
      run = nullptr;
      leave(self);
    });
  } catch (const std::system_error&) {
    running_.erase(self);
    return false;
  }
  return true;
}

// Each one waits for the end of the one that left before it, so that no more than one has to be waited for later.
void ThreadGroup::leave(Threads::iterator self) {
  Threads before;
  {
    const std::lock_guard lock(mutex_);
    before.swap(ended_);
    ended_.splice(ended_.end(), running_, self);
    changed_.notify_all();  // with the mutex held: the group may go as soon as it is free
  }
  for (std::thread& thread : before) thread.join();
}

void ThreadGroup::join() {
  const std::lock_guard turn(join_mutex_);
  Threads last;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_.empty(); });
    last.swap(ended_);
  }
  for (std::thread& thread : last) thread.join();
}

ThreadPool::ThreadPool(int most_threads, std::size_t max_waiting, Priority priority, std::chrono::milliseconds rest)
    : most_threads_(static_cast<std::size_t>(most_threads)),
      max_waiting_(max_waiting),
      priority_(priority),
      rest_(rest) {
  CHECK(most_threads > 0);
}

ThreadPool::~ThreadPool() { stop(); }

bool ThreadPool::try_submit(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || tasks_.size() >= max_waiting_) return false;
  tasks_.push_back(std::move(task));
  if (tasks_.size() <= coming_ || call_thread() || thread_count_ > 0) return true;
  tasks_.pop_back();
  return false;
}

// One more for the tasks. False when there is none. The mutex is held.
bool ThreadPool::call_thread() {
  if (!resting_.empty()) {
    Rest& rest = *resting_.back();
    resting_.pop_back();
    rest.is_called = true;
    rest.changed.notify_one();
  } else if (thread_count_ < most_threads_ && threads_.try_start([this] { run(); })) {
    ++thread_count_;
  } else {
    return false;
  }
  ++coming_;
  return true;
}

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Rest* rest : resting_) rest->changed.notify_one();
  }
  threads_.join();
}

std::size_t ThreadPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size();
}

std::size_t ThreadPool::threads() const {
  const std::lock_guard lock(mutex_);
  return thread_count_;
}

std::size_t ThreadPool::resting() const {
  const std::lock_guard lock(mutex_);
  return resting_.size();
}

void ThreadPool::run() {
  if (priority_ == Priority::lower) lower_thread_priority();
  std::unique_lock lock(mutex_);
  --coming_;
  while (!tasks_.empty() || await_task(lock)) {
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }  // what the task holds goes before the lock is taken again
    lock.lock();
  }
  --thread_count_;
}

// Rests until there is one. False when it is time for the thread to go.
bool ThreadPool::await_task(std::unique_lock<std::mutex>& lock) {
  while (tasks_.empty()) {
    if (stopping_) return false;
    Rest rest;
    resting_.push_back(&rest);
    rest.changed.wait_for(lock, rest_, [&] { return rest.is_called || stopping_; });
    if (rest.is_called) {
      --coming_;
      continue;  // another thread may have been faster
    }
    std::erase(resting_, &rest);
    if (!stopping_) return false;  // if there are tasks by now, others were called for them
  }
  return true;
}

}  // namespace postino::base
