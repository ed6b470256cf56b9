// What many do at once on the embedded store.
#include <atomic>

#include "idempotency/guard.h"
#include "many_threads.h"
#include "store_ledger_under_test.h"

namespace postino::outbox {

std::vector<LedgerFactory> ledgers_under_test() { return {store_ledger("Store", SpoolChoice::store)}; }

namespace {

TEST(ConcurrentGuardTest, OneOfAHundredExecutes) {
  const auto clock = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store(SpoolChoice::store, clock);
  idempotency::GuardOptions options;
  options.table = store.tables().accept_keys();
  idempotency::Guard guard(store.engine(), *clock, store.random(), options);
  const Patience patience = store.patience();
  std::atomic<int> executions = 0;
  std::atomic<int> answers = 0;
  run_threads(100, [&](int) {
    EXPECT_TRUE(eventually([&] {
      const auto begun = patience([&] { return guard.begin("PRODUCE", "k", "h"); });
      if (!begun) return false;
      if (begun->verdict == idempotency::Verdict::execute) {
        ++executions;
        EXPECT_TRUE(patience([&] { return guard.complete(begun->record, "answer"); }));
      }
      if (begun->verdict != idempotency::Verdict::replay) return false;
      EXPECT_EQ(begun->record.response, "answer");
      ++answers;
      return true;
    }));
  });
  EXPECT_EQ(executions, 1);
  EXPECT_EQ(answers, 100);
}

}  // namespace
}  // namespace postino::outbox
