// Acceptance: e-mails, first states, payloads, counts and the caller's key in one transaction.
#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "outbox/ledger/transitions.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

using mysql::Answer;
using mysql::Attempt;
using mysql::Connection;
using mysql::ErrorKind;

namespace {

constexpr std::size_t max_inserted_bytes = 3 << 20;  // of a statement that inserts e-mails with what belongs to them

std::size_t inserted_bytes(const NewEmail& email) {
  return email.payload.size() + (email.message ? email.message->size() : 0);
}

}  // namespace

class MysqlLedger::Acceptance {
 public:
  Acceptance(MysqlLedger& ledger, std::vector<NewEmail>& emails, const std::optional<AcceptKey>& key,
             const RenderAnswer& render)
      : ledger_(ledger),
        emails_(emails),
        key_(key),
        render_(render),
        transition_(ledger.new_transition()),
        owner_(base::make_uuid(ledger.random_)) {
    for (const NewEmail& email : emails) refused_.push_back({email.email.id, std::nullopt, ""});
  }

  base::Result<AcceptAnswer> run() {
    prepare();
    TRY_VOID(spool_contents());
    answer_.outcomes = refused_;
    // With a key everything is one commit. Without one nobody has to wait for the others.
    const std::vector<Group> groups = make_groups();
    const std::size_t step = key_ ? std::max<std::size_t>(groups.size(), 1) : 1;
    for (std::size_t i = 0; i < groups.size() || (key_ && i == 0); i += step) {
      const auto begin = groups.begin() + static_cast<std::ptrdiff_t>(i);
      TRY_VOID(commit({begin, begin + static_cast<std::ptrdiff_t>(std::min(step, groups.size() - i))}));
    }
    remove_contents_of_refused();
    return std::move(answer_);
  }

 private:
  using Group = std::vector<std::size_t>;  // indexes into emails

  // Completes the e-mails. Of two with one id in the same request the first counts.
  void prepare() {
    const base::TimePoint now = ledger_.clock_.now();
    std::set<std::string> ids;
    for (std::size_t i = 0; i < emails_.size(); ++i) {
      complete(emails_[i], now);
      Email& email = emails_[i].email;
      email.acceptance = key_ ? acceptance_of(*key_, i) : base::make_uuid(ledger_.random_);
      if (!ids.insert(base::lower_case(email.id)).second) refuse_duplicate(refused_[i]);
    }
  }

  static void refuse_duplicate(AcceptOutcome& outcome) {
    outcome.error = AcceptError::duplicated_id;
    outcome.message = "an e-mail with this id was accepted before";
  }

  // Puts payloads and messages among what the transaction writes, or into the spool before it. With a key the caller is
  // told to come again when the spool does not take them.
  base::Result<void> spool_contents() {
    placed_.resize(emails_.size());
    for (std::size_t i = 0; i < emails_.size(); ++i) {
      if (refused_[i].error) continue;
      const auto spooled = spool_contents_of(i);
      if (spooled) continue;
      if (key_) return base::propagate(spooled.error());
      refused_[i].error = AcceptError::storage;
      refused_[i].message = spooled.error().message;
    }
    return {};
  }

  base::Result<void> spool_contents_of(std::size_t i) {
    NewEmail& accepted = emails_[i];
    Email& email = accepted.email;
    sizes_.emplace(i, inserted_bytes(accepted));
    SpoolObject object{SpoolKind::payload, email.id, email.created_at, std::move(accepted.payload),
                       ledger_.expiry_of(email)};
    TRY(email.payload_path, ledger_.spool(object, placed_[i]));
    if (!accepted.message) return {};
    object.kind = SpoolKind::message;
    object.bytes = std::move(*accepted.message);
    TRY(email.message_path, ledger_.spool(std::move(object), placed_[i]));
    return {};
  }

