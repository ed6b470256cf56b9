// Many workers on one MariaDB: no worker waits for another one, and not even the server's sudden death confuses them.
#include <gmock/gmock.h>

#include <atomic>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

#include "base/many_threads_testing.h"
#include "mysql_outbox.h"
#include "outbox/email/state_machine_testing.h"

namespace postino::outbox {
namespace {

using base::run_threads;
using base::volume;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string no_answer(const std::vector<AcceptOutcome>&) { return ""; }

std::int64_t rows_in(Ledger& ledger, State state) {
  const auto counts = ledger.counts(std::nullopt);
  EXPECT_TRUE(counts) << counts.error().message;
  return counts ? (*counts)[static_cast<std::size_t>(state)] : -1;
}

class ConcurrentMysqlClaims : public testing::TestWithParam<int> {};

TEST_P(ConcurrentMysqlClaims, TakeEverythingOnceAndWaitForNobody) {
  const int workers = GetParam();
  const int count = volume(4'000);
  const auto clock = std::make_shared<base::ManualClock>(test_start);
  MysqlOutbox outbox(SpoolChoice::store, clock);
  const auto first = outbox.make_process(ledger_policy(), 40);
  const auto second = outbox.make_process(ledger_policy(), 40);
  for (int i = 0; i < count; i += 100) {
    std::vector<NewEmail> emails;
    for (int n = i; n < i + 100; ++n) emails.push_back(accepted(new_email(email_id(n)), clock->now()));
    ASSERT_TRUE(first->ledger().accept(std::move(emails), std::nullopt, no_answer));
    if (i % 1'000 == 0) clock->advance(milliseconds(1));
  }
  const std::int64_t waits = outbox.status("INNODB_ROW_LOCK_WAITS");
  const std::int64_t deadlocks = outbox.status("INNODB_DEADLOCKS");
  std::mutex mutex;
  std::vector<std::string> claimed;
  std::atomic<int> left = count;
  run_threads(workers, [&](int i) {
    MysqlLedger& ledger = (i % 2 == 0 ? *first : *second).ledger();
    while (left > 0) {
      const auto claim = ledger.claim(Pipeline::intake, 25, "worker " + std::to_string(i));
      ASSERT_TRUE(claim) << claim.error().message;
      left -= static_cast<int>(claim->emails.size());
      const std::lock_guard lock(mutex);
      for (const Email& email : claim->emails) claimed.push_back(email.id);
    }
  });
  EXPECT_EQ(claimed.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(std::set<std::string>(claimed.begin(), claimed.end()).size(), claimed.size()) << "one was claimed twice";
  EXPECT_EQ(rows_in(first->ledger(), State::intaking), count);
  EXPECT_EQ(rows_in(first->ledger(), State::accepted), 0);
  EXPECT_EQ(outbox.status("INNODB_ROW_LOCK_WAITS") - waits, 0);
  const std::uint64_t repeats = first->database().statistics().repeats() + second->database().statistics().repeats();
  std::cout << workers << " workers: " << outbox.status("INNODB_DEADLOCKS") - deadlocks << " deadlocks, " << repeats
            << " repeated transactions\n";
  EXPECT_EQ(repeats, 0U);
}

INSTANTIATE_TEST_SUITE_P(Workers, ConcurrentMysqlClaims, testing::Values(8, 32),
                         [](const auto& each) { return "By" + std::to_string(each.param); });

// Claims keep workers apart. Here they meet: each wants to move the same e-mails, in any order.
TEST(ConcurrentMysqlMoves, OfTheSameEmailsGoThroughOnceEach) {
  const auto clock = std::make_shared<base::ManualClock>(test_start);
  MysqlOutbox outbox(SpoolChoice::store, clock);
  const auto first = outbox.make_process();
  const auto second = outbox.make_process();
  std::vector<NewEmail> emails;
  for (int i = 0; i < 60; ++i) emails.push_back(accepted(new_email(email_id(i)), clock->now()));
  ASSERT_TRUE(first->ledger().accept(std::move(emails), std::nullopt, no_answer));
  base::SeededRandom random(4);
  const Decider decide;
  const std::vector<Email> accepted = first->ledger().due(Pipeline::intake, 100, {})->emails;
  ASSERT_EQ(accepted.size(), 60U);
  const std::int64_t deadlocks = outbox.status("INNODB_DEADLOCKS");
  std::atomic<int> done = 0;
  run_threads(8, [&](int i) {
    std::vector<Change> moves;
    for (std::size_t n = 0; n < accepted.size(); ++n)
      moves.push_back(
          decide(accepted[(n * 7 + static_cast<std::size_t>(i) * 13) % 60], event::MessageBuilt{"m"}, clock->now()));
    for (const MoveOutcome& outcome : (i % 2 == 0 ? *first : *second).ledger().move(std::move(moves))) {
      EXPECT_NE(outcome.status, MoveStatus::failed) << outcome.error;
      if (outcome.status == MoveStatus::done) ++done;
    }
  });
  EXPECT_EQ(done, 60);
  for (const Email& email : accepted) EXPECT_EQ(first->ledger().history(email.id)->size(), 3U);
  std::cout << outbox.status("INNODB_DEADLOCKS") - deadlocks << " deadlocks\n";
  EXPECT_EQ(outbox.status("INNODB_DEADLOCKS") - deadlocks, 0) << "rows are locked in the order of their ids";
}

// The server is killed again and again while e-mails come in, are claimed and moved by two processes. What a process
// did not learn that it had is rescued when its lease ends.
class ConcurrentMysqlCrash : public testing::Test {
 protected:
  static constexpr int batch = 20;

  // What each thread does until everything is sent. A call that fails is made again, as callers would.
  void accept() {
    for (int n = next_++; n < count_ / batch; n = next_++) {
      const AcceptKey key{"request " + std::to_string(n), "hash", clock_->now() + std::chrono::hours(1)};
      for (bool done = false; !done;) {
        std::vector<NewEmail> emails;
        for (int i = 0; i < batch; ++i) emails.push_back(accepted(new_email(email_id(n * batch + i)), clock_->now()));
        const auto answer = first_->ledger().accept(std::move(emails), key, [](const auto& outcomes) {
          return std::ranges::any_of(outcomes, [](const AcceptOutcome& each) { return each.error.has_value(); })
                     ? "refused"
                     : "accepted";
        });
        done = answer && answer->status != AcceptStatus::in_progress;
        EXPECT_TRUE(!done || answer->stored_answer == "accepted");
      }
    }
  }
  void work(MysqlLedger& ledger, Pipeline pipeline) {
    while (sent_ < count_) {
      const auto claim = ledger.claim(pipeline, 10, "worker");
      if (!claim) continue;
      std::vector<Change> moves;
      for (const Email& email : claim->emails)
        moves.push_back(pipeline == Pipeline::intake
                            ? decide_(email, event::MessageBuilt{"message"}, clock_->now())
                            : decide_(email, event::SendingAttempted{{}, delivered(email)}, clock_->now()));
      for (const MoveOutcome& outcome : ledger.move(std::move(moves)))
        if (outcome.status == MoveStatus::done && outcome.email.state == State::sent) ++sent_;
    }
  }
  void rescue() {
    while (sent_ < count_) {
      const auto expired = first_->ledger().find_ended_leases(clock_->now(), 25);
      std::vector<Change> moves;
      if (expired)
        for (const Email& email : *expired) moves.push_back(decide_(email, event::LeaseEnded{}, clock_->now()));
      for (const MoveOutcome& outcome : first_->ledger().move(std::move(moves)))
        if (outcome.status == MoveStatus::done) ++rescued_;
      recount();
      std::this_thread::yield();
    }
  }
  // A move may have been done although its caller was told that it failed.
  void recount() {
    const auto counts = first_->ledger().counts(std::nullopt);
    if (counts && (*counts)[static_cast<std::size_t>(State::sent)] == count_) sent_ = count_;
  }
  void kill_now_and_then() {
    for (const int mark : {1, 2, 3, 4, 5}) {
      while (sent_ < count_ * mark / 7) std::this_thread::yield();
      is_running_ = false;
      server_.kill();
      server_.start();
      is_running_ = true;
      is_running_.notify_all();
    }
  }
  // Its lines as they were written, with what was written in one commit, for those who have to find out what happened.
  std::string lines_of(const std::string& id) {
    std::string text = id;
    for (const mysql::Row row : outbox_.query("SELECT CONCAT_WS(' ', id, status, version, at_ms, transition)"
                                              " FROM email_statuses WHERE email_id = ? ORDER BY id",
                                              {id}))
      text.append("\n  ").append(row.text(0));
    return text;
  }
  // In place of the pause before a call is repeated: until the server runs again.
  mysql::Database::Sleep await_server() {
    return [this](base::Milliseconds) { is_running_.wait(false); };
  }

  const int count_ = volume(2'000);
  std::atomic<bool> is_running_ = true;
  mysql::MariadbServer server_;
  const std::shared_ptr<base::SystemClock> clock_ = std::make_shared<base::SystemClock>();
  MysqlOutbox outbox_{SpoolChoice::store, clock_, server_};
  const std::unique_ptr<MysqlProcess> first_ = outbox_.make_process_at(outbox_.server(), await_server());
  const std::unique_ptr<MysqlProcess> second_ = outbox_.make_process_at(outbox_.server(), await_server());
  base::SeededRandom random_{4};
  const Decider decide_;
  std::atomic<int> next_ = 0;
  std::atomic<int> sent_ = 0;
  std::atomic<int> rescued_ = 0;
};

TEST_F(ConcurrentMysqlCrash, LeavesEveryEmailWithOneLegalHistory) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([&] { accept(); });
  for (MysqlProcess* process : {first_.get(), second_.get()})
    for (const Pipeline pipeline : {Pipeline::intake, Pipeline::send})
      threads.emplace_back([this, process, pipeline] { work(process->ledger(), pipeline); });
  threads.emplace_back([&] { rescue(); });
  kill_now_and_then();
  for (std::thread& thread : threads) thread.join();

  std::cout << rescued_ << " rescued, "
            << first_->database().statistics().repeats() + second_->database().statistics().repeats()
            << " transactions repeated, "
            << first_->database().statistics().deadlocks() + second_->database().statistics().deadlocks()
            << " deadlocks\n";
  ASSERT_EQ(outbox_.number("SELECT COUNT(*) FROM emails"), count_) << "nothing is lost";
  for (const State state : all_states())
    EXPECT_EQ(rows_in(first_->ledger(), state), state == State::sent ? count_ : 0) << name_of(state);
  for (int i = 0; i < count_; ++i) {
    const auto lines = first_->ledger().history(email_id(i));
    ASSERT_TRUE(lines && !lines->empty()) << i;
    EXPECT_EQ(lines->front().status, "ACCEPTED");
    EXPECT_EQ(lines->back().status, "SENT");
    for (std::size_t n = 0; n < lines->size(); ++n) {
      EXPECT_EQ((*lines)[n].version, static_cast<std::int64_t>(n) + 1) << "a line is doubled or lost";
      if (n == 0) continue;
      EXPECT_TRUE(may_follow(*parse_state((*lines)[n - 1].status), *parse_state((*lines)[n].status))) << email_id(i);
    }
    const auto email = first_->ledger().find(email_id(i));
    ASSERT_TRUE(email && *email);
    EXPECT_EQ((*email)->version, static_cast<std::int64_t>(lines->size())) << lines_of(email_id(i));
    EXPECT_EQ(*first_->spool().read((*email)->message_path), "message");
  }
}

}  // namespace
}  // namespace postino::outbox
