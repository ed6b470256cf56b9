#include "outbox/email/email_filter.h"

#include <algorithm>

#include "base/text.h"

namespace postino::outbox {

namespace {

bool is_address(std::string_view address, std::string_view wanted) {
  if (wanted.starts_with('@')) address = address.substr(std::min(address.rfind('@'), address.size()));
  return base::equal_ignoring_case(address, wanted);
}

bool has_recipient(const Email& email, std::string_view wanted) {
  return std::ranges::any_of(email.recipients,
                             [&](const Recipient& recipient) { return is_address(recipient.address, wanted); });
}

bool has_in_subject(const Email& email, const std::string& wanted) {
  return base::lower_case(email.subject).find(base::lower_case(wanted)) != std::string::npos;
}

}  // namespace

bool matches(const Email& email, const EmailFilter& filter) {
  return (filter.tag.empty() || std::ranges::find(email.tags, filter.tag) != email.tags.end()) &&
         (filter.recipient.empty() || has_recipient(email, filter.recipient)) &&
         (filter.sender.empty() || is_address(email.sender, filter.sender)) &&
         (filter.subject.empty() || has_in_subject(email, filter.subject));
}

}  // namespace postino::outbox
