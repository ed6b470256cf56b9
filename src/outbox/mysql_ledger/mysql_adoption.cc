// E-mails of other programs that work on the same tables.
//
// One that another program has inserted says nothing but where its payload is: what the ledger must know of it is read
// from there when it is first found. One that another program has sent, or given up, is that program's to call back
// for: it is taken out of the queue. One that it works on is left alone until it must be gone (find_ended_leases).
#include "base/log.h"
#include "outbox/email/description.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;

namespace {

// What stands in the row of an e-mail that another program has made ready is when that was, or what was due before.
Email without_foreign_time(Email email) {
  if (email.state == State::ready) email.due_at.reset();
  return email;
}

}  // namespace

bool MysqlLedger::waits_for_its_time(const Email& email) const {
  return email.state == State::ready && email.send_at && *email.send_at > clock_.now();
}

bool MysqlLedger::needs_adoption(const EmailRow& row) const {
  if (is_outcome(row.email.state)) return row.foreign;
  return !row.described || waits_for_its_time(row.email);
}

// True when there is one that can be claimed now, or is out of the way. One that cannot be adopted is told of, and
// keeps no other back.
base::Result<bool> MysqlLedger::adopt(const std::vector<EmailRow>& rows) {
  bool some = false;
  for (const EmailRow& row : rows) {
    const auto adopted = is_outcome(row.email.state) ? adopt_outcome(row)
                         : row.described             ? adopt_time(row.email)
                                                     : adopt_described(row.email);
    using enum base::ErrorCode;
    if (!adopted && (adopted.error().code == io || adopted.error().code == exhausted)) return adopted;
    if (!adopted) malformed_.note(row.email.id, adopted.error());
    some = some || adopted.value_or(false);
  }
  return some;
}

// False when the payload cannot be read now.
base::Result<bool> MysqlLedger::adopt_described(const Email& email) {
  constexpr std::size_t parsing_factor = 4;  // its text, the parser's copy, its strings and the payload
  MessageRoom room(options_.memory);
  bool is_admitted = true;
  const auto text = read_contents(spool(), SpoolKind::payload, email.id, email.payload_path, [&](std::size_t bytes) {
    is_admitted = room.try_take(parsing_factor * bytes);
    return is_admitted;
  });
  if (!is_admitted) return false;  // it is found again
  using enum base::ErrorCode;
  if (!text && text.error().code != not_found && text.error().code != corrupt) {
    base::log_warning("outbox", "the payload of an e-mail of another program cannot be read",
                      {{"id", email.id}, {"error", text.error().message}});
    return false;
  }
  event::Adopted adopted;
  // What is wrong with a payload is for intake to say.
  if (text)
    if (const auto payload = parse_payload(*text)) adopted.description = describe(*payload);
  adopted.is_new = true;
  TRY(const Change change, decide(without_foreign_time(email), std::move(adopted), policy_, clock_.now()));
  const Email& after = change.after;
  const auto due = waits_for_its_time(after) ? std::optional(base::epoch_milliseconds(*after.due_at)) : std::nullopt;
  const auto written = database_.read([&](Connection& connection, const Attempt&) {
    return connection.execute(
        "UPDATE emails SET sender = ?, recipients = ?, tags = ?, callback_url = ?, send_ms = ?, subject = ?,"
        " due_ms = COALESCE(?, due_ms), begun_again_ms = COALESCE(begun_again_ms, ?), updated_at = updated_at WHERE id "
        "= ? AND sender IS NULL",
        {after.sender, recipients_json(after), tags_json(after), after.callback_url,
         after.send_at ? std::optional(base::epoch_milliseconds(*after.send_at)) : std::nullopt, after.subject, due,
         base::epoch_milliseconds(*after.begun_again_at), email.id});
  });
  if (!written) return base::propagate(mysql::as_error(written.error()));
  return true;
}

// One that another program has made ready before its time: it waits.
base::Result<bool> MysqlLedger::adopt_time(const Email& email) {
  TRY(const Change change, decide(without_foreign_time(email), event::Adopted{}, policy_, clock_.now()));
  const std::int64_t due = base::epoch_milliseconds(*change.after.due_at);
  const auto written = database_.read([&](Connection& connection, const Attempt&) {
    return connection.execute(
        "UPDATE emails SET due_ms = ?, updated_at = updated_at WHERE id = ? AND version = ? AND status = ?",
        {due, email.id, email.version, name_of(State::ready)});
  });
  if (!written) return base::propagate(mysql::as_error(written.error()));
  return true;
}

base::Result<bool> MysqlLedger::adopt_outcome(const EmailRow& row) {
  const CountLanes::Lane lane(lanes_);
  const auto adopted = database_.transact([&](Connection& connection, const Attempt&) -> mysql::Result<void> {
    TRY(const mysql::Rows rows,
        connection.query("SELECT version, ledger_version FROM emails WHERE id = ? FOR UPDATE", {row.email.id}));
    const bool is_same = !rows.empty() && rows[0].number(0) == row.email.version;
    if (!is_same || rows[0].number(1) == row.email.version) return {};
    CountDifferences counts;
    TRY_VOID(write_ended(connection, row, counts));
    return counts.write(connection, lane.slice());
  });
  if (!adopted) return base::propagate(mysql::as_error(adopted.error()));
  return true;
}

mysql::Result<void> MysqlLedger::write_ended(Connection& connection, const EmailRow& row,
                                             CountDifferences& counts) const {
  const bool is_new = !row.counted_as;
  const auto change = decide(row.email, event::Adopted{.is_new = is_new, .is_moved = true}, policy_, clock_.now());
  if (!change) return {};  // it stays as it is
  const Email& email = change->after;
  Parameters parameters;
  add_changed_row(parameters, email, expires(email));
  TRY_VOID(connection.execute(rewrite_emails(1), parameters.list()));
  if (row.counted_as) counts.left(email.tenant, *row.counted_as);
  counts.entered(email.tenant, email.state);
  return {};
}

}  // namespace postino::outbox
