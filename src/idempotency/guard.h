// Executes anything once per key, however often it is asked for.
//
// The first caller gets the execution and a lease on it; others hear that it is in progress, or get the answer of the
// first. What failed, what expired, and what lost its lease may be taken over: by the same request if it had come some
// way. A record does not expire within two leases of the last that was heard of it. What this process still executes it
// does not execute a second time, whatever became of the record meanwhile. Safe to call from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "base/random.h"
#include "idempotency/large_answers.h"
#include "idempotency/record.h"
#include "idempotency/store_records.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::idempotency {

struct GuardOptions {
  std::string table = "mq-probe-idempotency";
  base::Milliseconds life = std::chrono::hours(24);  // of a record
  base::Milliseconds lease = std::chrono::seconds(30);
  // For answers that are too large for their records, from when they are read. nullptr: without limit.
  std::shared_ptr<base::MemoryBudget> answers = nullptr;
  // Where the records are, if not in the guard's store.
  std::shared_ptr<Records> shared_records = nullptr;
  // That all who share the records have: those just named, or a store that is shared. nullptr: the guard's own.
  std::shared_ptr<const base::Clock> shared_clock = nullptr;
};

// The table of the records, and that of answers too large for them ("<table>-answers").
std::vector<store::TableSetup> table_setups(const std::string& table);
// Makes them where they are missing.
base::Result<void> prepare_tables(store::Store& store, const std::string& table);

enum class KeyState {
  execute,        // it is the caller's to do: complete() or fail() it
  replay,         // done before: record.response is the answer
  in_progress,    // another request executes it
  other_request,  // the key was used for a different request
  no_room,        // done before, but there is no memory for the answer at the moment
  unreadable,     // another program has damaged the record, so that it is not known what was done: left to the operator
};

// The keys that this process executes at the moment. Safe to use from any thread.
class Executions {
 public:
  // While this lives, its key is among them. The executions must outlive it.
  class Mark {
   public:
    Mark(Executions& executions, std::string key, std::string owner)
        : executions_(executions), key_(std::move(key)), owner_(std::move(owner)) {}
    ~Mark() { executions_.remove(key_, owner_); }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    Executions& executions_;
    const std::string key_;
    const std::string owner_;
  };

  // nullptr if it is among them already.
  std::unique_ptr<Mark> mark(const std::string& key, const std::string& owner);
  bool contain(const std::string& key) const;
  // If it is this owner's.
  void remove(const std::string& key, const std::string& owner);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> owners_;  // by key
};

struct Begun {
  KeyState state = KeyState::execute;
  Record record;                          // empty if it is unreadable
  std::string fault = {};                 // why it is unreadable
  base::MemoryBudget::Share memory = {};  // for an answer that is too large for its record
  // Of an execution that is the caller's: to be kept until it is completed or has failed, or nothing of it has an
  // effect any more.
  std::unique_ptr<Executions::Mark> mark = nullptr;
};

class Guard {
 public:
  Guard(store::Store& store, const base::Clock& clock, base::Random& random, GuardOptions options)
      : options_(std::move(options)),
        clock_(options_.shared_clock ? *options_.shared_clock : clock),
        random_(random),
        is_shared_(options_.shared_records || store.is_shared()),
        own_records_(store, options_.table),
        records_(options_.shared_records ? *options_.shared_records : own_records_),
        large_answers_(records_) {}

  base::Milliseconds lease() const { return options_.lease; }
  // That leases and expiry follow.
  const base::Clock& clock() const { return clock_; }

  // `life` replaces the configured one for this record. An execution that takes over one of the same request, which
  // failed or died, gets its progress. Who tries again after an error gives the same new `owner` each time: the record
  // of an attempt whose answer was lost is then known as one's own. Empty: this is the only attempt.
  store::Answer<Begun> begin(const std::string& operation, const std::string& key, const std::string& request_hash,
                             std::optional<base::Milliseconds> life = std::nullopt, const std::string& owner = {});
  std::string new_owner() { return base::make_uuid(random_); }

  // These fail with conditional_check_failed when the lease was lost to another caller. Where records are shared, one
  // that had been done and whose answer was lost may be repeated.
  //
  // With something that `remains` to be done when the answer is known, the record keeps the lease and says what, until
  // settle().
  store::Answer<void> complete(const Record& record, std::string response, std::string remains = "");
  store::Answer<void> settle(const Record& record);
  // Keeps the progress for the execution that goes on after this one.
  store::Answer<void> fail(const Record& record);
  store::Answer<void> renew(Record& record);
  // Notes record.progress, durably, and renews the lease.
  store::Answer<void> note_progress(Record& record);

  // What begin() would say, without taking the execution.
  store::Answer<Begun> look(const std::string& operation, const std::string& key, const std::string& request_hash);

  // For an execution that is one transaction: the completed record as an action of that transaction, which fails when
  // another execution has the key. With a record from begin(), only its owner can. The response must fit into an item.
  // Not for records that are shared.
  store::TransactPut completion(Record record, std::string response) const;
  // Of an execution that such an action has completed: there is more to tell by now than was `noted` then. Fails with
  // conditional_check_failed when the record is another one.
  store::Answer<void> amend(Record record, const std::string& noted, std::string response);
  // For an execution of several transactions: note_progress() as an action of one of them.
  store::TransactUpdate progress_note(Record record) const;
  // A record that has not begun, for completion().
  Record new_record(const std::string& operation, const std::string& key, const std::string& request_hash,
                    std::optional<base::Milliseconds> life) const;

 private:
  // Without regard to what this process executes.
  store::Answer<Begun> take(const std::string& operation, const std::string& key, const std::string& request_hash,
                            std::optional<base::Milliseconds> life, const std::string& owner);
  store::Answer<Begun> look_at_record(const std::string& partition_key, const std::string& request_hash);
  store::Answer<Begun> judge(const item::Item& found, const std::string& request_hash);
  store::Answer<Begun> judge(Record record, const std::string& request_hash);
  // Tells the operator, once for each record.
  Begun unreadable(const item::Item& found, const std::string& fault);
  store::Answer<void> hold(Record& record, bool notes_progress);
  // Is the record of the key the one of this owner, whose write was not answered?
  std::optional<Begun> own_execution(const item::Item& found, const Record& tried) const;
  // Writes the end of an execution. One that is there already, because an answer was lost, is no failure.
  store::Answer<void> end(const Record& record);

  const GuardOptions options_;
  const base::Clock& clock_;
  base::Random& random_;
  const bool is_shared_;  // other processes have the records, too
  StoreRecords own_records_;
  Records& records_;
  LargeAnswers large_answers_;
  Executions executions_;
  std::mutex mutex_;
  std::set<std::string> unreadable_;  // keys that the log has been told of
};

}  // namespace postino::idempotency
