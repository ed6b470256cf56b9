// What other programs, and a database that was killed, leave behind in the tables.
#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>
#include <utility>

#include "base/timestamp.h"
#include "lossy_proxy.h"
#include "mysql_outbox.h"
#include "outbox/mysql_ledger/mysql_counts.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class MysqlForeignTest : public testing::Test {
 protected:
  base::TimePoint now() const { return clock_->now(); }
  MysqlLedger& ledger() { return process_->ledger(); }
  void accept(int count, const std::string& tenant = "", int first = 0) {
    std::vector<NewEmail> emails;
    for (int i = first; i < first + count; ++i) emails.push_back(accepted(new_email(email_id(i), tenant), now()));
    const auto answer = ledger().accept(std::move(emails), std::nullopt, [](const auto&) { return ""; });
    ASSERT_TRUE(answer) << answer.error().message;
  }
  Email find(int number) { return **ledger().find(email_id(number)); }
  std::vector<std::string> history(int number) {
    std::vector<std::string> states;
    const auto lines = ledger().history(email_id(number));
    for (const HistoryEntry& line : *lines) states.push_back(line.status);
    return states;
  }
  static std::vector<std::string> ids(const std::vector<Email>& emails) {
    std::vector<std::string> result;
    for (const Email& email : emails) result.push_back(email.id);
    return result;
  }
  // As another program writes it, with its files. It is to be sent in an hour.
  void insert(int number, const std::string& status) {
    const std::string id = email_id(number);
    std::filesystem::create_directories(outbox_.spool_directory());
    std::ofstream(outbox_.spool_directory() / (id + ".json"))
        << R"({"id":")" << id << R"(","from":"ann@example.com","to":["bob@example.com"],"subject":"s",)"
        << R"("body_text":"b","send_at":")" << base::format_timestamp(now() + hours(1)) << R"("})";
    std::ofstream(outbox_.spool_directory() / (id + ".eml")) << "Subject: s\r\n\r\nb\r\n";
    outbox_.execute("INSERT INTO emails (id, status, payload_file_path, eml_file_path) VALUES (?, ?, ?, ?)",
                    {id, status, id + ".json", id + ".eml"});
  }
  void move_by_hand(int number, const std::string& status) {
    outbox_.execute("UPDATE emails SET status = ?, version = version + 1 WHERE id = ?", {status, email_id(number)});
  }
  // With counts and rows of one moment: no other writer is there.
  void expect_counts_right() {
    for (const std::string tenant : {"", "acme"}) {
      Counts expected{};
      for (const mysql::Row row : outbox_.query(
               "SELECT ledger_status, COUNT(*) FROM emails WHERE ? IN ('', tenant) GROUP BY ledger_status", {tenant}))
        expected[index_of(parse_state(row.text(0)).value())] = row.number(1);
      EXPECT_EQ(*ledger().counts(tenant.empty() ? std::nullopt : std::optional(tenant)), expected) << tenant;
    }
  }
  int recounted() {
    const auto connection = *mysql::Connection::open(outbox_.server());
    const auto wrong = recount(*connection);
    EXPECT_TRUE(wrong) << wrong.error().message;
    return wrong.value_or(-1);
  }

  // Moments in the rows are the database's: the clock begins a little later.
  const std::shared_ptr<base::ManualClock> clock_ =
      std::make_shared<base::ManualClock>(base::SystemClock().now() + minutes(1));
  MysqlOutbox outbox_{SpoolChoice::directory, clock_};
  const std::unique_ptr<MysqlProcess> process_ = outbox_.make_process();
  const Decider decide_;
};

TEST_F(MysqlForeignTest, WhatIsReadyBeforeItsTimeWaits) {
  insert(1, "READY");
  insert(2, "ACCEPTED");
  EXPECT_THAT(ids(ledger().due(Pipeline::intake, 10, {})->emails), ElementsAre(email_id(2))) << "it is known now";
  move_by_hand(2, "INTAKING");
  move_by_hand(2, "READY");
  const Choice all{[](const Email&) { return std::nullopt; }, [](const std::string&) { return true; }};
  EXPECT_THAT(claimed(ledger(), Pipeline::send), IsEmpty());
  EXPECT_THAT(ledger().claim(Pipeline::send, 10, "w", all)->emails, IsEmpty());
  for (const int number : {1, 2}) EXPECT_EQ(find(number).due_at, find(number).send_at) << number;
  EXPECT_EQ(ledger().claim(Pipeline::send, 10, "w")->next_due, find(1).send_at) << "workers know when to come back";
  clock_->advance(hours(1) + seconds(1));
  EXPECT_THAT(ids(claimed(ledger(), Pipeline::send)), UnorderedElementsAre(email_id(1), email_id(2)));
}

