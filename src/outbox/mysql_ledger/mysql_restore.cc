// An e-mail of another ledger comes with everything there is of it, in one transaction.
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;

base::Result<bool> MysqlLedger::restore(const StoredEmail& stored) {
  TRY(const std::optional<Email> known, find(stored.email.id));
  if (known) return false;
  TRY(Change change, decide(stored.email, event::Restored{stored.history}, policy_, clock_.now()));
  Email& email = change.after;
  TRY(const SpooledContents contents,
      spool_contents<MysqlSpool::Placed>(email, stored.payload, stored.message, expires(email),
                                         [&](SpoolObject object) { return put_away(std::move(object)); }));
  std::vector<Line> lines;
  add_lines(change, lines);
  std::vector<const MysqlSpool::Placed*> objects;
  for (const MysqlSpool::Placed& object : contents.writes) objects.push_back(&object);

  const std::int64_t transition = new_transition();
  const CountLanes::Lane lane(lanes_);
  const auto restored = database_.transact([&](Connection& connection, const Attempt& attempt) -> mysql::Result<bool> {
    Parameters parameters;
    add_new_row(parameters, email, expires(email));
    const auto inserted = connection.execute(insert_emails(1), parameters.list());
    if (!inserted && inserted.error().kind == mysql::ErrorKind::duplicate_key)
      return attempt.commit_unknown ? was_committed(connection, {email.id}, transition) : mysql::Result<bool>(false);
    if (!inserted) return base::propagate(inserted.error());
    TRY_VOID(write_lines(connection, lines, transition));
    TRY_VOID(MysqlSpool::insert(connection, objects));
    CountDifferences counts;
    counts.entered(email.tenant, email.state);
    TRY_VOID(counts.write(connection, lane.slice()));
    return true;
  });
  if (!restored) return base::propagate(mysql::as_error(restored.error()));
  if (!*restored) contents.remove_written(spool());
  return *restored;
}

}  // namespace postino::outbox
