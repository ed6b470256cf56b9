// An e-mail of a ticket, sent or received.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "support/record/keys.h"

namespace postino::support {

struct TicketEmail {
  std::string ticket_id;
  bool received = false;   // otherwise it was sent
  std::string message_id;  // without angle brackets
  std::string email_id;    // in the outbox; empty of a received one
  std::string kind;        // of a sent one: "acknowledgement", "answer", "escalation"
  std::string from;
  std::vector<std::string> to;
  std::string subject;
  std::string text;
  bool is_cut = false;  // the text was longer
  std::string in_reply_to;
  bool brought_by_customer = false;  // a caller that is bound to the customer added it
  std::string by;                    // who sent it, or brought it
  base::TimePoint at{};
  std::string sort;  // its key: "EMAIL#{time}#{8 digits}"
};

// The sort key: of the time, and of what tells it from others of that time.
std::string email_sort(const TicketEmail& email);
item::Item email_item(const Keys& keys, const TicketEmail& email);
base::Result<TicketEmail> read_email(const item::Item& item);

// Leads from a Message-ID to the ticket, and to the e-mail of it.
struct MailReference {
  std::string ticket_id;
  std::string sort;
};
item::Item mail_reference_item(const Keys& keys, const TicketEmail& email);
MailReference read_mail_reference(const item::Item& item);

// What a header such as In-Reply-To or References names, without angle brackets; at most `most`, and none that is
// longer than a Message-ID may be.
std::vector<std::string> message_ids_in(std::string_view header, std::size_t most);

}  // namespace postino::support
