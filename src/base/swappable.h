// A value that is replaced while others use it, such as keys that are read again.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace postino::base {

// Safe to use from any thread. A caller that has asked for the value keeps it for as long as it is needed.
template <class T>
class Swappable {
 public:
  explicit Swappable(std::shared_ptr<const T> value = nullptr) : value_(std::move(value)) {}

  std::shared_ptr<const T> get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  // The former value goes after the lock: that may take long.
  void set(std::shared_ptr<const T> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace postino::base
