// Records of e-mails as another program writes them: the state, its time and its reason, and where the payload is.
// Nothing here reads or writes the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "outbox/email/state_machine.h"
#include "outbox/store_ledger/email_item.h"

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
// Does it lack what only Postino writes, so that no worker takes it until it is adopted?
bool waits_for_adoption(const item::Item& meta);
// Lines of history without a version are another program's.
bool is_foreign_line(const item::Item& line);

// The state under which the record is counted and listed; nullopt when it is in no listing.
std::optional<State> counted_state(const item::Item& meta);

// The e-mail as the counts have it: if another program has moved it, in its former state until it is adopted. nullopt
// when it is not counted yet.
base::Result<std::optional<Email>> counted_email_of(const item::Item& meta);

// The mark of an e-mail that another program is about to write to (foreign_writes.h) says how the e-mail is counted:
// the record may be gone afterwards. keep_counted() takes that from the mark before, whose e-mail may be gone already.
void note_counted(const item::Item& meta, item::Item& mark);
void keep_counted(const item::Item& before, item::Item& mark);
void drop_counted(item::Item& mark);
// An e-mail that is counted, and was deleted or replaced: its state, tenant and time of keeping. nullopt when there is
// none.
std::optional<Email> lost_email(const EmailRecords& records);

// The e-mail, with a version and times of its own where the record has none. corrupt when it cannot be read.
base::Result<Email> foreign_email_of(const item::Item& meta, base::TimePoint now);

// An e-mail of another program after its adoption.
struct AdoptedEmail {
  Email email;
  item::Item meta;                // as it is to be, with attributes of the other program that mean nothing here
  std::vector<item::Item> lines;  // those of the other program, with version and time
};
// `event` says what its payload says. `email` is what foreign_email_of() made of the record. `is_guarded`: the store
// asks before it deletes a record, so that every record has a TTL from the beginning (record_lives.h).
base::Result<AdoptedEmail> adopted(const EmailRecords& records, Email email, event::Adopted event, const Policy& policy,
                                   base::TimePoint now, int shards, bool is_guarded = true);

// Lines that come late, beside an e-mail that needs no adoption: each has its place by its time, if it tells one.
std::vector<item::Item> late_lines(const EmailRecords& records, const Email& email, const RecordLife& life);

}  // namespace postino::outbox
