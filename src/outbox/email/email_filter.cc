#include "outbox/email/email_filter.h"

#include <algorithm>

#include "base/text.h"
#include "mail/address.h"

namespace postino::outbox {

namespace {

bool is_address(std::string_view address, std::string_view wanted) {
  if (wanted.starts_with('@')) address = address.substr(std::min(address.rfind('@'), address.size()));
  return mail::is_same_address(address, wanted);
}

bool has_recipient(const Email& email, std::string_view wanted) {
  return std::ranges::any_of(email.recipients,
                             [&](const Recipient& recipient) { return is_address(recipient.address, wanted); });
}

// Many clients write a space as a plus sign, which in addresses and times stands for itself.
bool is_meant(char letter, char wanted) { return letter == wanted || (wanted == '+' && letter == ' '); }

bool has_in_subject(const Email& email, const std::string& wanted) {
  const std::string subject = base::lower_case(email.subject);
  const std::string part = base::lower_case(wanted);
  return !std::ranges::search(subject, part, is_meant).empty();
}

bool has_tag(const Email& email, const std::string& wanted) {
  return std::ranges::any_of(email.tags,
                             [&](const std::string& tag) { return std::ranges::equal(tag, wanted, is_meant); });
}

}  // namespace

bool matches(const Email& email, const EmailFilter& filter) {
  return (filter.tag.empty() || has_tag(email, filter.tag)) &&
         (filter.recipient.empty() || has_recipient(email, filter.recipient)) &&
         (filter.sender.empty() || is_address(email.sender, filter.sender)) &&
         (filter.subject.empty() || has_in_subject(email, filter.subject));
}

}  // namespace postino::outbox
