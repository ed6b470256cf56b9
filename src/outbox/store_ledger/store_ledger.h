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
#include "outbox/ledger/contents.h"
#include "outbox/ledger/ledger.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/store_ledger/foreign_writes.h"
#include "outbox/store_ledger/record_lives.h"
#include "outbox/store_ledger/store_layout.h"
#include "outbox/store_ledger/store_spool.h"
#include "store/queue_cursor.h"
#include "store/retry.h"
#include "store/shard_note.h"
#include "store/store.h"

namespace postino::outbox {

class CountChanges;
struct AdoptedEmail;
struct EmailRecords;

struct StoreLedgerOptions {
  // For payloads of other programs that are read here. It must outlive the ledger; nullptr: without limit.
  MessageMemory* memory = nullptr;
  // What other programs write, as far as this process can see it; null: nothing.
  std::shared_ptr<ForeignWriteLog> foreign_writes;
  // Over so many partitions work and listings are spread at least: least_shards to store::most_shards.
  int shards = least_shards;
};

class StoreLedger : public Ledger {
 public:
  // The tables must be there (prepare_tables). Everything given must outlive the ledger. Payloads and messages are kept
  // in the store, or in `elsewhere` when it is given.
  StoreLedger(store::Store& store, StoreTables tables, const Policy& policy, const base::Clock& clock,
              base::Random& random, const store::Retry& retry, std::unique_ptr<Spool> elsewhere = nullptr,
              StoreLedgerOptions options = {});
  ~StoreLedger() override;

