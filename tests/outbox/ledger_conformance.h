// What every ledger must do, whatever it stands on: the contract of outbox/ledger.h as tests.
//
// A ledger takes part by instantiating the suite with a factory:
//   INSTANTIATE_TEST_SUITE_P(Mine, LedgerConformance, testing::Values(LedgerFactory{"Mine", make}), factory_name);
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "outbox/ledger/ledger.h"
#include "outbox_store.h"

namespace postino::outbox {

// A ledger without e-mails, and what a test needs around it.
class LedgerUnderTest {
 public:
  virtual ~LedgerUnderTest() = default;

  virtual Ledger& ledger() = 0;
  // Another one on the same data, as another process has it.
  virtual Ledger& second() = 0;
  virtual SuppressionList& suppressions() = 0;
  virtual base::ManualClock& clock() = 0;
  Spool& spool() { return ledger().spool(); }
  // How many e-mails are in each state, found by looking at each; those of all tenants when the tenant is empty.
  virtual Counts recount(const std::string& tenant) = 0;
};

// make() gives each caller data of its own.
struct LedgerFactory {
  std::string name;
  std::function<std::unique_ptr<LedgerUnderTest>()> make;
};
inline std::string factory_name(const testing::TestParamInfo<LedgerFactory>& info) { return info.param.name; }

// Those that many workers are let loose on (concurrent_claim_test.cc): each program of tests says which.
std::vector<LedgerFactory> ledgers_under_test();

std::vector<std::string> ids_of(const std::vector<Email>& emails);

class LedgerConformance : public testing::TestWithParam<LedgerFactory> {
 protected:
  static constexpr base::Milliseconds lease = std::chrono::seconds(30);

  LedgerConformance();

  Ledger& ledger() { return tested_->ledger(); }
  base::ManualClock& clock() { return tested_->clock(); }
  base::TimePoint now() { return tested_->clock().now(); }

  AcceptAnswer accept(const std::vector<Draft>& emails, const std::optional<AcceptKey>& key = std::nullopt);
  // Accepts so many at this moment, and says which.
  std::vector<std::string> accept_some(int count, const std::string& tenant = "");
  AcceptKey key(std::string name, std::string request_hash = "hash");

  Claim claim(Pipeline pipeline, int limit = 1'000, const std::string& owner = "worker");
  Email find(const std::string& id);
  MoveStatus move(Change change);
  Email moved(Change change);                               // must succeed
  std::vector<std::string> history(const std::string& id);  // the states alone

  // Takes this one e-mail into its working state, with a lease of 30 seconds. Its reason stays.
  Email take(const std::string& id);
  // Along the usual way, as the pipelines would.
  Email to_ready(const std::string& id);
  Email to_processing(const std::string& id);
  Email to_sent(const std::string& id);
  void expect_counts_right();

  std::unique_ptr<LedgerUnderTest> tested_;
  base::SeededRandom random_{5};
  const Decider decide_;
  int next_id_ = 1;
};

}  // namespace postino::outbox
