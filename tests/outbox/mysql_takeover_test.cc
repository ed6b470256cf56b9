// The tables of another program, as its documentation has them, with everything that can be in them.
#include <gmock/gmock.h>

#include "mysql_outbox.h"
#include "outbox/mysql_ledger/mysql_migration.h"

namespace postino::outbox {
namespace {

using std::chrono::minutes;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::vector<State> their_states = {State::accepted,
                                         State::intaking,
                                         State::ready,
                                         State::processing,
                                         State::sent,
                                         State::failed,
                                         State::invalid,
                                         State::calling_sent,
                                         State::calling_failed,
                                         State::sent_acknowledged,
                                         State::failed_acknowledged};

class MysqlTakeoverTest : public testing::Test {
 protected:
  MysqlTakeoverTest() {
    run(emails_table);
    run(statuses_table);
  }

  void run(const std::string& sql) {
    const auto done = connection_->run(sql);
    ASSERT_TRUE(done) << sql << ": " << done.error().message;
  }
  mysql::Rows query(const std::string& sql) {
    auto rows = connection_->query(sql);
    EXPECT_TRUE(rows) << sql << ": " << rows.error().message;
    return rows ? *std::move(rows) : mysql::Rows();
  }
  // One e-mail in each state that the other program knows, accepted and moved some days ago.
  void insert_all() {
    int number = 0;
    for (const State state : their_states)
      run("INSERT INTO emails (id, status, payload_file_path, version, created_at, updated_at) VALUES ('" +
          email_id(++number) + "', '" + std::string(name_of(state)) +
          "', 'x.json', 3, NOW() - INTERVAL 40 DAY, NOW() - INTERVAL 39 DAY)");
  }
  void migrate_to_newest() {
    const auto done = migrate(server_, {.program_version = "1"});
    ASSERT_TRUE(done) << done.error().message;
  }
  // As if the rows were those of an earlier version.
  void repeat_migration() {
    run("DELETE FROM postino_migrations WHERE number >= 5");
    migrate_to_newest();
  }
  std::uint64_t taken_over() {
    const auto taken = take_over_callbacks(server_, minutes(1));
    EXPECT_TRUE(taken) << taken.error().message;
    return taken.value_or(0);
  }
  // How many were counted or removed.
  int swept() {
    const auto done = ledger().sweep(100);
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(0);
  }
  MysqlLedger& ledger() {
    if (!process_)
      process_ = std::make_unique<MysqlProcess>(server_, "", clock_, 1, policy_, 4, [](base::Milliseconds) {});
    return process_->ledger();
  }
  std::vector<std::string> ids(const std::vector<Email>& emails) {
    std::vector<std::string> result;
    for (const Email& email : emails) result.push_back(email.id);
    return result;
  }
  void expect_adopted(int number) {
    const auto found = ledger().find(email_id(number));
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->owner, foreign_owner);
    EXPECT_FALSE(is_partly_sent(**found));
  }
  // The others are counted when they are worked on.
  void expect_counts_of_finished_right() {
    Counts expected{};
    for (const mysql::Row row : query("SELECT status, COUNT(*) FROM emails GROUP BY status"))
      expected[index_of(parse_state(row.text(0)).value())] = row.number(1);
    const auto counts = ledger().counts(std::nullopt);
    ASSERT_TRUE(counts) << counts.error().message;
    for (const State state : all_states())
      if (may_be_finished(state)) EXPECT_EQ((*counts)[index_of(state)], expected[index_of(state)]) << name_of(state);
  }

