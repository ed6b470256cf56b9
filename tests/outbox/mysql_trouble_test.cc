// Rows that other programs have locked or damaged, as workers and rescuers meet them; and clocks that may be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/plausible_clock.h"
#include "lossy_proxy.h"
#include "mysql_outbox.h"
#include "outbox/work/leases.h"
#include "outbox/work/rescuer.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class MysqlTroubleTest : public testing::Test {
 protected:
  base::TimePoint now() const { return clock_->now(); }
  base::Result<AcceptAnswer> accept_at(Ledger& ledger, int count, const std::optional<AcceptKey>& key) const {
    std::vector<NewEmail> emails;
    for (int i = 0; i < count; ++i) emails.push_back(accepted(new_email(email_id(i)), now()));
    return ledger.accept(std::move(emails), key, [](const auto&) { return ""; });
  }
  void accept(int count) { ASSERT_TRUE(accept_at(process_->ledger(), count, std::nullopt)); }

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

TEST_F(MysqlTroubleTest, NoKeyIsTooOldByAClockThatIsDoubted) {
  const AcceptKey key{"k", "hash", now() + hours(24)};
  ASSERT_TRUE(accept_at(process_->ledger(), 1, key));
  const base::TimePoint before = now();
  clock_->advance(hours(24 * 40));
  base::PlausibleClock doubted(*clock_);
  doubted.note_past(before);
  MysqlProcess process(outbox_.server(), {}, doubted, 99, ledger_policy(), 2, [](base::Milliseconds) {});
  const auto again = accept_at(process.ledger(), 1, key);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->status, AcceptStatus::replayed);
}

// The server commits, and none of its answers arrives.
TEST_F(MysqlTroubleTest, WhatMayBeThereIsNotCalledRefused) {
  mysql::LossyProxy proxy(outbox_.server());
  const auto lossy =
      outbox_.make_process_at(proxy.options(), [&](base::Milliseconds) { proxy.lose_answer_to("COMMIT"); });
  proxy.lose_answer_to("COMMIT");
  const auto answer = accept_at(lossy->ledger(), 1, std::nullopt);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->outcomes.at(0).error, AcceptError::unknown);
  EXPECT_TRUE(process_->ledger().find(email_id(0))->has_value());

  const AcceptKey key{"k", "hash", now() + hours(24)};
  proxy.lose_answer_to("COMMIT");
  const auto keyed = accept_at(lossy->ledger(), 2, key);
  ASSERT_TRUE(keyed) << keyed.error().message;
  EXPECT_EQ(keyed->status, AcceptStatus::unknown);
  EXPECT_EQ(accept_at(process_->ledger(), 2, key)->status, AcceptStatus::replayed) << "a repeat finds out";
}

TEST_F(MysqlTroubleTest, TheTimeThatWasNotedLastIsKept) {
  EXPECT_EQ(*process_->ledger().last_seen(), std::nullopt);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(process_->ledger().note_last_seen(now()));
    EXPECT_EQ(*second_->ledger().last_seen(), now());
    clock_->advance(hours(24 * 40));
    EXPECT_EQ(*process_->ledger().sweep(10), 0) << "it does not expire";
  }
}

TEST_F(MysqlTroubleTest, RowsWithNumbersThatCannotBeAreReportedAndKeepNobodyBack) {
  const std::vector<std::string> numbers = {
      "version = 0",     "version = -5",          "version = 2147483647",         "send_ms = 9223372036854775807",
      "created_ms = -1", "updated_ms = -1",       "settled_ms = 253402300800000", "begun_again_ms = -1",
      "attempts = -1",   "callback_attempts = -1"};
  accept(12);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    outbox_.execute("UPDATE emails SET due_ms = 1, " + numbers[i] + " WHERE id = ?", {email_id(static_cast<int>(i))});
  const auto claim = process_->ledger().claim(Pipeline::intake, 5, "w");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_THAT(claim->emails, SizeIs(2)) << "those that are well";
  const std::vector<MalformedRecord> told = process_->ledger().malformed();
  ASSERT_THAT(told, SizeIs(numbers.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    EXPECT_THAT(told[i].error, HasSubstr(numbers[i].substr(0, numbers[i].find(' ')) + " of e-mail"));
}

// As another program may insert it.
TEST_F(MysqlTroubleTest, ANewRowWithoutAVersionKeepsNobodyBack) {
  outbox_.execute(
      "INSERT INTO emails (id, status, payload_file_path, eml_file_path, version, due_ms)"
      " VALUES (?, 'READY', 'p.json', 'm.eml', 0, 1)",
      {email_id(40)});
  accept(3);
  EXPECT_THAT(process_->ledger().claim(Pipeline::intake, 5, "w").value().emails, SizeIs(3));
  const auto sending = process_->ledger().claim(Pipeline::send, 5, "w");
  ASSERT_TRUE(sending) << sending.error().message;
  EXPECT_THAT(sending->emails, IsEmpty());
  EXPECT_THAT(process_->ledger().malformed(), SizeIs(1));
}

}  // namespace
}  // namespace postino::outbox
