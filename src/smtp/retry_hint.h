// When a server that refuses for now wants to be asked again, as far as its words tell.
#pragma once

#include <chrono>
#include <optional>

#include "smtp/reply.h"

namespace postino::smtp {

// Of a reply with a 4xx code: "try again in 60 seconds", "greylisted, please wait 5 minutes", "retry after 1 hour 30
// min". At most a day; nullopt when it names no time.
std::optional<std::chrono::milliseconds> retry_hint(const Reply& reply);

// Does such a reply concern all mail to the recipient's domain? Not if it is about one mailbox (4.2.x), or if the
// server lets each sender and recipient wait once.
bool is_about_domain(const Reply& reply);

}  // namespace postino::smtp
