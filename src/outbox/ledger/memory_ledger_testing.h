// A ledger for tests of workers: a few e-mails in memory, trouble when the test wants it, and a view of what was asked
// and written. What workers do not call, it refuses.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "outbox/ledger/ledger.h"

namespace postino::outbox {

// Safe to call from any thread.
class MemorySpool final : public Spool {
 public:
  // From now on reading this path fails so.
  void spoil(const std::string& path, base::Error error);
  int reads() const;

  base::Result<std::string> write(const SpoolObject& object) override;
  base::Result<std::string> read_if(const std::string& path, const Admit& admit) override;
  base::Result<void> remove(const std::string& path) override;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::map<std::string, base::Error> spoiled_;
  int reads_ = 0;
};

class MemoryLedger final : public Ledger {
 public:
  // Both must outlive it.
  MemoryLedger(const Policy& policy, const base::Clock& clock) : policy_(policy), clock_(clock) {}

  // An e-mail that came here in this way, with its payload; it is no commit of a worker.
  Email put(Change change, const std::string& payload = "");
  // Another worker has it from now on: what the present one brings comes too late.
  void take_over(const std::string& id);

  // How many of the next calls fail, and whose moves fail always.
  void fail_claims(int count);
  void fail_moves(int count);
  void fail_amendments(int count);
  void fail_moves_of(const std::string& id);
  // From now on it can be read and not be written, as on a full disk; or it can again.
  void refuse_writes(bool refuse);
  // From now on other processes work on it, too, with the same clock or each with its own.
  void share(bool has_one_clock = true);
  // Another program locks this e-mail: it is not found for rescue and not written; or no longer.
  void lock(const std::string& id);
  void unlock(const std::string& id);
  // From now on counts() calls this before it answers: to keep it waiting, as a database that hangs does.
  void before_counts(std::function<void()> action);

  Email email(const std::string& id) const;  // as it is now
  // The ids of each call of move() that wrote something, in order; what failed or came too late is left out.
  std::vector<std::vector<std::string>> commits() const;
  int refused_moves() const;                  // failed or too late, each e-mail counts
  std::vector<Change> amendments() const;     // that were written
  std::vector<int> limits() const;            // of each call of claim() and due()
  std::set<std::string> last_except() const;  // of due()
  int most_claimed() const;                   // e-mails that were in working states at one time

  // Waits until it is so, and asks again after every call of the ledger; false when that takes too long.
  bool await(const std::function<bool()>& condition);
  bool await_state(const std::string& id, State state);
  bool await_looks(int count);  // calls of claim() and due(), failed ones too

  MemorySpool& spool() override { return spool_; }
  base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner) override;
  base::Result<Claim> claim(Pipeline pipeline, int limit, const std::string& owner, const Choice& choice) override;
  base::Result<Claim> due(Pipeline pipeline, int limit, const std::set<std::string>& except) override;
  std::vector<MoveOutcome> move(std::vector<Change> changes) override;
  base::Result<std::vector<std::string>> amend(const std::vector<Change>& changes) override;
  base::Result<void> try_write() override;
  bool is_shared() const override;
  bool has_one_clock() const override;
  base::Result<std::vector<Email>> find_ended_leases(base::TimePoint before, int limit) override;
  base::Result<std::optional<base::TimePoint>> oldest_due(Pipeline pipeline) override;
  base::Result<Counts> counts(const std::optional<std::string>& tenant) override;

  base::Result<AcceptAnswer> accept(std::vector<NewEmail> emails, const std::optional<AcceptKey>& key,
                                    const RenderAnswer& render) override;
  base::Result<std::vector<Email>> stale(base::TimePoint before, int limit) override;
  base::Result<std::optional<Email>> find(const std::string& id) override;
  base::Result<std::vector<HistoryEntry>> history(const std::string& id) override;
  base::Result<EmailPage> list(const ListRequest& request) override;
  base::Result<EmailPage> dead_callbacks(const std::string& tenant, const std::string& cursor, int limit) override;
  base::Result<void> record_bounce(const std::string& id, const Bounce& bounce) override;
  base::Result<bool> restore(const StoredEmail& email) override;

 private:
  // The mutex is held.
  Claim find_due(Pipeline pipeline, int limit, const std::set<std::string>& except, const Choice& choice = {}) const;
  MoveOutcome move_one(Change change);
  void store(Change change);
  void called();

  const Policy& policy_;
  const base::Clock& clock_;
  MemorySpool spool_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t calls_ = 0;
  std::map<std::string, Email> emails_;
  std::set<std::string> unwritable_;
  std::set<std::string> locked_;
  bool is_shared_ = false;
  bool has_one_clock_ = true;
  bool refuses_writes_ = false;
  int failing_claims_ = 0;
  int failing_moves_ = 0;
  int failing_amendments_ = 0;
  std::vector<std::vector<std::string>> commits_;
  int refused_moves_ = 0;
  std::vector<Change> amendments_;
  std::vector<int> limits_;
  std::set<std::string> last_except_;
  int most_claimed_ = 0;
  std::function<void()> before_counts_;
};

}  // namespace postino::outbox
