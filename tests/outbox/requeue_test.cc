// Requeueing what is stuck, as operators ask for it.
#include <gtest/gtest.h>

#include "outbox/outbox.h"
#include "outbox_store.h"

namespace postino::outbox {
namespace {

TEST(Requeue, WhatAWorkerOfThisServerHasIsLeftToIt) {
  const auto clock = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store(SpoolChoice::store, clock);
  const auto ledger = store.make_ledger();
  WorkSignal signal;
  bool has_worker = true;
  OutboxOptions options;
  options.is_worked_on = [&](const Email& email) { return has_worker && email.id == email_id(1); };
  Outbox outbox(*ledger, store.suppressions(), ledger_policy(), *clock, store.random(), signal, options);
  ASSERT_TRUE(ledger->accept({accepted(new_email(email_id(1)))}, std::nullopt, [](const auto&) { return ""; }));
  ASSERT_EQ(claimed(*ledger, Pipeline::intake).size(), 1U);
  clock->advance(ledger_policy().lease + base::Milliseconds(1));  // the ledger may have refused to renew it
  const auto refused = outbox.requeue(email_id(1), "", "stuck");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::conflict);
  EXPECT_EQ(refused.error().message, "a worker of this server still has e-mail " + email_id(1) + ", which is INTAKING");
  has_worker = false;
  const auto requeued = outbox.requeue(email_id(1), "", "stuck");
  ASSERT_TRUE(requeued) << requeued.error().message;
  EXPECT_EQ(requeued->state, State::accepted);
}

}  // namespace
}  // namespace postino::outbox
