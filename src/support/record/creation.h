// The answer to the creation of a ticket, kept under its idempotency key.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "item/value.h"
#include "support/record/keys.h"
#include "support/record/ticket.h"

namespace postino::support {

inline constexpr base::Milliseconds creation_key_life = std::chrono::hours(24);

struct Creation {
  std::string ticket_id;
  std::string status;             // of the first answer: "NEW"
  std::string created_at;         // as it is written
  std::string request_hash = {};  // empty where another program wrote it
};

item::Item creation_item(const Keys& keys, const std::string& key, const Creation& creation, base::TimePoint now,
                         base::Milliseconds life = creation_key_life);
// Nothing when it has expired, or cannot be read: then it is taken over.
std::optional<Creation> read_creation(const item::Item& item, base::TimePoint now);
// The same for equal requests.
std::string hash_of_request(const std::string& canonical);

}  // namespace postino::support
