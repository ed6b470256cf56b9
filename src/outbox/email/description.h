// What the ledger knows of an e-mail from its payload.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outbox/email/email.h"
#include "outbox/email/payload.h"

namespace postino::outbox {

struct Description {
  std::string sender;
  std::vector<Recipient> recipients;
  std::vector<std::string> tags;
  std::optional<base::TimePoint> send_at;
  std::string callback_url;
};

Description describe(const Payload& payload);
void fill_in(Email& email, Description description);

}  // namespace postino::outbox
