// The outbox's tables on a store of a test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/embedded_store_testing.h"
#include "outbox/ledger/course.h"
#include "outbox/ledger/directory_spool.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_spool.h"
#include "outbox/store_ledger/store_tables.h"

namespace postino::outbox {

inline constexpr base::TimePoint test_start = engine::embedded_start;

enum class SpoolChoice { store, directory };

class OutboxStore : public engine::EmbeddedStore {
 public:
  // The test ends when it cannot be opened.
  explicit OutboxStore(SpoolChoice spool, std::shared_ptr<base::Clock> clock);

  Spool& spool() { return *spool_; }
  const StoreTables& tables() const { return options_.tables; }
  const StoreLedgerOptions& options() const { return options_; }
  std::filesystem::path spool_directory() const { return directory() / "spool"; }

  // Each is what another process would have.
  std::unique_ptr<StoreLedger> make_ledger();

 private:
  const StoreLedgerOptions options_;
  std::unique_ptr<Spool> spool_;
};

// An id that sorts by its number and looks like those of callers.
std::string email_id(int number);
NewEmail new_email(std::string id, std::string tenant = "");

// Claims for half a minute; the test fails when it cannot.
std::vector<Email> claimed(Ledger& ledger, Pipeline pipeline, int limit = 1'000, const std::string& owner = "worker");

// Every recipient has it.
mail::SendResult delivered(const Email& email);
mail::SendResult deferred(const Email& email);

}  // namespace postino::outbox
