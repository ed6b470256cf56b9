#include "net/trouble.h"

#include <utility>

namespace postino::net {

bool LastingTrouble::fails(const std::string& why, Instant now) {
  const std::lock_guard lock(mutex_);
  is_there_ = true;
  why_ = why;
  if (is_told_ || (told_at_ && now - *told_at_ < pause)) return false;
  is_told_ = true;
  told_at_ = now;
  return true;
}

bool LastingTrouble::works() {
  if (!is_there_) return false;
  const std::lock_guard lock(mutex_);
  is_there_ = false;
  return std::exchange(is_told_, false);
}

std::optional<std::string> LastingTrouble::cause() const {
  if (!is_there_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return why_;
}

}  // namespace postino::net