  Spool& spool() override {
    if (both_spools_) return *both_spools_;
    return own_spool_;
  }
  base::Result<AcceptAnswer> accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                    const RenderAnswer& render) override;
  bool shares_commits(const store::Store& store) const override { return &store == &store_; }
  JoinedOutcome accept_with(NewEmail email, std::vector<store::TransactAction> actions) override;
  base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner) override;
  base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner, const Choice& choice) override;
  base::Result<Claim> due(Pipeline pipeline, int limit, const std::set<std::string>& except) override;
  std::vector<MoveOutcome> move(std::vector<Change> changes) override;
  base::Result<std::vector<std::string>> amend(const std::vector<Change>& changes) override;
  Renewals renew(const std::vector<Change>& renewals) override;
  base::Result<void> try_write() override;
  bool is_shared() const override { return store_.is_shared(); }
  base::Result<SpoolNote> noted_spool() override;
  base::Result<void> note_spool(const SpoolNote& spool, const std::string& replaced) override;
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

  // Looks for e-mails that other programs have written while no log told of it: up to so many at a time, and once in
  // the life of the tables. Those that could not be adopted before are tried again. To be called now and then, by one
  // thread; true when there is more to look at.
  base::Result<bool> look_for_foreign(int limit);

  // Takes up over how many shards e-mails are spread, and raises that to what the options say. Until then they are
  // written to the first few, and those in others are not found. Then look_again_at_shards() is to be called now and
  // then: other processes may raise it. Both by one thread at a time.
  base::Result<void> look_at_shards() { return shards_.look(); }
  void look_again_at_shards() { shards_.look_again(clock_); }

 private:
  class AcceptWriter;
  class MoveWriter;
  class Restoration;
  struct WorkQueue;

  base::TimePoint expires(const Email& email) const { return expiry_of(email, policy_); }
  // Of its records: on a shared store it begins when the e-mail is finished.
  RecordLife life_of(const Email& email) const { return {expires(email), !is_shared() || is_finished(email)}; }
  store::Answer<void> write_amendment(const Change& change);
  void write_rest_of_lives(const Email& email, const RecordLife& life) const;
  // Does the change begin the life of all records of an e-mail, or end it for now?
  bool changes_lives(const Change& change) const {
    return is_shared() && (is_finished(change.before) || is_finished(change.after));
  }
  // Those that are there and can be read, in the order of the ids.
  base::Result<std::vector<Email>> read(const std::vector<std::string>& wanted);
  // Entries of the work index: ids with their due times, from `from` on.
  struct WorkEntry {
    std::string id;
    base::TimePoint due;
    item::Key key;
  };
  store::Answer<std::vector<WorkEntry>> read_queue(const std::string& queue, base::TimePoint from, int limit,
                                                   const std::optional<item::Key>& after = std::nullopt);
  base::TimePoint start_of(const WorkQueue& queue, store::QueueCursor::Steady::time_point now) const;
  base::Result<void> look_for_impossible_times(WorkQueue& queue);
  std::vector<WorkQueue*> queues_to_claim(Pipeline pipeline);
  void note_late(WorkQueue& queue, std::size_t wanted, std::size_t taken);
  // What of a queue is due, up to `wanted`; tells in `claim` what else there is.
  base::Result<std::vector<Email>> find_due(WorkQueue& queue, int wanted, const std::set<std::string>& except,
                                            Claim& claim);
  // The same of those that are wanted.
  base::Result<std::vector<Email>> find_wanted(WorkQueue& queue, int wanted, const Choice& choice, Claim& claim);
  base::Result<QueuePage> read_page(const WorkQueue& queue, const QueuePosition& after, int limit, Claim& claim);
  // Goes through the queues of a pipeline until there are `limit` e-mails. `find` looks into one of them for so many,
  // and `take` gets what it has found.
  using Find = std::function<base::Result<std::vector<Email>>(WorkQueue&, int wanted, Claim&)>;
  using Take = std::function<base::Result<std::vector<Email>>(WorkQueue&, std::vector<Email>)>;
  base::Result<Claim> gather(Pipeline pipeline, int limit, const Find& find, const Take& take);
  base::Result<std::vector<Email>> take_claimed(WorkQueue& queue, std::vector<Email> due, const std::string& owner);
  base::Milliseconds longest_lease(const Email& email) const;
  // Adds those of a queue whose lease is over, or could not have been granted, up to `limit` in all. `entries` are the
  // first of the queue, or all if they are fewer than may be added.
  base::Result<void> add_ended_leases(const WorkQueue& queue, std::vector<WorkEntry> entries, base::TimePoint before,
                                      int limit, std::vector<Email>& ended);
  // E-mails of other programs: see store_adoption.cc.
  void adopt_marked();
  void adopt_what_others_marked(int most_at_once);
  base::Result<bool> adopt_some(int limit);
  // `ended`: the token of a write that is over, if one is known.
  base::Result<bool> adopt_or_leave(const std::string& id, const std::string& ended = "");
  bool is_mark_due(const item::Item& mark, const std::string& ended) const;
  base::Result<void> mark(const std::string& id);
  // False when it cannot be adopted now: the mark stays.
  base::Result<bool> adopt(const std::string& id, const std::string& ended);
  base::Result<EmailRecords> read_records(const std::string& id);
  std::optional<event::Adopted> read_foreign_payload(const Email& email, bool is_new);
  base::Result<bool> add_adoption(const EmailRecords& records, const Email& read,
                                  store::TransactWriteItemsRequest& request);
  void add_lives(const AdoptedEmail& after, store::TransactWriteItemsRequest& request) const;
  void add_remainder(const EmailRecords& records, const std::optional<Email>& email,
                     store::TransactWriteItemsRequest& request) const;
  void add_lasting_mark(const std::string& id, const EmailRecords& records, store::TransactWriteItemsRequest& request);
  void add_lines(std::vector<item::Item> lines, store::TransactWriteItemsRequest& request) const;
  base::Result<std::optional<store::TransactWriteItemsRequest>> adoption_of(const std::string& id,
                                                                            const EmailRecords& records);
  base::Result<std::vector<item::Item>> read_metas(const std::vector<std::string>& ids);
  // Adopts the e-mail if it waits for that.
  base::Result<std::optional<Email>> find_foreign(const item::Item& meta);
  // The look at all e-mails: see store_look_through.cc.
  enum class LookThrough { done, due, of_another };
  base::Result<LookThrough> find_look_through();
  base::Result<void> begin_look_through();
  store::Answer<store::PageResponse> read_some(int limit);
  base::Result<bool> end_look_through();
  // Positions in one partition of a listing, newest first, from `high` down to `low`.
  store::Answer<std::vector<std::string>> read_listing(const std::string& tenant, const std::string& partition,
                                                       const std::string& low, const std::string& high, int limit);
  // The first of all partitions that the request is about, newest first: at least `limit` and one more, or all.
  base::Result<std::vector<std::string>> find_positions(const ListRequest& request, const std::string& low,
                                                        const std::string& high, int limit);
  // What transactions of this ledger have in common: lines of history, the changed counts, and whether an action was
  // refused by its condition.
  store::TransactPut put_line(const Email& email, const NewLine& line) const;
  void add_counts(const CountChanges& counts, store::TransactWriteItemsRequest& request) const;
  static bool condition_failed(const store::Error& error, std::size_t action);
  // An object that fits goes into the transaction that names it.
  using Spooled = outbox::Spooled<store::TransactPut>;
  using SpooledContents = outbox::SpooledContents<store::TransactPut>;
  base::Result<Spooled> put_away(const SpoolObject& object, bool is_email_finished = false);

  store::Store& store_;
  const StoreTables tables_;
  const Policy& policy_;
  const base::Clock& clock_;
  base::Random& random_;
  const store::Retry retry_;
  StoreSpool own_spool_;
  const std::unique_ptr<Spool> elsewhere_;      // null: contents are in own_spool_
  std::optional<SpoolWithFormer> both_spools_;  // with elsewhere_
  const RecordLives lives_;
  idempotency::Guard accept_guard_;
  std::map<std::string, std::unique_ptr<WorkQueue>, std::less<>> queues_;  // fixed after construction
  std::atomic<unsigned> next_queue_ = 0;
  MalformedRecords malformed_;
  const StoreLedgerOptions options_;
  store::ShardNote shards_;
  std::mutex adoption_turn_;
  int adoption_queue_ = 0;                      // where the next look at marks goes on
  std::optional<item::Key> adopted_up_to_;      // in its queue
  std::atomic<bool> is_adoption_left_ = false;  // some could not be adopted yet
  bool are_unreadable_found_ = false;           // those that a process before this one could not read
  base::Milliseconds next_look_at_marks_{0};    // on a shared store, by the monotonic clock
  // The look at all e-mails: whether it is done, and how far it is.
  bool is_looked_through_ = false;
  std::optional<item::Key> looked_up_to_;
  std::string look_token_;                   // of one that this process has begun on a shared store
  base::Milliseconds next_look_at_note_{0};  // there, by the monotonic clock
};

}  // namespace postino::outbox