  const mysql::ServerOptions server_ = mysql::MariadbServer::shared().new_database();
  const std::unique_ptr<mysql::Connection> connection_ = *mysql::Connection::open(server_);
  // Moments in the rows are the database's: the clock begins a little later.
  base::ManualClock clock_{base::SystemClock().now() + minutes(1)};
  Policy policy_ = [] {
    Policy policy;
    policy.default_callback_url = "https://example.com/hook";
    return policy;
  }();
  std::unique_ptr<MysqlProcess> process_;
};

TEST_F(MysqlTakeoverTest, WhatIsFinishedIsCountedAndExpires) {
  insert_all();
  migrate_to_newest();
  EXPECT_EQ(swept(), 5) << "sent, failed and invalid ones, and both that were acknowledged";
  expect_counts_of_finished_right();
  for (const mysql::Row row : query("SELECT status, expires_ms IS NULL, COALESCE(expires_ms, 0) = " +
                                    std::to_string(base::epoch_milliseconds(clock_.now() + policy_.keep)) +
                                    ", settled_ms IS NULL FROM emails")) {
    const State state = parse_state(row.text(0)).value();
    EXPECT_EQ(row.number(1) == 0, may_be_finished(state)) << row.text(0);
    EXPECT_EQ(row.number(2) == 1, may_be_finished(state)) << row.text(0);
    EXPECT_EQ(row.number(3) == 0, may_be_finished(state) || acknowledged_form(state)) << row.text(0);
  }
  EXPECT_EQ(swept(), 0) << "however old they are, they are kept";
  clock_.advance(policy_.keep + minutes(1));
  EXPECT_EQ(swept(), 5) << "their time is over";
  EXPECT_EQ(query("SELECT COUNT(*) FROM emails")[0].number(0), 6);
  expect_counts_of_finished_right();
}

TEST_F(MysqlTakeoverTest, WhatWasBeingCalledBackForIsRescued) {
  insert_all();
  migrate_to_newest();
  EXPECT_THAT(ids(*ledger().find_ended_leases(clock_.now(), 100)),
              UnorderedElementsAre(email_id(2), email_id(4), email_id(8), email_id(9)));
  EXPECT_THAT(claimed(ledger(), Pipeline::callback), IsEmpty()) << "the other program calls back for what it has sent";
}

TEST_F(MysqlTakeoverTest, CallbacksAreTakenOverWhenToldSo) {
  insert_all();
  migrate_to_newest();
  EXPECT_EQ(taken_over(), 5U);
  EXPECT_THAT(ids(claimed(ledger(), Pipeline::callback)), UnorderedElementsAre(email_id(5), email_id(6), email_id(7)));
  EXPECT_EQ(swept(), 2) << "those that were acknowledged: what is called back for is not finished";
  expect_counts_of_finished_right();
  EXPECT_EQ(taken_over(), 0U) << "once";
}

TEST_F(MysqlTakeoverTest, CallbacksAreTakenOverAfterTheyWereCounted) {
  insert_all();
  migrate_to_newest();
  EXPECT_EQ(swept(), 5);
  EXPECT_EQ(taken_over(), 5U);
  EXPECT_THAT(ids(claimed(ledger(), Pipeline::callback)), UnorderedElementsAre(email_id(5), email_id(6), email_id(7)));
  expect_counts_of_finished_right();
}

// Postino accepted them, another program finished them, and Postino has adopted that since.
TEST_F(MysqlTakeoverTest, CallbacksAreTakenOverForWhatPostinoHadAccepted) {
  migrate_to_newest();
  for (int i = 1; i <= 3; ++i)
    ASSERT_TRUE(ledger().accept({accepted(new_email(email_id(i)), clock_.now())}, std::nullopt,
                                [](const auto&) { return ""; }));
  const auto finish = [&](int number, const std::string& status, const std::string& reason) {
    run("UPDATE emails SET status = '" + status + "', reason = '" + reason + "', version = version + 1 WHERE id = '" +
        email_id(number) + "'");
  };
  finish(1, "SENT", "250 ok");
  finish(2, "FAILED", "dial tcp 10.1.2.3:25: i/o timeout");
  EXPECT_THAT(claimed(ledger(), Pipeline::callback), IsEmpty()) << "it is the other program that calls back";
  finish(3, "SENT-ACKNOWLEDGED", "");
  EXPECT_FALSE(is_partly_sent(**ledger().find(email_id(3)))) << "shown as it would be adopted";
  finish(3, "SENT", "");
  expect_adopted(1);
  EXPECT_EQ(taken_over(), 3U);
  EXPECT_EQ(taken_over(), 0U) << "once";
  process_.reset();  // the next server
  const std::vector<Email> calling = claimed(ledger(), Pipeline::callback);
  EXPECT_THAT(ids(calling), UnorderedElementsAre(email_id(1), email_id(2), email_id(3)));
  for (const Email& email : calling) {
    EXPECT_FALSE(email.recipients.empty());
    EXPECT_FALSE(is_partly_sent(email)) << email.id;
    EXPECT_EQ(public_reason(email), email.id == email_id(1)   ? "250 ok"
                                    : email.id == email_id(2) ? "internal error"
                                                              : "");
    EXPECT_EQ(email.owner, "worker");
  }
  EXPECT_EQ((*ledger().counts(std::nullopt))[index_of(State::calling_sent)], 2);
  EXPECT_EQ((*ledger().counts(std::nullopt))[index_of(State::calling_failed)], 1);
}

TEST_F(MysqlTakeoverTest, WhatItWasCallingBackForIsTakenOverAtOnceWhenToldSo) {
  insert_all();
  migrate_to_newest();
  run("UPDATE emails SET updated_at = NOW()");
  EXPECT_THAT(*ledger().find_ended_leases(clock_.now(), 100), IsEmpty()) << "it may still be at them";
  EXPECT_EQ(taken_over(), 5U);
  EXPECT_THAT(ids(*ledger().find_ended_leases(clock_.now(), 100)), UnorderedElementsAre(email_id(8), email_id(9)));
}

TEST_F(MysqlTakeoverTest, WhatWasMovedBehindPostinosBackIsCountedAnew) {
  migrate_to_newest();
  ASSERT_TRUE(ledger().accept(
      {accepted(new_email(email_id(1), "acme"), clock_.now()), accepted(new_email(email_id(2)), clock_.now())},
      std::nullopt, [](const auto&) { return ""; }));
  run("UPDATE emails SET status = 'SENT-ACKNOWLEDGED', version = version + 1 WHERE id = '" + email_id(1) + "'");
  repeat_migration();
  EXPECT_EQ(swept(), 1);
  expect_counts_of_finished_right();
  EXPECT_EQ((*ledger().counts("acme"))[index_of(State::sent_acknowledged)], 1);
  EXPECT_EQ((*ledger().counts("acme"))[index_of(State::accepted)], 0);
  EXPECT_EQ((*ledger().counts(std::nullopt))[index_of(State::accepted)], 1);
  EXPECT_EQ(query("SELECT COUNT(*) FROM emails WHERE expires_ms IS NOT NULL")[0].number(0), 1);
}

TEST_F(MysqlTakeoverTest, ASecondRunChangesNothing) {
  insert_all();
  migrate_to_newest();
  EXPECT_EQ(swept(), 5);
  const std::string everything =
      "SELECT GROUP_CONCAT(id, COALESCE(due_ms, 0), COALESCE(expires_ms, 0), COALESCE(ledger_status, '') ORDER BY id)"
      " FROM emails";
  const auto before = query(everything);
  repeat_migration();
  EXPECT_EQ(query(everything)[0].text(0), before[0].text(0));
  expect_counts_of_finished_right();
}

}  // namespace
}  // namespace postino::outbox