TEST_F(MysqlForeignTest, AChooserLeavesWhatIsReadyBeforeItsTime) {
  insert(1, "READY");
  const Choice all{[](const Email&) { return std::nullopt; }, [](const std::string&) { return true; }};
  EXPECT_THAT(ledger().claim(Pipeline::send, 10, "w", all)->emails, IsEmpty());
  clock_->advance(hours(1) + seconds(1));
  EXPECT_THAT(ids(ledger().claim(Pipeline::send, 10, "w", all)->emails), ElementsAre(email_id(1)));
}

TEST_F(MysqlForeignTest, WhatNoWorkerWouldFindGetsATime) {
  accept(4);
  outbox_.execute("UPDATE emails SET due_ms = -5 WHERE id = ?", {email_id(0)});
  outbox_.execute("UPDATE emails SET due_ms = NULL WHERE id = ?", {email_id(1)});
  outbox_.execute("UPDATE emails SET due_ms = -1, status = 'PROCESSING', owner = 'w' WHERE id = ?", {email_id(2)});
  insert(7, "READY");
  outbox_.execute("UPDATE emails SET due_ms = -7 WHERE id = ?", {email_id(7)});
  ASSERT_EQ(ledger().sweep(100), 4);
  EXPECT_EQ(ledger().sweep(100), 0);
  EXPECT_THAT(ids(claimed(ledger(), Pipeline::intake)), UnorderedElementsAre(email_id(0), email_id(1), email_id(3)));
  EXPECT_THAT(claimed(ledger(), Pipeline::send), IsEmpty()) << "the other one waits for its time";
  EXPECT_THAT(*ledger().find_ended_leases(now(), 10), IsEmpty()) << "its worker can renew it";
  clock_->advance(ledger_policy().lease + seconds(1));
  EXPECT_THAT(ids(*ledger().find_ended_leases(now(), 10)), Contains(email_id(2)));
}

// Every minute, beside many that are finished.
TEST_F(MysqlForeignTest, WhatNoWorkerWouldFindIsFoundThroughTheIndex) {
  outbox_.execute(
      "INSERT INTO emails (id, status, due_ms, ledger_version, ledger_status)"
      " SELECT UUID(), IF(seq % 2 = 0, 'SENT', 'ACCEPTED'), IF(seq % 2 = 0, NULL, 9000000000000), 1, 'SENT'"
      " FROM seq_1_to_3000");
  outbox_.query("ANALYZE TABLE emails");
  const std::int64_t before = outbox_.status("HANDLER_READ_NEXT");
  ASSERT_EQ(ledger().sweep(100), 0);
  EXPECT_LT(outbox_.status("HANDLER_READ_NEXT") - before, 100);
}

TEST_F(MysqlForeignTest, CountsAreTrueAgainAfterOthersHaveDeletedRows) {
  accept(4);
  accept(3, "acme", 10);
  EXPECT_THAT(claimed(ledger(), Pipeline::intake, 2), SizeIs(2));
  EXPECT_EQ(recounted(), 0);
  outbox_.execute("DELETE FROM emails WHERE id IN (?, ?, ?)", {email_id(0), email_id(10), email_id(11)});
  outbox_.execute("UPDATE email_counts SET amount = amount + 1000 WHERE tenant = 'acme'");
  outbox_.execute("INSERT INTO email_counts (tenant, status, slice, amount) VALUES ('gone', 'SENT', 3, 5)");
  EXPECT_GT(recounted(), 0);
  expect_counts_right();
  EXPECT_EQ((*ledger().counts("gone"))[index_of(State::sent)], 0);
  EXPECT_EQ(recounted(), 0);
  accept(1, "acme", 20);
  expect_counts_right();
}

TEST_F(MysqlForeignTest, ARecountIsRightWhileOthersWork) {
  accept(25);
  outbox_.execute("DELETE FROM emails WHERE id = ?", {email_id(0)});
  const auto working = *mysql::Connection::open(outbox_.server());
  // As a move that is under way: rows and counts of one transaction.
  ASSERT_TRUE(working->begin());
  ASSERT_TRUE(working->execute("UPDATE emails SET ledger_status = 'READY' WHERE id = ?", {email_id(1)}));
  ASSERT_TRUE(
      working->execute("INSERT INTO email_counts (tenant, status, slice, amount) VALUES ('', 'ACCEPTED', 99, -1),"
                       " ('', 'READY', 99, 1)"));
  EXPECT_EQ(recounted(), 1) << "of those that are accepted";
  ASSERT_TRUE(working->commit());
  expect_counts_right();
  EXPECT_EQ(recounted(), 0);
}

