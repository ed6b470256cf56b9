// What the ledger knows of an e-mail from its payload.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outbox/email/email.h"
#include "outbox/email/payload.h"

namespace postino::outbox {

// So much of a subject is kept with the record of the e-mail, in bytes.
inline constexpr std::size_t most_subject_bytes = 250;

struct Description {
  std::string sender;
  std::vector<Recipient> recipients;
  std::vector<std::string> tags;
  std::optional<base::TimePoint> send_at;
  std::string callback_url;
  std::string subject;  // its beginning
};

Description describe(const Payload& payload);
void fill_in(Email& email, Description description);

}  // namespace postino::outbox
