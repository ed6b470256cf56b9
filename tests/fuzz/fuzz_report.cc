// Mail that comes from outside: delivery reports, customers' answers, and the addresses in them.
#include "base/check.h"
#include "mail/address.h"
#include "mail/delivery_report.h"
#include "mail/readable_text.h"
#include "mail/subject.h"
#include "targets.h"

namespace postino::fuzz {

void fuzz_report(std::string_view input) {
  if (const auto mailbox = mail::parse_mailbox(input)) {
    CHECK(mailbox->address.find_first_of("\r\n") == std::string::npos);
    CHECK(!mail::domain_of(mailbox->address).empty());
    const auto again = mail::parse_mailbox(mailbox->address);
    CHECK(again && again->address == mailbox->address);
  }
  mail::subject_of(input);
  mail::readable_text(input);
  const auto report = mail::parse_delivery_report(input);
  if (!report) return;
  CHECK(report->recipients.size() <= 1'000);
  for (const mail::ReportedRecipient& recipient : report->recipients) {
    CHECK(!recipient.address.empty());
    CHECK(recipient.address.find_first_of("\r\n") == std::string::npos);
  }
}

}  // namespace postino::fuzz
