// How much memory one kind of data may take in the whole process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace postino::base {

// Safe to use from any thread.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // What a caller has taken; it is given back when this goes. The budget must outlive it.
  class Share {
   public:
    Share() = default;
    ~Share() { give_back(); }
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      give_back();
      budget_ = std::exchange(other.budget_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }

    explicit operator bool() const { return budget_ != nullptr; }
    std::size_t bytes() const { return bytes_; }

    // Takes more. False, one more refusal, and nothing changes, when there is not enough left.
    bool grow(std::size_t bytes) {
      Share more = budget_->take(bytes);
      if (!more) return false;
      bytes_ += std::exchange(more.bytes_, 0);
      return true;
    }
    // Takes more, beyond the limit too, if no other share is out: for one thing that is larger than all there is.
    bool grow_alone(std::size_t bytes) {
      std::size_t own = bytes_;
      if (!budget_->taken_.compare_exchange_strong(own, own + bytes, std::memory_order_relaxed)) return false;
      bytes_ += bytes;
      return true;
    }
    // Gives back what is more than that.
    void shrink_to(std::size_t bytes) {
      if (budget_ == nullptr || bytes >= bytes_) return;
      budget_->taken_.fetch_sub(bytes_ - bytes, std::memory_order_relaxed);
      bytes_ = bytes;
    }

   private:
    friend class MemoryBudget;
    Share(MemoryBudget& budget, std::size_t bytes) : budget_(&budget), bytes_(bytes) {}
    void give_back() {
      if (budget_ != nullptr) budget_->taken_.fetch_sub(bytes_, std::memory_order_relaxed);
      budget_ = nullptr;
    }

    MemoryBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };

  // An empty share, and one more refusal, when there is not enough left. All shares that were taken so are never more
  // than the limit together.
  Share take(std::size_t bytes) {
    std::size_t taken = taken_.load(std::memory_order_relaxed);
    while (taken <= limit_ && bytes <= limit_ - taken)
      if (taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed)) return Share(*this, bytes);
    count_refusal();
    return Share();
  }
  // For what is there already, whether or not it fits.
  Share take_anyway(std::size_t bytes) {
    taken_.fetch_add(bytes, std::memory_order_relaxed);
    return Share(*this, bytes);
  }
  // For callers that look before they begin.
  bool exhausted() const { return taken() >= limit_; }
  bool scarce() const { return taken() >= limit_ / 2; }
  void count_refusal() { refused_.fetch_add(1, std::memory_order_relaxed); }

  std::size_t limit() const { return limit_; }
  std::size_t taken() const { return taken_.load(std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> taken_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
};

// What is taken, how much may be, and how many were refused, in Prometheus' text format. The names say what for.
void append_memory_metrics(std::string& out,
                           std::initializer_list<std::pair<std::string_view, const MemoryBudget*>> budgets);

}  // namespace postino::base
