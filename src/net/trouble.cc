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

std::optional<std::uint64_t> RepeatedTrouble::admit(const std::string& kind) {
  const base::Milliseconds now = clock_.monotonic();
  const std::lock_guard lock(mutex_);
  const bool is_known = kinds_.contains(kind) || kinds_.size() < most_kinds;
  const auto [found, is_new] = kinds_.try_emplace(is_known ? kind : "others", Kind{now});
  Kind& known = found->second;
  if (!is_new && now - known.told_at < pause) {
    ++known.untold;
    return std::nullopt;
  }
  known.told_at = now;
  return std::exchange(known.untold, 0);
}

}  // namespace postino::net
