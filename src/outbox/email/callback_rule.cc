#include "outbox/email/callback_rule.h"

#include "net/resolve.h"
#include "net/url.h"

namespace postino::outbox {

bool leads_inside(const std::string& callback_url, const Policy& policy) {
  // The configured URL is the operator's choice.
  if (callback_url.empty() || policy.private_callbacks || callback_url == policy.default_callback_url) return false;
  const auto url = net::Url::parse(callback_url);
  return url && net::is_surely_private(url->host);
}

}  // namespace postino::outbox
