// The ledger on MySQL or MariaDB. The tables are in mysql_schema.cc and docs/outbox.md.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "mysql/database.h"
#include "outbox/ledger/ledger.h"
#include "outbox/mysql_ledger/mysql_counts.h"
#include "outbox/mysql_ledger/mysql_email_row.h"
#include "outbox/mysql_ledger/mysql_spool.h"

namespace postino::outbox {

struct MysqlLedgerOptions {
  base::Milliseconds keep = std::chrono::hours(24 * 30);  // e-mails and their history, from kept_from() on
  // What is claimed for sending counts as perhaps sent from then on: see StoreLedgerOptions.
  bool unknown_from_claim = false;
  // When another program that works on the same tables counts as gone: how long ago it moved an e-mail.
  base::Milliseconds foreign_lease = std::chrono::minutes(30);
};

class MysqlLedger final : public Ledger {
 public:
  // The schema must be there (migrate). Everything given must outlive the ledger. When the spool is a MysqlSpool of the
  // same database, payloads and messages are written in the transactions that name them.
  MysqlLedger(mysql::Database& database, Spool& spool, const base::Clock& clock, base::Random& random,
              MysqlLedgerOptions options);
  ~MysqlLedger() override;

  base::Result<AcceptAnswer> accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                    const RenderAnswer& render) override;
  base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner, base::Milliseconds lease) override;
  base::Result<Claim> due(Pipeline pipeline, int limit, const std::set<std::string>& except) override;
  std::vector<MoveOutcome> move(std::vector<Move> moves) override;
  base::Result<std::vector<std::string>> renew(const std::vector<Email>& emails, base::TimePoint until) override;
  base::Result<void> mark_outcome_unknown(const Email& email) override;
  base::Result<void> postpone(const Email& email, base::TimePoint due) override;
  base::Result<void> revive_callback(const Email& email, base::TimePoint due) override;
  base::Result<std::vector<Email>> find_expired(base::TimePoint before, int limit) override;
  base::Result<std::vector<Email>> stale(base::TimePoint before, int limit) override;

  base::Result<std::optional<Email>> find(const std::string& id) override;
  base::Result<std::vector<HistoryEntry>> history(const std::string& id) override;
  base::Result<EmailPage> list(const ListRequest& request) override;
  base::Result<EmailPage> dead_callbacks(const std::string& cursor, int limit) override;
  base::Result<Counts> counts(const std::optional<std::string>& tenant) override;
  base::Result<std::optional<base::TimePoint>> oldest_due(Pipeline pipeline) override;
  base::Result<void> record_bounce(const std::string& id, const Bounce& bounce) override;

  base::Result<void> suppress(const std::string& tenant, const Suppression& suppression) override;
  base::Result<bool> unsuppress(const std::string& tenant, const std::string& address) override;
  base::Result<std::vector<Suppression>> find_suppressed(const std::string& tenant,
                                                         const std::vector<std::string>& addresses) override;
  base::Result<SuppressionPage> suppressions(const std::string& tenant, const std::string& cursor, int limit) override;
  base::Result<std::vector<std::string>> suppressing_tenants() override;

  base::Result<bool> restore(const StoredEmail& email) override;

  // Removes up to `limit` of each: e-mails that have expired, with their history; objects in the spool; keys. In small
  // transactions that wait for nobody. How many went; 0 when there is nothing more to do.
  base::Result<int> sweep(int limit);

 private:
  class Acceptance;
  class ClaimBatch;
  class MoveBatch;
  struct WorkQueue;
  using Queues = std::vector<WorkQueue*>;

  base::TimePoint expiry_of(const Email& email) const { return kept_from(email) + options_.keep; }

  // Reading. `sql` selects email_columns.
  base::Result<std::vector<EmailRow>> read_rows(const std::string& sql, std::span<const mysql::Parameter> parameters);
  base::Result<std::vector<Email>> read_emails(const std::string& sql, std::span<const mysql::Parameter> parameters);

  // What transactions have in common. Objects go into `placed` when the transaction shall insert them, and are in the
  // spool already otherwise.
  base::Result<std::string> spool(SpoolObject object, std::vector<MysqlSpool::Placed>& placed);
  struct Line {
    const std::string* email_id = nullptr;
    HistoryEntry entry;
  };
  static mysql::Answer<void> write_lines(mysql::Connection& connection, const std::vector<Line>& lines,
                                         std::int64_t transition);
  // Was it committed, for one of these e-mails? They must be locked, so that nobody is about to.
  static mysql::Answer<bool> was_committed(mysql::Connection& connection, const std::vector<std::string>& ids,
                                           std::int64_t transition);
  std::int64_t new_transition() { return static_cast<std::int64_t>(random_.next()); }
  // The states and lines of moves whose e-mails are locked and as they should be. `counted_as` says for each under
  // which state it is counted so far.
  mysql::Answer<void> write_moves(mysql::Connection& connection, const std::vector<const Move*>& moves,
                                  const std::vector<std::optional<State>>& counted_as, std::int64_t transition,
                                  std::size_t slice) const;

  // Work.
  Queues queues_of(Pipeline pipeline) const;
  // When the first e-mail of each queue is due, the oldest first: of those from `from` on, or from where reading
  // begins.
  using DueTimes = std::vector<std::pair<base::TimePoint, WorkQueue*>>;
  base::Result<DueTimes> first_due(Pipeline pipeline, std::optional<base::TimePoint> from);
  // Takes up to so many from a queue into `claim`. False when there is nothing more in it.
  using Take = std::function<base::Result<bool>(WorkQueue& queue, int wanted, Claim& claim)>;
  base::Result<Claim> gather(Pipeline pipeline, int limit, const Take& take);
  base::Result<void> gather_due(Pipeline pipeline, int limit, const Take& take, Claim& claim);
  static base::Result<void> drain(WorkQueue& queue, int limit, const Take& take, Claim& claim);
  base::Result<bool> take_claimed(WorkQueue& queue, int wanted, const std::string& owner, base::Milliseconds lease,
                                  Claim& claim);
  base::Result<bool> take_seen(WorkQueue& queue, int wanted, const std::set<std::string>& except, Claim& claim);

  // E-mails of other programs: see mysql_adoption.cc.
  static bool needs_adoption(const EmailRow& row);
  base::Result<bool> adopt(const std::vector<EmailRow>& rows);
  base::Result<bool> describe(const Email& email);
  base::Result<void> park(const EmailRow& row);

  // Sets columns under the condition that the version is still the same.
  base::Result<void> touch(const Email& email, const std::string& assignments,
                           std::initializer_list<mysql::Parameter> values);

  base::Result<int> sweep_emails(int limit);
  base::Result<int> sweep_objects(int limit);
  base::Result<int> sweep_keys(int limit);

  mysql::Database& database_;
  Spool& spool_;
  MysqlSpool* const own_spool_;  // the same, when it is in this database
  const base::Clock& clock_;
  base::Random& random_;
  const MysqlLedgerOptions options_;
  CountLanes lanes_;
  std::map<std::pair<State, int>, std::unique_ptr<WorkQueue>> queues_;  // by state and shard; fixed after construction
  std::atomic<unsigned> next_queue_ = 0;
};

}  // namespace postino::outbox
