#include "net/partner_health.h"

#include "base/log.h"

namespace postino::net {

void PartnerHealth::works() {
  if (trouble_.works()) base::log_info(part_, what_ + " can be used again", {{"name", name_}});
}

void PartnerHealth::fails(const std::string& why, Instant now) {
  if (trouble_.fails(why, now)) base::log_error(part_, what_ + " cannot be used", {{"name", name_}, {"error", why}});
}

std::optional<std::string> PartnerHealth::problem() const {
  const auto why = trouble_.cause();
  if (!why) return std::nullopt;
  return what_ + " " + name_ + " could not be used at the last attempt: " + *why;
}

}  // namespace postino::net
