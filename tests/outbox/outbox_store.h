// The outbox's tables on a store of a test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/embedded_store_testing.h"
#include "outbox/ledger/directory_spool.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_suppressions.h"
#include "outbox/store_ledger/store_tables.h"

namespace postino::outbox {

inline constexpr base::TimePoint test_start = engine::embedded_start;

enum class SpoolChoice { store, directory };

class OutboxStore : public engine::EmbeddedStore {
 public:
  // The test ends when it cannot be opened.
  explicit OutboxStore(SpoolChoice spool, std::shared_ptr<base::Clock> clock);

  const StoreTables& tables() const { return tables_; }
  std::filesystem::path spool_directory() const { return directory() / "spool"; }

  // Each is what another process would have.
  std::unique_ptr<StoreLedger> make_ledger(StoreLedgerOptions options = {});
  // The spool that a ledger of this store is given; null when the ledger keeps contents itself.
  std::unique_ptr<Spool> make_spool();
  SuppressionList& suppressions() { return suppressions_; }

 private:
  const SpoolChoice spool_;
  const StoreTables tables_;
  StoreSuppressions suppressions_{engine(), tables_, retry()};
};

// That of ledgers under test: what they claim does not count as perhaps sent.
const Policy& ledger_policy();

// Decides what happens to e-mails, as workers and operators do. The test fails when their state forbids it.
class Decider {
 public:
  explicit Decider(Policy policy = {}) : policy_(std::move(policy)) {}

  const Policy& policy() const { return policy_; }
  Change operator()(const Email& email, Event event, base::TimePoint now) const;

 private:
  const Policy policy_;
};

// As if something had moved it there.
Change moved_to(const Email& before, State state, base::TimePoint now);
// Decides and writes a change within a state.
base::Result<void> amended(Ledger& ledger, const Email& email, Event event, base::TimePoint now = test_start);
// Writes another due time.
base::Result<void> postponed(Ledger& ledger, const Email& email, base::TimePoint due);
// Renews leases for so long from now on.
base::Result<std::vector<std::string>> renewed(Ledger& ledger, const std::vector<Email>& emails, base::TimePoint now,
                                               base::Milliseconds lease = std::chrono::seconds(30));

// An id that sorts by its number and looks like those of callers.
std::string email_id(int number);
struct Draft {
  Email email;
  std::string payload;
};
Draft new_email(std::string id, std::string tenant = "");
NewEmail accepted(Draft draft, base::TimePoint now = test_start);

// Claims for half a minute; the test fails when it cannot.
std::vector<Email> claimed(Ledger& ledger, Pipeline pipeline, int limit = 1'000, const std::string& owner = "worker");

// Every recipient has it.
smtp::SendResult delivered(const Email& email);
smtp::SendResult deferred(const Email& email, const std::string& words = "450 4.2.0 busy");
smtp::SendResult refused(const Email& email, const std::string& words);

}  // namespace postino::outbox
