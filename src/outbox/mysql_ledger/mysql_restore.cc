// An e-mail of another ledger comes with everything there is of it, in one transaction.
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Answer;
using mysql::Attempt;
using mysql::Connection;

base::Result<bool> MysqlLedger::restore(const StoredEmail& stored) {
  TRY(const std::optional<Email> known, find(stored.email.id));
  if (known) return false;
  Email email = stored.email;
  const base::TimePoint expires = expiry_of(email);
  std::vector<MysqlSpool::Placed> placed;
  TRY(email.payload_path, spool({SpoolKind::payload, email.id, email.created_at, stored.payload, expires}, placed));
  email.message_path.clear();
  if (stored.message) {
    TRY(email.message_path, spool({SpoolKind::message, email.id, email.created_at, *stored.message, expires}, placed));
  }
  std::vector<Line> lines;
  for (const HistoryEntry& entry : stored.history) lines.push_back({&email.id, entry});
  std::vector<const MysqlSpool::Placed*> objects;
  for (const MysqlSpool::Placed& object : placed) objects.push_back(&object);

  const std::int64_t transition = new_transition();
  const CountLanes::Lane lane(lanes_);
  const auto restored = database_.transact([&](Connection& connection, const Attempt& attempt) -> Answer<bool> {
    Parameters parameters;
    add_new_row(parameters, email, expires);
    const auto inserted = connection.execute(insert_emails(1), parameters.list());
    if (!inserted && inserted.error().kind == mysql::ErrorKind::duplicate_key)
      return attempt.commit_unknown ? was_committed(connection, {email.id}, transition) : Answer<bool>(false);
    if (!inserted) return base::propagate(inserted.error());
    TRY_VOID(write_lines(connection, lines, transition));
    TRY_VOID(MysqlSpool::insert(connection, objects));
    CountDifferences counts;
    counts.entered(email.tenant, email.state);
    TRY_VOID(counts.write(connection, lane.slice()));
    return true;
  });
  if (!restored) return base::propagate(mysql::as_error(restored.error()));
  if (!*restored && own_spool_ == nullptr) {
    (void)spool_.remove(email.payload_path);
    if (!email.message_path.empty()) (void)spool_.remove(email.message_path);
  }
  return *restored;
}

}  // namespace postino::outbox
