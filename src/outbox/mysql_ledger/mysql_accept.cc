// Acceptance: e-mails, first states, payloads, counts and the caller's key in one transaction.
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "outbox/ledger/accept_batch.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Attempt;
using mysql::Connection;
using mysql::ErrorKind;

class MysqlLedger::AcceptWriter : private AcceptBatch<MysqlSpool::Placed> {
 public:
  AcceptWriter(MysqlLedger& ledger, AcceptRequest& request)
      : AcceptBatch(request, ledger.spool()),
        ledger_(ledger),
        transition_(ledger.new_transition()),
        owner_(base::make_uuid(ledger.random_)) {}

  base::Result<AcceptAnswer> run() {
    TRY_VOID(spool_all(ledger_.policy_, [&](SpoolObject object) { return ledger_.put_away(std::move(object)); }));
    const std::vector<Group> groups = make_groups(Room(request_));
    // With a key everything is one commit. Without one each group is, and waits for no other.
    if (request_.key())
      TRY_VOID(commit(groups));
    else
      for (const Group& group : groups) TRY_VOID(commit({group}));
    return std::move(request_.answer());
  }

 private:
  // Fails only with a key.
  base::Result<void> commit(const std::vector<Group>& groups) {
    const CountLanes::Lane lane(ledger_.lanes_);
    AcceptAnswer& answer = request_.answer();
    const AcceptAnswer before = answer;
    const auto done = ledger_.database_.transact([&](Connection& connection, const Attempt& attempt) {
      answer = before;
      return write(connection, attempt, groups, lane.slice());
    });
    if (done) {
      if (answer.status == AcceptStatus::done) keep_contents_of_accepted(groups);
      return {};
    }
    answer = before;
    if (key_is_busy_) {
      request_.take_key_state(idempotency::KeyState::in_progress);
      return {};
    }
    for (const Group& group : groups) keep_contents(group);  // they may be there, whether or not we were told so
    const base::Error error = mysql::as_error(done.error());
    if (done.error().at_commit) {
      Group all;
      for (const Group& group : groups) all.insert(all.end(), group.begin(), group.end());
      request_.doubt(all, error);
      return {};
    }
    if (request_.key()) return base::propagate(error);
    for (const Group& group : groups) TRY_VOID(request_.refuse(group, AcceptError::database, error));
    return {};
  }

  void keep_contents_of_accepted(const std::vector<Group>& groups) {
    for (const Group& group : groups)
      for (const std::size_t i : group)
        if (!request_.is_refused(i)) keep_contents({i});
  }

  mysql::Result<void> write(Connection& connection, const Attempt& attempt, const std::vector<Group>& groups,
                            std::size_t slice) {
    bool done_before = false;
    if (request_.key()) {
      TRY(const KeyState state, take_key(connection, attempt));
      if (state == KeyState::others) return {};
      done_before = state == KeyState::done_by_us;
    }
    CountDifferences counts;
    for (const Group& group : groups) TRY_VOID(write(connection, attempt, group, counts));
    if (done_before) return {};
    if (request_.key()) {
      request_.render_answer();
      TRY_VOID(connection.execute("UPDATE email_accept_keys SET response = ? WHERE key_hash = ?",
                                  {mysql::Bytes{request_.answer().stored_answer}, key_hash()}));
    }
    return counts.write(connection, slice);
  }

  mysql::Result<void> write(Connection& connection, const Attempt& attempt, const Group& group,
                            CountDifferences& counts) {
    TRY(const Group inserted, insert(connection, attempt, group));
    std::vector<Line> lines;
    std::vector<const MysqlSpool::Placed*> objects;
    for (const std::size_t i : inserted) {
      const Email& email = request_.email(i);
      add_lines(request_[i].change, lines);
      for (const MysqlSpool::Placed& placed : contents_[i].writes) objects.push_back(&placed);
      counts.entered(email.tenant, email.state);
      request_.answer().outcomes[i].email = email;
    }
    TRY_VOID(write_lines(connection, lines, transition_));
    return MysqlSpool::insert(connection, objects);
  }

  // Inserts those whose ids are free, and says which. The others are refused, or were accepted before by this very
  // request.
  mysql::Result<Group> insert(Connection& connection, const Attempt& attempt, Group group) {
    int rounds = 5;  // what was in the way can be gone when one looks
    Group inserted;
    while (!group.empty()) {
      const auto end = group.begin() + static_cast<std::ptrdiff_t>(rounded_down(group.size()));
      Parameters parameters;
      for (auto i = group.begin(); i != end; ++i)
        add_new_row(parameters, request_.email(*i), ledger_.expires(request_.email(*i)));
      const auto done =
          connection.execute(insert_emails(static_cast<std::size_t>(end - group.begin())), parameters.list());
      if (done) {
        inserted.insert(inserted.end(), group.begin(), end);
        group.erase(group.begin(), end);
        continue;
      }
      if (done.error().kind != ErrorKind::duplicate_key || rounds-- == 0) return base::propagate(done.error());
      TRY_VOID(drop_refused(connection, attempt, group));
    }
    return inserted;
  }

