// Where an e-mail may call back to.
#pragma once

#include <string>

#include "outbox/email/policy.h"

namespace postino::outbox {

// Is the URL that came with an e-mail refused, because it leads into a private network? As far as that can be told from
// the URL: the addresses of names are looked at when they are called.
bool leads_inside(const std::string& callback_url, const Policy& policy);
inline constexpr const char* leads_inside_rule = "must not lead into a private network";

}  // namespace postino::outbox
