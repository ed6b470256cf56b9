// E-mails as rows of the table `emails`.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "mysql/rows.h"
#include "outbox/email/email.h"
#include "outbox/mysql_ledger/mysql_statement.h"

namespace postino::outbox {

struct EmailRow {
  Email email;
  // The state it is counted under, if it is counted at all.
  std::optional<State> counted_as;
  // Another program has moved it since Postino wrote it last, if ever.
  bool foreign = false;
  // Sender and recipients are known. They are in the payload of every e-mail, but other programs do not put them here.
  bool described = true;
  // Postino has never moved it.
  bool never_moved = false;
};

// What to SELECT for email_row_of, all columns of `emails`.
extern const std::string email_columns;
// corrupt when a column does not have the form it must have.
base::Result<EmailRow> email_row_of(const mysql::Row& row);
// Of a row that is due some time.
base::TimePoint due_of(const mysql::Row& row);

// Inserts so many rows; add_new_row() adds the parameters of one.
std::string insert_emails(std::size_t rows);
void add_new_row(Parameters& parameters, const Email& email, base::TimePoint expires);

// Rewrites what a move may change. The rows must be there and be locked by this transaction: what is not there would be
// inserted. Of all ways to change many rows at once that MariaDB and MySQL have in common it is the fastest.
std::string rewrite_emails(std::size_t rows);
void add_changed_row(Parameters& parameters, const Email& email, base::TimePoint expires);

// Columns that hold JSON; nullopt, NULL, for lists without elements.
std::optional<std::string> tags_json(const Email& email);
std::optional<std::string> recipients_json(const Email& email);
std::optional<std::string> bounces_json(const Email& email);

}  // namespace postino::outbox
