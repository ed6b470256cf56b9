// The ledger on the embedded store, for the tests that every ledger has to pass.
#pragma once

#include "ledger_conformance.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox_store.h"

namespace postino::outbox {

class StoreLedgerUnderTest final : public LedgerUnderTest {
 public:
  // The first ledger spreads e-mails over so many shards, and the second one learns of it.
  explicit StoreLedgerUnderTest(SpoolChoice spool, int shards = least_shards)
      : store_(spool, clock_), ledger_(store_.make_ledger({.shards = shards})), second_(store_.make_ledger()) {
    EXPECT_TRUE(ledger_->look_at_shards());
    EXPECT_TRUE(second_->look_at_shards());
  }

  Ledger& ledger() override { return *ledger_; }
  Ledger& second() override { return *second_; }
  SuppressionList& suppressions() override { return store_.suppressions(); }
  base::ManualClock& clock() override { return *clock_; }
  Counts recount(const std::string& tenant) override {
    Counts counts{};
    for (const item::Item& item : store_.scan(store_.tables().emails)) {
      if (item.find("Status")->as<std::string>() != meta_status) continue;
      const auto email = email_of(item);
      EXPECT_TRUE(email) << email.error().message;
      if (email && (tenant.empty() || email->tenant == tenant)) ++counts[static_cast<std::size_t>(email->state)];
    }
    return counts;
  }

 private:
  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_;
  const std::unique_ptr<StoreLedger> ledger_;
  const std::unique_ptr<StoreLedger> second_;
};

inline LedgerFactory store_ledger(std::string name, SpoolChoice spool, int shards = least_shards) {
  return {std::move(name), [spool, shards] { return std::make_unique<StoreLedgerUnderTest>(spool, shards); }};
}

}  // namespace postino::outbox
