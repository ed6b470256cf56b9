// The ledger on MySQL or MariaDB. The tables are in mysql_schema.cc and docs/mysql.md. A move locks the rows of its
// e-mails and compares state and version before it writes.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "mysql/database.h"
#include "outbox/ledger/contents.h"
#include "outbox/ledger/ledger.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/mysql_ledger/mysql_counts.h"
#include "outbox/mysql_ledger/mysql_email_row.h"
#include "outbox/mysql_ledger/mysql_spool.h"

namespace postino::outbox {

struct MysqlLedgerOptions {
  // For payloads of other programs that are read here. It must outlive the ledger; nullptr: without limit.
  MessageMemory* memory = nullptr;
};

class MysqlLedger final : public Ledger {
 public:
  // The schema must be there (migrate). Everything given must outlive the ledger. Payloads and messages are kept in the
  // database and written in the transactions that name them, or in `elsewhere` when it is given.
  MysqlLedger(mysql::Database& database, const Policy& policy, const base::Clock& clock, base::Random& random,
              MysqlLedgerOptions options, std::unique_ptr<Spool> elsewhere = nullptr);
  ~MysqlLedger() override;

  Spool& spool() override {
    if (both_spools_) return *both_spools_;
    return own_spool_;
  }
  base::Result<AcceptAnswer> accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                    const RenderAnswer& render) override;
  base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner) override;
  base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner, const Choice& choice) override;
  base::Result<Claim> due(Pipeline pipeline, int limit, const std::set<std::string>& except) override;
  std::vector<MoveOutcome> move(std::vector<Change> changes) override;
  base::Result<std::vector<std::string>> amend(const std::vector<Change>& changes) override;
  // Rows that others have locked are left out: their leases are renewed the next time.
  Renewals renew(const std::vector<Change>& renewals) override;
  base::Result<void> try_write() override;
  bool is_shared() const override { return true; }
  bool has_one_clock() const override { return true; }
  base::Result<std::vector<Email>> find_ended_leases(base::TimePoint before, int limit) override;
  base::Result<std::vector<Email>> stale(base::TimePoint before, int limit) override;

  std::vector<MalformedRecord> malformed() const override { return malformed_.list(); }
  base::Result<std::optional<Email>> find(const std::string& id) override;
  base::Result<std::map<std::string, Acceptance>> acceptances(const std::vector<std::string>& ids) override;
  base::Result<std::vector<HistoryEntry>> history(const std::string& id) override;
  base::Result<EmailPage> list(const ListRequest& request) override;
  base::Result<EmailPage> dead_callbacks(const std::string& tenant, const std::string& cursor, int limit) override;
  base::Result<Counts> counts(const std::optional<std::string>& tenant) override;
  base::Result<std::optional<base::TimePoint>> oldest_due(Pipeline pipeline) override;
  base::Result<void> record_bounce(const std::string& id, const Bounce& bounce) override;

  base::Result<bool> restore(const StoredEmail& email) override;

  // Removes up to `limit` of each: e-mails that have expired, with their history; objects in the spool; keys. E-mails
  // that no worker would find, because another program has left them without a time, get one. In small transactions
  // that skip what other transactions have locked. How many there were; 0 when there is nothing more to do.
  base::Result<int> sweep(int limit);

  // When a process last noted the time here; nullopt when none has. All processes of the database have one record.
  base::Result<std::optional<base::TimePoint>> last_seen();
  base::Result<void> note_last_seen(base::TimePoint now);

  base::Result<SpoolNote> noted_spool() override;
  base::Result<void> note_spool(const SpoolNote& spool, const std::string& replaced) override;

 private:
  class AcceptWriter;
  class ClaimWriter;
  class MoveWriter;
  struct WorkQueue;
  using Queues = std::vector<WorkQueue*>;

  base::TimePoint expires(const Email& email) const { return expiry_of(email, policy_); }

  // Reading. `sql` selects email_columns. Rows that cannot be read are left out; `fault` gets what is wrong with one,
  // and `malformed` how many they are.
  std::optional<EmailRow> readable(const mysql::Row& row, std::optional<base::Error>* fault = nullptr);
  base::Result<std::vector<EmailRow>> read_rows(const std::string& sql, std::span<const mysql::Parameter> parameters,
                                                std::optional<base::Error>* fault = nullptr, int* malformed = nullptr);
  base::Result<std::vector<Email>> read_emails(const std::string& sql, std::span<const mysql::Parameter> parameters,
                                               int* malformed = nullptr);

  // What transactions have in common. An object goes into the transaction that names it, unless the spool is elsewhere.
  using Spooled = outbox::Spooled<MysqlSpool::Placed>;
  using SpooledContents = outbox::SpooledContents<MysqlSpool::Placed>;
  base::Result<Spooled> put_away(SpoolObject object);
  struct Line {
    const std::string* email_id = nullptr;
    const HistoryEntry* entry = nullptr;
  };
  static void add_lines(const Change& change, std::vector<Line>& lines);
  static mysql::Result<void> write_lines(mysql::Connection& connection, const std::vector<Line>& lines,
                                         std::int64_t transition);
  // Was it committed, for one of these e-mails? They must be locked, so that no other transaction is about to.
  static mysql::Result<bool> was_committed(mysql::Connection& connection, const std::vector<std::string>& ids,
                                           std::int64_t transition);
  // Of an attempt that did not take effect, when its connection was lost: a database that was killed has been seen to
  // take back the rows of e-mails and to keep the lines. Waits for no other transaction.
  static mysql::Result<void> remove_lines_of_lost(mysql::Connection& connection, const std::vector<std::string>& ids,
                                                  std::int64_t transition);
  std::int64_t new_transition() { return static_cast<std::int64_t>(random_.next()); }
  // The states and lines of changes whose e-mails are locked and as they should be. `counted_as` says for each under
  // which state it is counted so far.
  mysql::Result<void> write_moves(mysql::Connection& connection, const std::vector<const Change*>& changes,
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
  // Malformed rows stay in their queues: so many more must be read, so that none takes the place of another one.
  int spare_rows() const { return static_cast<int>(malformed_.count()); }
  base::Result<bool> take_claimed(WorkQueue& queue, int wanted, const std::string& owner, Claim& claim);
  // The same of those that are wanted: they are chosen without locks, and locked by their ids.
  base::Result<bool> take_wanted(WorkQueue& queue, int wanted, const std::string& owner, const Choice& choice,
                                 Claim& claim);
  enum class Adoption { tried, left_out };
  base::Result<QueuePage> read_page(const WorkQueue& queue, const QueuePosition& after, int limit, Adoption adoption);
  base::Result<bool> take_seen(WorkQueue& queue, int wanted, const std::set<std::string>& except, Claim& claim);

  // E-mails of other programs: see mysql_adoption.cc.
  bool needs_adoption(const EmailRow& row) const;
  // Only another program makes an e-mail ready before it may be sent.
  bool waits_for_its_time(const Email& email) const;
  base::Result<bool> adopt(const std::vector<EmailRow>& rows);
  base::Result<bool> adopt_described(const Email& email);
  base::Result<bool> adopt_time(const Email& email);
  base::Result<bool> adopt_outcome(const EmailRow& row);
  void show_as_adopted(EmailRow& row) const;
  // What another program has brought to an end, of a row that is locked.
  mysql::Result<void> write_ended(mysql::Connection& connection, const EmailRow& row, CountDifferences& counts) const;
  mysql::Result<void> adopt_finished(mysql::Connection& connection, const std::string& id, CountDifferences& counts);

  enum class Locked { shown, left_out };
  base::Result<std::vector<Email>> read_ended_leases(base::TimePoint before, int limit, Locked locked);
  mysql::Result<void> renew_chunk(mysql::Connection& connection, std::span<const Change> renewals, Renewals& outcome);

  base::Result<int> give_missing_times(int limit);
  base::Result<int> give_times_where(const std::string& condition, int limit);
  base::Result<int> sweep_emails(int limit);
  base::Result<int> sweep_objects(int limit);
  base::Result<int> sweep_keys(int limit);
  using RemoveRow = std::function<mysql::Result<void>(mysql::Connection& connection, const mysql::Row& row)>;
  base::Result<int> sweep_table(const std::string& table, const std::string& columns, const RemoveRow& remove,
                                int limit);

  mysql::Database& database_;
  const Policy& policy_;
  const base::Clock& clock_;
  base::Random& random_;
  const MysqlLedgerOptions options_;
  MysqlSpool own_spool_;
  const std::unique_ptr<Spool> elsewhere_;      // null: contents are in own_spool_
  std::optional<SpoolWithFormer> both_spools_;  // with elsewhere_
  CountLanes lanes_;
  std::map<std::pair<State, int>, std::unique_ptr<WorkQueue>> queues_;  // by state and shard; fixed after construction
  std::atomic<unsigned> next_queue_ = 0;
  MalformedRecords malformed_;
  const std::string test_key_;  // of what try_write() writes
};

}  // namespace postino::outbox