  // Drops those whose ids are taken.
  mysql::Result<void> drop_refused(Connection& connection, const Attempt& attempt, Group& group) {
    std::vector<std::string> ids;
    for (const std::size_t i : group) ids.push_back(request_.email(i).id);
    TRY(const mysql::Rows rows,
        connection.query("SELECT id, acceptance, version FROM emails WHERE id IN " + placeholders(ids.size()),
                         std::vector<mysql::Parameter>(ids.begin(), ids.end())));
    // Only what this very call has written is for it to hand on. What an earlier one accepted, with the same key, other
    // workers may have by now.
    bool written_by_us = false;
    if (attempt.commit_unknown) {
      TRY(written_by_us, was_committed(connection, ids, transition_));
    }
    std::map<std::string, mysql::Row> known;
    for (const mysql::Row row : rows) known.emplace(base::lower_case(row.text(0)), row);
    drop_known_ones(group, [&](std::size_t i) -> std::optional<std::string> {
      const Email& email = request_.email(i);
      const auto row = known.find(base::lower_case(email.id));
      if (row == known.end()) return std::nullopt;
      std::string token(row->second.text(1));
      // No worker has touched it yet.
      if (written_by_us && token == email.acceptance_token && row->second.number(2) == email.version)
        request_.answer().outcomes[i].email = email;
      return token;
    });
    return {};
  }

  // The caller's key.
  enum class KeyState { ours, done_by_us, others };

  std::string key_hash() const { return base::to_hex(base::sha256(request_.key()->key)); }

  // With the transaction's end it is ours for good. A request that comes while that is open waits for it.
  mysql::Result<KeyState> take_key(Connection& connection, const Attempt& attempt) {
    const std::int64_t expires = base::epoch_milliseconds(request_.key()->expires_at);
    const auto inserted = connection.execute(
        "INSERT INTO email_accept_keys (key_hash, request_hash, owner, expires_ms) VALUES (?, ?, ?, ?)",
        {key_hash(), mysql::Bytes{request_.key()->request_hash}, owner_, expires});
    if (inserted) return KeyState::ours;
    constexpr unsigned lock_not_obtained = 1205;
    // Unless it may be our own commit that is still under way: that is waited for, as its e-mails may come to be.
    key_is_busy_ = inserted.error().code == lock_not_obtained && !attempt.commit_unknown;
    if (key_is_busy_) return mysql::fail(ErrorKind::other, lock_not_obtained, inserted.error().message);
    if (inserted.error().kind != ErrorKind::duplicate_key) return base::propagate(inserted.error());
    TRY(const mysql::Rows rows,
        connection.query("SELECT request_hash, response, owner, expires_ms FROM email_accept_keys WHERE key_hash = ?",
                         {key_hash()}));
    const std::int64_t now = base::epoch_milliseconds(ledger_.clock_.now());
    // By a clock that may be wrong no key is too old.
    const bool is_valid = !rows.empty() && (rows[0].number(3) > now || ledger_.clock_.is_doubtful());
    if (is_valid) return judge(rows[0], attempt);
    TRY(const std::uint64_t taken,
        connection.execute("UPDATE email_accept_keys SET request_hash = ?, owner = ?, response = NULL, expires_ms = ?"
                           " WHERE key_hash = ? AND expires_ms <= ?",
                           {mysql::Bytes{request_.key()->request_hash}, owner_, expires, key_hash(), now}));
    if (taken > 0) return KeyState::ours;
    return mysql::fail(ErrorKind::transient, 0, "another request has just claimed the idempotency key");
  }

  KeyState judge(const mysql::Row& row, const Attempt& attempt) {
    if (attempt.commit_unknown && row.text(2) == owner_) {
      request_.answer().stored_answer = row.text(1);
      return KeyState::done_by_us;
    }
    const bool is_same_request = row.text(0) == request_.key()->request_hash;
    request_.take_key_state(is_same_request ? idempotency::KeyState::replay : idempotency::KeyState::other_request,
                            std::string(row.text(1)));
    return KeyState::others;
  }

  MysqlLedger& ledger_;
  const std::int64_t transition_;
  const std::string owner_;  // of the key, should it become ours
  bool key_is_busy_ = false;
};

base::Result<AcceptAnswer> MysqlLedger::accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                               const RenderAnswer& render) {
  AcceptRequest request(emails, key, render, random_, AcceptRequest::Ids::ignoring_case);
  return AcceptWriter(*this, request).run();
}

}  // namespace postino::outbox
