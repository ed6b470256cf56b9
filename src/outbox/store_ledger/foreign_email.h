// Records of e-mails as another program writes them: the state, its time and its reason, and where the payload is.
// Nothing here reads or writes the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "outbox/email/state_machine.h"

namespace postino::outbox {

// All records of an e-mail.
struct EmailRecords {
  std::optional<item::Item> meta;
  std::optional<item::Item> mark;
  std::vector<item::Item> lines;
};

// Does the _META record lack what only Postino writes, or is it in a queue or a listing of another state than its own?
// Not when it cannot be read for other reasons.
bool needs_adoption(const item::Item& meta);
// Lines of history without a version are another program's.
bool is_foreign_line(const item::Item& line);

// The state under which the record is counted and listed; nullopt when it is in no listing.
std::optional<State> counted_state(const item::Item& meta);

// The e-mail as the counts have it: if another program has moved it, in its former state until it is adopted.
base::Result<Email> counted_email_of(const item::Item& meta);

// The e-mail, with a version and times of its own where the record has none. corrupt when it cannot be read.
base::Result<Email> foreign_email_of(const item::Item& meta, base::TimePoint now);

// An e-mail of another program after its adoption.
struct AdoptedEmail {
  Email email;
  item::Item meta;                // as it is to be, with attributes of the other program that mean nothing here
  std::vector<item::Item> lines;  // those of the other program, with version and time
};
// `event` says what its payload says. `email` is what foreign_email_of() made of the record.
base::Result<AdoptedEmail> adopted(const EmailRecords& records, Email email, event::Adopted event, const Policy& policy,
                                   base::TimePoint now);

// Lines that come late, beside an e-mail that needs no adoption: they are of its beginning.
std::vector<item::Item> late_lines(const EmailRecords& records, const Email& email, base::TimePoint expires);

// Who has a lease that another program is taken to have.
inline constexpr std::string_view foreign_owner = "another program";

}  // namespace postino::outbox
