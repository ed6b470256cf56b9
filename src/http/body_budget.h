// How many bytes of request bodies the process is willing to hold at a time, and how they are shared: no connection and
// no address can take so much that others get nothing.
#pragma once

#include <atomic>
#include <cstddef>

namespace postino::http {

// What the connections of one address hold together.
struct AddressShare {
  std::atomic<std::size_t> taken = 0;
};

// Safe to call from any thread.
class BodyBudget {
 public:
  // These may take all there is. The last eighth is for them alone.
  static constexpr std::size_t small_body_bytes = 64 << 10;

  explicit BodyBudget(std::size_t limit) : limit_(limit) {}

  // For a body that has `held` bytes so far. False, and nothing is taken, when there is not enough left, or the body
  // would have more than its share: a quarter of what others leave for large bodies and, where the address counts, half
  // of what its other connections leave of half of all. So what is left shrinks with each large body, but never to
  // nothing.
  bool take(std::size_t bytes, std::size_t held, AddressShare* address) {
    const std::size_t others = taken_.fetch_add(bytes, std::memory_order_relaxed) - held;
    const std::size_t neighbours =
        address == nullptr ? 0 : address->taken.fetch_add(bytes, std::memory_order_relaxed) - held;
    const std::size_t body = held + bytes;
    const bool fits = others + body <= limit_;
    const bool fair =
        body <= small_body_bytes || (body <= part_left(limit_ - limit_ / 8, others) / 4 &&
                                     (address == nullptr || body <= part_left(limit_ / 2, neighbours) / 2));
    if (fits && fair) return true;
    give_back(bytes, address);
    return false;
  }
  void give_back(std::size_t bytes, AddressShare* address) {
    taken_.fetch_sub(bytes, std::memory_order_relaxed);
    if (address != nullptr) address->taken.fetch_sub(bytes, std::memory_order_relaxed);
  }
  std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  static std::size_t part_left(std::size_t part, std::size_t used) { return part > used ? part - used : 0; }

  const std::size_t limit_;
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace postino::http
