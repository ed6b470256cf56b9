// Which e-mails are looked for, by what their records say.
#pragma once

#include <string>

#include "outbox/email/email.h"

namespace postino::outbox {

// What is empty is not asked for. Addresses are compared, and subjects searched, without regard to the case of the
// letters A to Z.
struct EmailFilter {
  std::string tag;        // one of its tags
  std::string recipient;  // an address of to, cc or bcc; or "@" and a domain
  std::string sender;     // the same
  std::string subject;    // a part of the subject

  bool empty() const { return tag.empty() && recipient.empty() && sender.empty() && subject.empty(); }
};

bool matches(const Email& email, const EmailFilter& filter);

}  // namespace postino::outbox
