#include "outbox/ledger/message_memory.h"

#include <algorithm>

namespace postino::outbox {

std::size_t MessageMemory::waiting() const {
  const std::lock_guard lock(mutex_);
  return line_.size();
}

bool MessageMemory::fits(std::size_t bytes) const {
  const std::size_t taken = budget_->taken();
  const bool has_space = taken <= budget_->limit() && bytes <= budget_->limit() - taken;
  return has_space || large_rooms_ == 0;
}

MessageRoom& MessageRoom::operator=(MessageRoom&& other) noexcept {
  if (this == &other) return *this;
  leave();
  memory_ = other.memory_;  // the other one can be used again
  share_ = std::move(other.share_);
  is_large_ = std::exchange(other.is_large_, false);
  number_ = std::exchange(other.number_, 0);
  needed_ = std::exchange(other.needed_, 0);
  return *this;
}

void MessageRoom::leave() {
  if (memory_ == nullptr) return;
  const std::lock_guard lock(memory_->mutex_);
  give_back();
  if (number_ != 0) memory_->line_.erase(number_);
  number_ = 0;
  needed_ = 0;
}

void MessageRoom::give_back() {
  if (is_large_) --memory_->large_rooms_;
  is_large_ = false;
  share_ = {};
}

void MessageRoom::occupy(std::size_t bytes) {
  if (number_ != 0) memory_->line_.erase(number_);
  number_ = 0;
  needed_ = 0;
  is_large_ = bytes > MessageMemory::small;
  if (is_large_) ++memory_->large_rooms_;
  share_ = memory_->budget_->take_anyway(bytes);
}

bool MessageRoom::take(std::size_t bytes) {
  if (memory_ == nullptr) return true;
  const std::lock_guard lock(memory_->mutex_);
  const std::size_t needed = std::max(bytes, needed_);
  if (share_ && needed <= share_.bytes()) return true;
  give_back();
  const bool is_small = needed <= MessageMemory::small;
  if (is_small || (memory_->is_first(number_) && memory_->fits(needed))) {
    occupy(needed);
    return true;
  }
  needed_ = needed;
  if (number_ != 0) return false;
  memory_->budget_->count_refusal();
  number_ = ++memory_->last_number_;
  memory_->line_.insert(number_);
  return false;
}

bool MessageRoom::try_take(std::size_t bytes) {
  if (memory_ == nullptr) return true;
  const std::lock_guard lock(memory_->mutex_);
  const bool is_small = bytes <= MessageMemory::small;
  if (!is_small && !(memory_->line_.empty() && memory_->fits(bytes))) {
    memory_->budget_->count_refusal();
    return false;
  }
  give_back();
  occupy(bytes);
  return true;
}

void MessageRoom::take_anyway(std::size_t bytes) {
  if (memory_ == nullptr) return;
  const std::lock_guard lock(memory_->mutex_);
  give_back();
  occupy(bytes);
}

void MessageRoom::shrink_to(std::size_t bytes) { share_.shrink_to(bytes); }

bool MessageRoom::has_come() const {
  if (number_ == 0) return false;
  const std::lock_guard lock(memory_->mutex_);
  return memory_->is_first(number_) && memory_->fits(needed_);
}

}  // namespace postino::outbox