  // By number and size, such that each fits into a few statements. In the order of the ids, so that two requests for
  // the same e-mails wait for each other and do not block each other for good.
  std::vector<Group> make_groups() const {
    Group order;
    for (std::size_t i = 0; i < emails_.size(); ++i)
      if (!refused_[i].error) order.push_back(i);
    std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return emails_[i].email.id; });
    std::vector<Group> groups;
    std::size_t bytes = 0;
    for (const std::size_t i : order) {
      const std::size_t size = sizes_.at(i);
      if (groups.empty() || groups.back().size() == max_ledger_batch || bytes + size > max_inserted_bytes) {
        groups.emplace_back();
        bytes = 0;
      }
      groups.back().push_back(i);
      bytes += size;
    }
    return groups;
  }

  // Fails only with a key: then the caller is told to come again, and nothing is remembered.
  base::Result<void> commit(const std::vector<Group>& groups) {
    const CountLanes::Lane lane(ledger_.lanes_);
    const AcceptAnswer before = answer_;
    const auto done = ledger_.database_.transact([&](Connection& connection, const Attempt& attempt) {
      answer_ = before;
      return write(connection, attempt, groups, lane.slice());
    });
    if (done) return {};
    answer_ = before;
    if (key_is_busy_) {
      answer_ = {};
      answer_.status = AcceptStatus::in_progress;
      return {};
    }
    const base::Error error = mysql::as_error(done.error());
    if (key_) return base::propagate(error);
    base::log_warning("outbox", "e-mails could not be accepted", {{"error", error.message}});
    for (const Group& group : groups)
      for (const std::size_t i : group) {
        answer_.outcomes[i].error = AcceptError::database;
        answer_.outcomes[i].message = error.message;
      }
    return {};
  }

  Answer<void> write(Connection& connection, const Attempt& attempt, const std::vector<Group>& groups,
                     std::size_t slice) {
    bool done_before = false;
    if (key_) {
      TRY(const KeyState state, take_key(connection, attempt));
      if (state == KeyState::others) return {};
      done_before = state == KeyState::done_by_us;
    }
    CountDifferences counts;
    for (const Group& group : groups) TRY_VOID(write(connection, attempt, group, counts));
    if (done_before) return {};
    if (key_) {
      answer_.stored_answer = render_(answer_.outcomes);
      TRY_VOID(connection.execute("UPDATE email_accept_keys SET response = ? WHERE key_hash = ?",
                                  {mysql::Bytes{answer_.stored_answer}, key_hash()}));
    }
    return counts.write(connection, slice);
  }

  Answer<void> write(Connection& connection, const Attempt& attempt, const Group& group, CountDifferences& counts) {
    TRY(const Group inserted, insert(connection, attempt, group));
    std::vector<Line> lines;
    std::vector<const MysqlSpool::Placed*> objects;
    for (const std::size_t i : inserted) {
      const Email& email = emails_[i].email;
      for (HistoryEntry& entry : lines_of(emails_[i])) lines.push_back({&email.id, std::move(entry)});
      for (const MysqlSpool::Placed& placed : placed_[i]) objects.push_back(&placed);
      counts.entered(email.tenant, email.state);
      answer_.outcomes[i].email = email;
    }
    TRY_VOID(write_lines(connection, lines, transition_));
    return MysqlSpool::insert(connection, objects);
  }

  // Inserts those whose ids are free, and says which. The others are refused, or were accepted before by this very
  // request.
  Answer<Group> insert(Connection& connection, const Attempt& attempt, Group group) {
    int rounds = 5;  // what was in the way can be gone when one looks
    Group inserted;
    while (!group.empty()) {
      const auto end = group.begin() + static_cast<std::ptrdiff_t>(rounded_down(group.size()));
      Parameters parameters;
      for (auto i = group.begin(); i != end; ++i)
        add_new_row(parameters, emails_[*i].email, ledger_.expiry_of(emails_[*i].email));
      const auto done =
          connection.execute(insert_emails(static_cast<std::size_t>(end - group.begin())), parameters.list());
      if (done) {
        inserted.insert(inserted.end(), group.begin(), end);
        group.erase(group.begin(), end);
        continue;
      }
      if (done.error().kind != ErrorKind::duplicate_key || rounds-- == 0) return base::propagate(done.error());
      TRY_VOID(drop_known_ones(connection, attempt, group));
    }
    return inserted;
  }

  Answer<void> drop_known_ones(Connection& connection, const Attempt& attempt, Group& group) {
    std::vector<std::string> ids;
    for (const std::size_t i : group) ids.push_back(emails_[i].email.id);
    TRY(const mysql::Rows rows,
        connection.query("SELECT id, acceptance, version FROM emails WHERE id IN " + placeholders(ids.size()),
                         std::vector<mysql::Parameter>(ids.begin(), ids.end())));
    // Only what this very call has written is for it to hand on. What an earlier one accepted, with the same key, is in
    // others' hands.
    bool written_by_us = false;
    if (attempt.commit_unknown) {
      TRY(written_by_us, was_committed(connection, ids, transition_));
    }
    std::map<std::string, mysql::Row> known;
    for (const mysql::Row row : rows) known.emplace(base::lower_case(row.text(0)), row);
    std::erase_if(group, [&](std::size_t i) {
      const Email& email = emails_[i].email;
      const auto row = known.find(base::lower_case(email.id));
      if (row == known.end()) return false;
      if (row->second.text(1) != email.acceptance)
        refuse_duplicate(answer_.outcomes[i]);
      else if (written_by_us && row->second.number(2) == email.version)
        answer_.outcomes[i].email = email;  // nobody has touched it yet
      return true;
    });
    return {};
  }

  // The caller's key.
  enum class KeyState { ours, done_by_us, others };

  std::string key_hash() const { return base::to_hex(base::sha256(key_->key)); }

  // With the transaction's end it is ours for good. Who comes while that is open waits for it.
  Answer<KeyState> take_key(Connection& connection, const Attempt& attempt) {
    const std::int64_t expires = base::epoch_milliseconds(key_->expires_at);
    const auto inserted = connection.execute(
        "INSERT INTO email_accept_keys (key_hash, request_hash, owner, expires_ms) VALUES (?, ?, ?, ?)",
        {key_hash(), mysql::Bytes{key_->request_hash}, owner_, expires});
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
    if (!rows.empty() && rows[0].number(3) > now) return judge(rows[0], attempt);
    TRY(const std::uint64_t taken,
        connection.execute("UPDATE email_accept_keys SET request_hash = ?, owner = ?, response = NULL, expires_ms = ?"
                           " WHERE key_hash = ? AND expires_ms <= ?",
                           {mysql::Bytes{key_->request_hash}, owner_, expires, key_hash(), now}));
    if (taken > 0) return KeyState::ours;
    return mysql::fail(ErrorKind::transient, 0, "another request has just taken the idempotency key");
  }

  KeyState judge(const mysql::Row& row, const Attempt& attempt) {
    answer_.stored_answer = row.text(1);
    if (attempt.commit_unknown && row.text(2) == owner_) return KeyState::done_by_us;
    answer_.outcomes.clear();
    answer_.status = AcceptStatus::replayed;
    if (row.text(0) != key_->request_hash) {
      answer_.status = AcceptStatus::other_request;
      answer_.stored_answer.clear();
    }
    return KeyState::others;
  }

  // What is in the spool although nobody names it. It expires anyway.
  void remove_contents_of_refused() {
    if (ledger_.own_spool_ != nullptr) return;
    for (std::size_t i = 0; i < emails_.size(); ++i) {
      const Email& email = emails_[i].email;
      const bool done = answer_.status == AcceptStatus::done && !answer_.outcomes[i].error;
      // An e-mail that is there may name it, whether or not we were told so.
      const bool may_be_there =
          answer_.status == AcceptStatus::done && answer_.outcomes[i].error == AcceptError::database;
      if (done || may_be_there) continue;
      if (!email.payload_path.empty()) (void)ledger_.spool_.remove(email.payload_path);
      if (!email.message_path.empty()) (void)ledger_.spool_.remove(email.message_path);
    }
  }

  MysqlLedger& ledger_;
  std::vector<NewEmail>& emails_;
  const std::optional<AcceptKey>& key_;
  const RenderAnswer& render_;
  const std::int64_t transition_;
  const std::string owner_;                              // of the key, should it become ours
  std::vector<AcceptOutcome> refused_;                   // what is known before the transaction
  std::vector<std::vector<MysqlSpool::Placed>> placed_;  // for the transaction to insert, by e-mail
  std::map<std::size_t, std::size_t> sizes_;             // of payload and message, by e-mail
  bool key_is_busy_ = false;
  AcceptAnswer answer_;
};

base::Result<AcceptAnswer> MysqlLedger::accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                               const RenderAnswer& render) {
  return Acceptance(*this, emails, key, render).run();
}

}  // namespace postino::outbox
