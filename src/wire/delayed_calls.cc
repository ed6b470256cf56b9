#include "wire/delayed_calls.h"

namespace postino::wire {

DelayedCalls::DelayedCalls(std::chrono::milliseconds delay) : delay_(delay), thread_([this] { run(); }) {}

DelayedCalls::~DelayedCalls() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void DelayedCalls::add(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::chrono::steady_clock::now() + delay_, std::move(call)});
  }
  changed_.notify_one();
}

void DelayedCalls::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_.empty()) {
      if (stopping_) return;
      changed_.wait(lock);
      continue;
    }
    if (!stopping_ && std::chrono::steady_clock::now() < waiting_.front().due) {
      changed_.wait_until(lock, waiting_.front().due);
      continue;
    }
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next.call();
    lock.lock();
  }
}

}  // namespace postino::wire
