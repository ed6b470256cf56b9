// How many bytes of request bodies the process is willing to hold at a time.
#pragma once

#include <atomic>
#include <cstddef>

namespace postino::net {

// Safe to call from any thread.
class BodyBudget {
 public:
  explicit BodyBudget(std::size_t limit) : limit_(limit) {}

  // False, and nothing is taken, when there is not enough left.
  bool take(std::size_t bytes) {
    if (taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace postino::net
