#include "net/partner_health.h"

#include <utility>

#include "base/log.h"

namespace postino::net {

void PartnerHealth::works() {
  if (!is_down_) return;
  const std::lock_guard lock(mutex_);
  is_down_ = false;
  if (std::exchange(is_told_, false)) base::log_info(part_, what_ + " can be used again", {{"name", name_}});
}

void PartnerHealth::fails(const std::string& why, Instant now) {
  const std::lock_guard lock(mutex_);
  is_down_ = true;
  why_ = why;
  if (is_told_ || (told_at_ && now - *told_at_ < pause)) return;
  is_told_ = true;
  told_at_ = now;
  base::log_error(part_, what_ + " cannot be used", {{"name", name_}, {"error", why_}});
}

std::optional<std::string> PartnerHealth::problem() const {
  if (!is_down_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return what_ + " " + name_ + " could not be used at the last attempt: " + why_;
}

}  // namespace postino::net
