// The ledger on a store with DynamoDB's model. The layout is in store_layout.h and docs/outbox.md.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/random.h"
#include "idempotency/guard.h"
#include "outbox/ledger/ledger.h"
#include "outbox/ledger/patient_store.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/store.h"

namespace postino::outbox {

class CountChanges;

struct StoreLedgerOptions {
  StoreTables tables;
  base::Milliseconds keep = std::chrono::hours(24 * 30);  // e-mails and their history, from kept_from() on
  base::Milliseconds key_lease{30'000};  // of an acceptance that takes several commits: when it counts as dead
  // What is claimed for sending counts as perhaps sent from then on, which saves a commit for each e-mail. For those
  // who would send it again anyway; who wants to know better calls mark_outcome_unknown().
  bool unknown_from_claim = false;
};

class StoreLedger : public Ledger {
 public:
  // The tables must be there (prepare_tables). Everything given must outlive the ledger.
  StoreLedger(store::Store& store, Spool& spool, const base::Clock& clock, base::Random& random, Patience patience,
              StoreLedgerOptions options);
  ~StoreLedger() override;

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

 private:
  class Acceptance;
  class MoveBatch;
  class Restoration;
  struct WorkQueue;

  base::TimePoint expiry_of(const Email& email) const { return kept_from(email) + options_.keep; }
  // Those that are there, in the order of the ids.
  base::Result<std::vector<Email>> read(const std::vector<std::string>& ids);
  // Entries of the work index: ids with their due times, from `from` on.
  struct WorkEntry {
    std::string id;
    base::TimePoint due;
  };
  store::Answer<std::vector<WorkEntry>> read_queue(const std::string& queue, base::TimePoint from, int limit);
  std::vector<WorkQueue*> queues_to_claim(Pipeline pipeline);
  // What of a queue is due, up to `wanted`; tells in `claim` what else there is.
  base::Result<std::vector<Email>> find_due(WorkQueue& queue, int wanted, const std::set<std::string>& except,
                                            Claim& claim);
  // Goes through the queues of a pipeline until there are `limit` e-mails. `take` gets what is due in one of them.
  using Take = std::function<base::Result<std::vector<Email>>(std::vector<Email>)>;
  base::Result<Claim> gather(Pipeline pipeline, int limit, const std::set<std::string>& except, const Take& take);
  base::Result<void> add_expired(const WorkQueue& queue, const std::vector<WorkEntry>& entries, base::TimePoint before,
                                 std::vector<Email>& expired);
  // Positions in one partition of a listing, newest first, from `high` down to `low`.
  store::Answer<std::vector<std::string>> read_listing(const std::string& tenant, const std::string& partition,
                                                       const std::string& low, const std::string& high, int limit);
  // Of all partitions that the request is about, newest first.
  base::Result<std::vector<std::string>> find_positions(const ListRequest& request, const std::string& low,
                                                        const std::string& high);
  // What transactions of this ledger have in common: the line of history of the state an e-mail is in, the changed
  // counts, and whether an action was refused by its condition.
  store::TransactPut put_line(const Email& email, const std::string& reason) const;
  void add_counts(const CountChanges& counts, store::TransactWriteItemsRequest& request) const;
  static bool condition_failed(const store::Error& error, std::size_t action);
  // Where an object goes: into the transaction that names it, when `put` is there, or it is in the spool already.
  struct Spooled {
    std::string path;
    std::optional<store::TransactPut> put;
  };
  base::Result<Spooled> spool(const SpoolObject& object);
  // Sets attributes under the condition that the version is still the same.
  base::Result<void> touch(const Email& email, std::string update, item::Map values);

  store::Store& store_;
  Spool& spool_;
  const base::Clock& clock_;
  base::Random& random_;
  const Patience patience_;
  const StoreLedgerOptions options_;
  idempotency::Guard accept_guard_;
  std::map<std::string, std::unique_ptr<WorkQueue>, std::less<>> queues_;  // fixed after construction
  std::atomic<unsigned> next_queue_ = 0;
};

}  // namespace postino::outbox