TEST_F(MysqlForeignTest, OfAVeryLongHistoryTheNewestLinesAreRead) {
  accept(1);
  outbox_.execute("INSERT INTO email_statuses (email_id, status, reason) SELECT ?, 'READY', seq FROM seq_1_to_3000",
                  {email_id(0)});
  auto lines = ledger().history(email_id(0));
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(lines->size(), most_history_lines);
  EXPECT_EQ(lines->back().reason, "3000");
  outbox_.execute(
      "INSERT INTO email_statuses (email_id, status, reason) SELECT ?, 'READY', REPEAT('x', 60000)"
      " FROM seq_1_to_400",
      {email_id(0)});
  lines = ledger().history(email_id(0));
  ASSERT_TRUE(lines) << lines.error().message;
  std::size_t bytes = 0;
  for (const HistoryEntry& line : *lines) bytes += line.reason.size();
  EXPECT_GE(bytes, most_history_bytes);
  EXPECT_LE(bytes, most_history_bytes + 50 * 60'000) << "a few are read at once";
}

// The database has lost a part of what it was told, as has been seen of one that was killed: rows are as they were, and
// lines are there.
class MysqlLostRowsTest : public MysqlForeignTest {
 protected:
  std::string row_of(const std::string& id) {
    return std::string(outbox_
                           .query("SELECT CONCAT_WS(' ', status, version, ledger_version, ledger_status,"
                                  " eml_file_path, owner, due_ms, reached) FROM emails WHERE id = ?",
                                  {id})[0]
                           .text(0));
  }
  // Before the next attempt the rows are as they are now.
  void lose_rows_of_next_commit() {
    outbox_.execute(
        "CREATE TABLE former AS SELECT id, status, version, ledger_version, ledger_status, eml_file_path,"
        " owner, due_ms, reached FROM emails");
    proxy_.lose_answer_to("COMMIT");
    meanwhile_ = [&] {
      outbox_.execute(
          "UPDATE emails JOIN former ON emails.id = former.id SET emails.status = former.status,"
          " emails.version = former.version, emails.ledger_version = former.ledger_version,"
          " emails.ledger_status = former.ledger_status, emails.eml_file_path = former.eml_file_path,"
          " emails.owner = former.owner, emails.due_ms = former.due_ms, emails.reached = former.reached");
    };
  }

  mysql::LossyProxy proxy_{outbox_.server()};
  std::function<void()> meanwhile_ = [] {};
  const std::unique_ptr<MysqlProcess> lossy_ =
      outbox_.make_process_at(proxy_.options(), [this](base::Milliseconds) { std::exchange(meanwhile_, [] {})(); });
};

TEST_F(MysqlLostRowsTest, AMoveIsNotDoneByItsLinesAlone) {
  accept(5);
  std::vector<Change> moves;
  for (const Email& email : claimed(ledger(), Pipeline::intake))
    moves.push_back(decide_(email, event::MessageBuilt{"m"}, now()));
  lose_rows_of_next_commit();
  for (const MoveOutcome& outcome : lossy_->ledger().move(moves))
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
  EXPECT_EQ(proxy_.lost(), 1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(find(i).state, State::ready) << row_of(email_id(i));
    EXPECT_THAT(history(i), ElementsAre("ACCEPTED", "INTAKING", "READY"));
  }
}

TEST_F(MysqlLostRowsTest, NothingIsClaimedByItsLinesAlone) {
  accept(3);
  lose_rows_of_next_commit();
  const auto claim = lossy_->ledger().claim(Pipeline::intake, 10, "w");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_THAT(claim->emails, SizeIs(3));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(find(i).state, State::intaking) << row_of(email_id(i));
    EXPECT_THAT(history(i), ElementsAre("ACCEPTED", "INTAKING"));
  }
}

// A rescuer waits for no other writer, but for its own commit, whose answer was lost.
TEST_F(MysqlLostRowsTest, ARescueThatIsUnderWayIsDone) {
  accept(2);
  const std::vector<Email> held = claimed(ledger(), Pipeline::intake);
  clock_->advance(ledger_policy().lease + seconds(1));
  std::vector<Change> rescues;
  for (const Email& email : held) rescues.push_back(decide_(email, event::LeaseEnded{}, now()));
  proxy_.hold_back("COMMIT");
  std::atomic<bool> has_answered = false;
  std::thread later;
  meanwhile_ = [&] {
    later = std::thread([&] {
      while (outbox_.status("INNODB_ROW_LOCK_CURRENT_WAITS") == 0 && !has_answered) std::this_thread::yield();
      proxy_.let_go();
    });
  };
  const std::vector<MoveOutcome> outcomes = lossy_->ledger().move(std::move(rescues));
  has_answered = true;
  later.join();
  for (const MoveOutcome& outcome : outcomes) EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
  for (const Email& email : held) EXPECT_EQ((*ledger().history(email.id)).size(), 3U);
}

}  // namespace
}  // namespace postino::outbox
