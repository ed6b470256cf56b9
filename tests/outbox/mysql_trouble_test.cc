// Rows that other programs have locked or damaged, as workers and rescuers meet them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "mysql_outbox.h"
#include "outbox/work/leases.h"
#include "outbox/work/rescuer.h"

namespace postino::outbox {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class MysqlTroubleTest : public testing::Test {
 protected:
  base::TimePoint now() const { return clock_->now(); }
  void accept(int count) {
    std::vector<NewEmail> emails;
    for (int i = 0; i < count; ++i) emails.push_back(accepted(new_email(email_id(i)), now()));
    ASSERT_TRUE(process_->ledger().accept(std::move(emails), std::nullopt, [](const auto&) { return ""; }));
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  MysqlOutbox outbox_{SpoolChoice::store, clock_};
  const std::unique_ptr<MysqlProcess> process_ = outbox_.make_process();
  const std::unique_ptr<MysqlProcess> second_ = outbox_.make_process();
};

TEST_F(MysqlTroubleTest, WhatWasLockedUntilItsLeaseEndedIsLeftToItsWorker) {
  accept(2);
  const base::Milliseconds lease = ledger_policy().lease;
  Leases leases(process_->ledger(), ledger_policy(), *clock_);
  const std::vector<Email> held = process_->ledger().claim(Pipeline::intake, 10, "w")->emails;
  for (const Email& email : held) leases.hold(email);
  std::vector<std::string> rescued;
  Rescuer rescuer(
      second_->ledger(), ledger_policy(), *clock_,
      [&](const Email& before, const Email&) { rescued.push_back(before.id); }, lease, seconds(1));
  const auto look_for = [&](base::Milliseconds time, bool is_alive) {
    for (base::Milliseconds passed{0}; passed < time; passed += seconds(1)) {
      clock_->advance(seconds(1));
      rescuer.run_once();
      if (is_alive) leases.renew_once();
    }
  };
  {
    const LockedRow locked(outbox_.server(), held[0].id);
    look_for(2 * lease, true);
    EXPECT_THAT(*second_->ledger().find_ended_leases(now(), 10), IsEmpty()) << "it is over, and locked";
    EXPECT_THAT(*second_->ledger().stale(now(), 10), SizeIs(1)) << "operators see it";
  }
  look_for(2 * lease, true);
  EXPECT_THAT(rescued, IsEmpty()) << "the worker lives, and renews it when the row is free";
  look_for(2 * lease, false);
  EXPECT_THAT(rescued, UnorderedElementsAre(held[0].id, held[1].id));
}

TEST_F(MysqlTroubleTest, MalformedRowsTakeNoPlacesOfOthers) {
  accept(60);
  for (int i = 0; i < 60; i += 2) outbox_.execute("UPDATE emails SET recipients = '[{' WHERE id = ?", {email_id(i)});
  std::set<std::string> seen;
  for (bool more = true; more;) {
    const auto due = process_->ledger().due(Pipeline::intake, 4, seen);
    ASSERT_TRUE(due) << due.error().message;
    for (const Email& email : due->emails) seen.insert(email.id);
    more = due->more;
  }
  EXPECT_THAT(seen, SizeIs(30)) << "the last look says that there is no more";
  std::set<std::string> taken;
  for (bool more = true; more;) {
    const auto claim = second_->ledger().claim(Pipeline::intake, 4, "w");
    ASSERT_TRUE(claim) << claim.error().message;
    for (const Email& email : claim->emails) taken.insert(email.id);
    more = claim->more;
  }
  EXPECT_EQ(taken, seen);
}

TEST_F(MysqlTroubleTest, AListGoesOnBehindDamagedRows) {
  accept(5);
  for (const int damaged : {2, 3})
    outbox_.execute("UPDATE emails SET recipients = '[{' WHERE id = ?", {email_id(damaged)});
  std::size_t seen = 0;
  for (std::string cursor;;) {
    const auto page = process_->ledger().list({.cursor = cursor, .limit = 1});
    ASSERT_TRUE(page) << page.error().message;
    seen += page->emails.size();
    cursor = page->cursor;
    if (cursor.empty()) break;
  }
  EXPECT_EQ(seen, 3U);
}

}  // namespace
}  // namespace postino::outbox
