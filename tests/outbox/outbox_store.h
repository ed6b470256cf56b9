// The outbox's tables on a store of a test's own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "outbox/course.h"
#include "outbox/directory_spool.h"
#include "outbox/store_ledger.h"
#include "outbox/store_spool.h"
#include "outbox/store_tables.h"

namespace postino::outbox {

// 2026-01-02T03:04:05Z
inline constexpr base::TimePoint test_start = base::TimePoint(std::chrono::seconds(1'767'323'045));

enum class SpoolChoice { store, directory };

class OutboxStore {
 public:
  // The test ends when it cannot be opened.
  explicit OutboxStore(SpoolChoice spool, std::shared_ptr<base::Clock> clock);

  engine::Engine& engine() { return *engine_; }
  Spool& spool() { return *spool_; }
  base::Random& random() { return random_; }
  const StoreTables& tables() const { return options_.tables; }
  const StoreLedgerOptions& options() const { return options_; }
  std::filesystem::path spool_directory() const { return directory_.path() / "spool"; }
  Patience patience();

  // Each is what another process would have.
  std::unique_ptr<StoreLedger> make_ledger();

  // Every item of a table.
  std::vector<item::Item> scan(const std::string& table, const std::optional<std::string>& index = std::nullopt);

 private:
  base::TemporaryDirectory directory_;
  const std::shared_ptr<base::Clock> clock_;
  base::SeededRandom random_{1};
  const StoreLedgerOptions options_;
  std::unique_ptr<engine::Engine> engine_;
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
