// The schema: other programs find their tables and their statements as they were, and migrations can be interrupted.
#include "outbox/mysql_ledger/mysql_schema.h"

#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <map>
#include <thread>

#include "base/many_threads_testing.h"
#include "mysql_outbox.h"
#include "outbox/mysql_ledger/mysql_migration.h"
#include "outbox/work/intake.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// As another program's documentation has it.
const std::string their_update = R"(UPDATE emails
SET status = ?, reason = ?, version = version + 1
WHERE id = ? AND status = ?)";
const std::string their_select = R"(SELECT id, status, eml_file_path, payload_file_path, reason, version, updated_at
FROM emails
WHERE status = ?
ORDER BY updated_at ASC
LIMIT ?
FOR UPDATE SKIP LOCKED)";

// A database, and a connection to it as another program would have it.
class Tables {
 public:
  const mysql::ServerOptions& server() const { return server_; }
  mysql::Connection& connection() { return *connection_; }

  void run(const std::string& sql) {
    const auto done = connection_->run(sql);
    ASSERT_TRUE(done) << sql << ": " << done.error().message;
  }
  mysql::Rows query(const std::string& sql, std::initializer_list<mysql::Parameter> parameters = {}) {
    auto rows = connection_->query(sql, parameters);
    EXPECT_TRUE(rows) << sql << ": " << rows.error().message;
    return rows ? *std::move(rows) : mysql::Rows();
  }
  std::string created_by(const std::string& table) {
    return std::string(query("SHOW CREATE TABLE " + table)[0].text(1));
  }
  // Everything the catalogue says about the columns of a table, by name.
  std::map<std::string, std::vector<std::string>> columns(const std::string& table) {
    std::map<std::string, std::vector<std::string>> result;
    for (const mysql::Row row :
         query("SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COALESCE(COLUMN_DEFAULT, 'none'), EXTRA,"
               " COALESCE(COLLATION_NAME, '') FROM INFORMATION_SCHEMA.COLUMNS"
               " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?",
               {table}))
      for (std::size_t i = 1; i < 6; ++i) result[std::string(row.text(0))].emplace_back(row.text(i));
    return result;
  }

 private:
  const mysql::ServerOptions server_ = mysql::MariadbServer::shared().new_database();
  const std::unique_ptr<mysql::Connection> connection_ = *mysql::Connection::open(server_);
};

std::vector<int> migrated(const mysql::ServerOptions& server, int up_to = 0) {
  const auto done = migrate(server, {.program_version = "1.2.3", .up_to = up_to});
  EXPECT_TRUE(done) << done.error().message;
  std::vector<int> numbers;
  if (done)
    for (const DoneMigration& each : *done) numbers.push_back(each.number);
  return numbers;
}

TEST(MysqlSchema, TheFirstMigrationMakesTheTablesThatOtherProgramsMake) {
  Tables theirs;
  theirs.run(emails_table);
  theirs.run(statuses_table);
  Tables ours;
  EXPECT_THAT(migrated(ours.server(), 1), ElementsAre(1));
  for (const char* table : {"emails", "email_statuses"}) {
    EXPECT_EQ(ours.created_by(table), theirs.created_by(table));
    EXPECT_EQ(ours.columns(table), theirs.columns(table));
  }
}

TEST(MysqlSchema, LaterMigrationsAddWhatOthersNeedNotKnow) {
  Tables theirs;
  theirs.run(emails_table);
  theirs.run(statuses_table);
  Tables ours;
  EXPECT_THAT(migrated(ours.server()), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  for (const char* table : {"emails", "email_statuses"}) {
    const auto columns = ours.columns(table);
    for (const auto& [name, before] : theirs.columns(table)) {
      std::vector<std::string> after = columns.at(name);
      if (name == "status" && std::string(table) == "emails") {
        // Further values come after theirs.
        const std::string known = before[0].substr(0, before[0].size() - 1);
        EXPECT_THAT(after[0], StartsWith(known));
        after[0] = before[0];
      }
      EXPECT_EQ(after, before) << table << "." << name;
    }
    for (const auto& [name, after] : columns) {
      if (theirs.columns(table).contains(name)) continue;
      EXPECT_TRUE(after[1] == "YES" || after[2] != "none" || after[3].find("GENERATED") != std::string::npos)
          << table << "." << name << " must have a default";
    }
    const std::string before = theirs.created_by(table);
    const std::string after = ours.created_by(table);
    for (const char* key :
         {"PRIMARY KEY (`id`)", "KEY `idx_status` (`status`)", "KEY `idx_status_updated` (`status`,`updated_at`)",
          "KEY `idx_email_id` (`email_id`)", "FOREIGN KEY (`email_id`) REFERENCES `emails` (`id`) ON DELETE CASCADE"})
      EXPECT_TRUE(before.find(key) == std::string::npos || after.find(key) != std::string::npos) << key;
  }
  for (const State state : all_states()) {
    const std::string name(name_of(state));
    ours.run("INSERT INTO emails (id, status) VALUES ('" + name + "', '" + name + "')");
    EXPECT_EQ(ours.query("SELECT status FROM emails WHERE id = ?", {name})[0].text(0), name);
  }
}

TEST(MysqlMigration, DoesWhatIsMissingAndWritesItDown) {
  Tables tables;
  EXPECT_EQ(*pending_migrations(tables.server()), 7);
  EXPECT_THAT(migrated(tables.server(), 2), ElementsAre(1, 2));
  EXPECT_EQ(*pending_migrations(tables.server()), 5);
  EXPECT_THAT(migrated(tables.server()), ElementsAre(3, 4, 5, 6, 7));
  EXPECT_EQ(*pending_migrations(tables.server()), 0);
  EXPECT_THAT(migrated(tables.server()), IsEmpty());
  const mysql::Rows rows = tables.query(
      "SELECT number, name, program_version, TIMESTAMPDIFF(MINUTE, done_at, NOW()) FROM postino_migrations"
      " ORDER BY number");
  ASSERT_EQ(rows.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(rows[i].number(0), static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(rows[i].text(1), mysql_migrations()[i].name);
    EXPECT_EQ(rows[i].text(2), "1.2.3");
    EXPECT_LE(rows[i].number(3), 5);
  }
}

TEST(MysqlMigration, TakesOverTheTablesOfAnotherProgramWithTheirRows) {
  Tables tables;
  tables.run(emails_table);
  tables.run(statuses_table);
  tables.run(
      "INSERT INTO emails (id, status, payload_file_path, created_at, updated_at) VALUES"
      " ('a', 'ACCEPTED', 'a.json', '2026-01-02 03:04:05', '2026-01-02 03:04:06'),"
      " ('b', 'SENT', 'b.json', '2026-01-02 03:04:07', '2026-01-02 03:04:08')");
  tables.run("INSERT INTO email_statuses (email_id, status) VALUES ('a', 'ACCEPTED')");
  EXPECT_THAT(migrated(tables.server()), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  const mysql::Rows rows = tables.query(
      "SELECT id, status, payload_file_path, version, UNIX_TIMESTAMP(updated_at), created_ms, due_ms IS NULL"
      " FROM emails ORDER BY id");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].text(1), "ACCEPTED");
  EXPECT_EQ(rows[0].text(2), "a.json");
  EXPECT_EQ(rows[0].number(3), 1);
  EXPECT_EQ(rows[0].number(4), base::epoch_seconds(test_start) + 1);
  EXPECT_EQ(rows[0].number(5), base::epoch_milliseconds(test_start));
  EXPECT_EQ(rows[0].number(6), 0) << "it waits for work";
  EXPECT_EQ(rows[1].number(6), 1) << "it does not";
  EXPECT_EQ(tables.query("SELECT COUNT(*) FROM email_statuses")[0].number(0), 1);
}

// Tables of another program, with rows that it had brought to an end, or was calling back for.
class TakenOverTest : public testing::Test {
 protected:
  static constexpr std::array<State, 7> states = {
      State::sent,         State::failed,        State::invalid, State::sent_acknowledged, State::failed_acknowledged,
      State::calling_sent, State::calling_failed};
  TakenOverTest() {
    tables_.run(emails_table);
    tables_.run(statuses_table);
    for (std::size_t i = 0; i < states.size(); ++i)
      tables_.run("INSERT INTO emails (id, status, version, created_at, updated_at) VALUES ('" +
                  email_id(static_cast<int>(i)) + "', '" + std::string(name_of(states[i])) +
                  "', 3, '2026-01-02 03:04:05', '2026-01-02 03:04:06')");
    migrated(tables_.server());
    process_ = std::make_unique<MysqlProcess>(tables_.server(), "", clock_, 1, policy_, 8, [](base::Milliseconds) {});
  }
  void sweep() {
    while (process_->ledger().sweep(100).value_or(0) > 0) continue;
  }
  std::int64_t counted(State state) {
    return (*process_->ledger().counts(std::nullopt))[static_cast<std::size_t>(state)];
  }
  std::int64_t number(const std::string& sql) { return tables_.query(sql)[0].number(0); }

  Tables tables_;
  base::ManualClock clock_{test_start + hours(1)};
  const Policy policy_ = [] {
    Policy policy;
    policy.default_callback_url = "https://example.com/hook";
    return policy;
  }();
  std::unique_ptr<MysqlProcess> process_;
};

TEST_F(TakenOverTest, WhatWasFinishedIsCountedAndExpires) {
  sweep();
  EXPECT_EQ(number("SELECT COUNT(*) FROM emails"), 7);
  for (const State state :
       {State::sent, State::failed, State::invalid, State::sent_acknowledged, State::failed_acknowledged})
    EXPECT_EQ(counted(state), 1) << name_of(state);
  const auto sent = process_->ledger().find(email_id(0));
  ASSERT_TRUE(sent && *sent);
  EXPECT_EQ((*sent)->updated_at, test_start + seconds(1));
  EXPECT_THAT(process_->ledger().claim(Pipeline::callback, 10, "w")->emails, IsEmpty()) << "they are the other's";
  clock_.advance(policy_.keep - hours(2));
  sweep();
  EXPECT_EQ(number("SELECT COUNT(*) FROM emails"), 7);
  clock_.advance(hours(2));
  sweep();
  EXPECT_EQ(number("SELECT COUNT(*) FROM emails"), 2) << "they are kept as long as all others";
  EXPECT_EQ(counted(State::sent), 0);
  EXPECT_EQ(counted(State::failed_acknowledged), 0);
}

TEST_F(TakenOverTest, WhatItWasCallingBackForIsTakenOverWhenItMustBeGone) {
  EXPECT_THAT(*process_->ledger().find_ended_leases(test_start + minutes(10), 10), IsEmpty());
  // The moment of the migration is the server's.
  const base::TimePoint later = base::SystemClock().now() + hours(1);
  EXPECT_THAT(*process_->ledger().find_ended_leases(later, 10), SizeIs(2));
}

TEST_F(TakenOverTest, CallbacksAreTakenOverWhenItIsSaid) {
  EXPECT_EQ(take_over_callbacks(tables_.server()).value_or(0), 5U);
  EXPECT_EQ(take_over_callbacks(tables_.server()).value_or(9), 0U) << "again";
  clock_.advance(base::SystemClock().now() - clock_.now() + minutes(1));
  sweep();
  const auto claimed = process_->ledger().claim(Pipeline::callback, 10, "w");
  ASSERT_TRUE(claimed);
  EXPECT_THAT(claimed->emails, SizeIs(3));
  EXPECT_EQ(counted(State::calling_sent), 2) << "and the one that the other program was calling back for";
  EXPECT_EQ(counted(State::sent), 0);
}

// The server may stop after any statement; what was done so far is there, and the record of it is not.
TEST(MysqlMigration, CanBeRepeatedAfterItWasBrokenOffAnywhere) {
  Tables whole;
  migrated(whole.server());
  const std::vector<std::vector<std::string>> losses = {
      {},
      {"ALTER TABLE email_statuses DROP COLUMN version, DROP COLUMN transition"},
      {"ALTER TABLE emails DROP INDEX idx_work, DROP INDEX idx_expires, DROP COLUMN owner"},
      {"DROP TABLE email_spool", "DROP TABLE email_accept_keys"},
      {"DROP TABLE idempotency_answers"},
      {"ALTER TABLE emails DROP COLUMN begun_again_ms"},
  };
  for (const auto& loss : losses) {
    Tables tables;
    migrated(tables.server());
    for (const std::string& sql : loss) tables.run(sql);
    tables.run("DELETE FROM postino_migrations WHERE number > 1");
    EXPECT_THAT(migrated(tables.server()), ElementsAre(2, 3, 4, 5, 6, 7));
    for (const char* table : {"emails", "email_statuses", "email_counts", "email_spool", "email_accept_keys",
                              "idempotency_records", "idempotency_answers"}) {
      EXPECT_EQ(tables.columns(table), whole.columns(table));
      const std::string indexes =
          "SELECT GROUP_CONCAT(INDEX_NAME, ' ', SEQ_IN_INDEX, ' ', COLUMN_NAME ORDER BY 1 SEPARATOR '\\n')"
          " FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?";
      EXPECT_EQ(tables.query(indexes, {table})[0].text(0), whole.query(indexes, {table})[0].text(0));
    }
  }
}

TEST(MysqlMigration, ConcurrentProgramsDoEachOnce) {
  Tables tables;
  std::vector<std::thread> programs;
  std::mutex mutex;
  std::vector<int> done;
  for (int i = 0; i < 4; ++i)
    programs.emplace_back([&] {
      const std::vector<int> mine = migrated(tables.server());
      const std::lock_guard lock(mutex);
      done.insert(done.end(), mine.begin(), mine.end());
    });
  for (std::thread& program : programs) program.join();
  EXPECT_THAT(done, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(tables.query("SELECT COUNT(*) FROM postino_migrations")[0].number(0), 7);
}

TEST(MysqlMigration, GivesUpWhenAnotherProgramDoesNotEnd) {
  Tables tables;
  ASSERT_EQ(tables.query("SELECT GET_LOCK(CONCAT('postino migrate ', SHA1(DATABASE())), 0)")[0].number(0), 1);
  const auto refused = migrate(tables.server(), {.program_version = "1", .wait = milliseconds(0)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("another program"));
  EXPECT_EQ(*pending_migrations(tables.server()), 7);
}

TEST(MysqlMigration, ANewerDatabaseIsRefused) {
  Tables tables;
  migrated(tables.server());
  tables.run("INSERT INTO postino_migrations (number, name, program_version) VALUES (8, 'of the future', '9.9')");
  const auto pending = pending_migrations(tables.server());
  ASSERT_FALSE(pending);
  EXPECT_EQ(pending.error().code, base::ErrorCode::conflict);
  EXPECT_THAT(pending.error().message,
              HasSubstr("the database is at migration 8, but this version of Postino supports only 7"));
  EXPECT_EQ(migrate(tables.server(), {}).error().code, base::ErrorCode::conflict);
}

// Another program works on the same tables. Its moments are the server's, so the clock begins a little later.
class OtherProgramTest : public testing::Test {
 protected:
  // As it accepts an e-mail: the payload in a file, a row, a line of history.
  void insert(const std::string& id, const std::string& status = "ACCEPTED", bool absolute = false) {
    std::string path = "2026/11/" + id + ".json";
    std::filesystem::create_directories(outbox_.spool_directory() / "2026/11");
    std::ofstream(outbox_.spool_directory() / path)
        << R"({"id":")" << id << R"(","from":"Ann <ann@example.com>","to":["bob@example.com","cid@example.com"],)"
        << R"("bcc":"dan@example.com","subject":"s","body_text":"b","callback_url":"https://example.com/hook","tags":["t"]})";
    if (absolute) path = (outbox_.spool_directory() / path).string();
    outbox_.execute("INSERT INTO emails (id, status, payload_file_path) VALUES (?, ?, ?)", {id, status, path});
    outbox_.execute("INSERT INTO email_statuses (email_id, status) VALUES (?, ?)", {id, status});
  }
  std::uint64_t update(const std::string& id, const std::string& from, const std::string& to) {
    const std::uint64_t changed = outbox_.execute(their_update, {to, "", id, from});
    if (changed > 0) outbox_.execute("INSERT INTO email_statuses (email_id, status) VALUES (?, ?)", {id, to});
    return changed;
  }
  Email find(const std::string& id) { return **process_->ledger().find(id); }
  std::vector<std::string> history(const std::string& id) {
    std::vector<std::string> states;
    const auto lines = process_->ledger().history(id);
    for (const HistoryEntry& line : *lines) states.push_back(line.status);
    return states;
  }
  Email moved(Change move) {
    std::vector<Change> moves;
    moves.push_back(std::move(move));
    MoveOutcome outcome = process_->ledger().move(std::move(moves)).front();
    EXPECT_EQ(outcome.status, MoveStatus::done) << outcome.error;
    return std::move(outcome.email);
  }
  std::vector<Email> due(Pipeline pipeline) { return process_->ledger().due(pipeline, 10, {})->emails; }
  std::int64_t counted(State state) {
    return (*process_->ledger().counts(std::nullopt))[static_cast<std::size_t>(state)];
  }

  const std::shared_ptr<base::ManualClock> clock_ =
      std::make_shared<base::ManualClock>(base::SystemClock().now() + minutes(1));
  MysqlOutbox outbox_{SpoolChoice::directory, clock_};
  const std::unique_ptr<MysqlProcess> process_ = outbox_.make_process();
  base::SeededRandom random_{4};
  const Decider decide_;
};

TEST_F(OtherProgramTest, WhatItAcceptsIsTakenUpAndGoesThrough) {
  const std::string id = email_id(1);
  insert(id);
  const std::vector<Email> found = due(Pipeline::intake);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, id);
  EXPECT_EQ(found[0].sender, "ann@example.com");
  EXPECT_THAT(found[0].recipients,
              ElementsAre(Recipient{"bob@example.com", {}, ""}, Recipient{"cid@example.com", {}, ""},
                          Recipient{"dan@example.com", {}, ""}));
  EXPECT_THAT(found[0].tags, ElementsAre("t"));
  EXPECT_EQ(found[0].callback_url, "https://example.com/hook");
  const auto intake = *Intake::create(process_->spool(), nullptr, {});
  MessageRoom room;
  const Email ready = moved(decide_(found[0], intake->work(found[0], room).value(), clock_->now()));
  EXPECT_EQ(ready.state, State::ready);
  const auto sending = process_->ledger().claim(Pipeline::send, 10, "w");
  ASSERT_THAT(sending->emails, SizeIs(1));
  EXPECT_THAT(*process_->spool().read(sending->emails[0].message_path), HasSubstr("Ann <ann@example.com>"));
  const Email sent =
      moved(decide_(sending->emails[0], event::SendingAttempted{{}, delivered(sending->emails[0])}, clock_->now()));
  EXPECT_EQ(sent, find(id));
  EXPECT_THAT(history(id), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING", "SENT"));
  EXPECT_EQ(counted(State::sent), 1);
  EXPECT_EQ(counted(State::accepted), 0);
  EXPECT_THAT(process_->ledger().claim(Pipeline::callback, 10, "w")->emails, SizeIs(1))
      << "it is ours to call back for";
}

TEST_F(OtherProgramTest, AClaimTakesUpWhatItAccepts) {
  for (int i = 0; i < 30; ++i) insert(email_id(i));
  const auto claim = process_->ledger().claim(Pipeline::intake, 100, "w");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_THAT(claim->emails, SizeIs(30));
  for (const Email& email : claim->emails) EXPECT_EQ(email.sender, "ann@example.com");
  EXPECT_EQ(counted(State::intaking), 30);
}

TEST_F(OtherProgramTest, ItsPathsMayBeAbsolute) {
  insert(email_id(1), "ACCEPTED", true);
  const auto found = process_->ledger().due(Pipeline::intake, 10, {});
  ASSERT_THAT(found->emails, SizeIs(1));
  EXPECT_EQ(found->emails[0].sender, "ann@example.com");
  EXPECT_TRUE(process_->spool().read(found->emails[0].payload_path));
}

TEST_F(OtherProgramTest, AMessageThatItHasBuiltIsSent) {
  const std::string id = email_id(1);
  insert(id);
  ASSERT_EQ(update(id, "ACCEPTED", "INTAKING"), 1U);
  const auto path = outbox_.spool_directory() / (id + ".eml");
  std::ofstream(path) << "Subject: theirs\r\n\r\nHello\r\n";
  outbox_.execute("UPDATE emails SET eml_file_path = ? WHERE id = ?", {path.string(), id});
  ASSERT_EQ(update(id, "INTAKING", "READY"), 1U);
  const auto sending = process_->ledger().claim(Pipeline::send, 10, "w");
  ASSERT_TRUE(sending);
  ASSERT_THAT(sending->emails, SizeIs(1));
  EXPECT_THAT(sending->emails[0].recipients, SizeIs(3));
  EXPECT_THAT(*process_->spool().read(sending->emails[0].message_path), HasSubstr("Subject: theirs"));
}

TEST_F(OtherProgramTest, WhatItWasSendingMayHaveBeenSent) {
  insert(email_id(1));
  for (const auto& [from, to] : {std::pair("ACCEPTED", "INTAKING"), {"INTAKING", "READY"}, {"READY", "PROCESSING"}})
    ASSERT_EQ(update(email_id(1), from, to), 1U);
  clock_->advance(minutes(33));
  const std::vector<Email> expired = *process_->ledger().find_ended_leases(clock_->now(), 10);
  ASSERT_THAT(expired, SizeIs(1));
  EXPECT_TRUE(expired[0].outcome_unknown);
}

TEST_F(OtherProgramTest, WhatItWorksOnIsNotRequeuedWhileItMayBeAtIt) {
  insert(email_id(1));
  for (const auto& [from, to] : {std::pair("ACCEPTED", "INTAKING"), {"INTAKING", "READY"}, {"READY", "PROCESSING"}})
    ASSERT_EQ(update(email_id(1), from, to), 1U);
  const Policy& policy = decide_.policy();
  EXPECT_FALSE(decide(find(email_id(1)), event::Requeued{"now"}, policy, clock_->now()));
  clock_->advance(minutes(33));
  const Email requeued = moved(decide_(find(email_id(1)), event::Requeued{"now"}, clock_->now()));
  EXPECT_EQ(requeued.state, State::ready);
  EXPECT_EQ(find(email_id(1)), requeued);
}

TEST_F(OtherProgramTest, APayloadThatIsNoneBecomesInvalid) {
  for (const char* path : {"/etc/passwd", "../escaped.json", "2026/../../escaped.json", ""})
    outbox_.execute("INSERT INTO emails (id, status, payload_file_path) VALUES (UUID(), 'ACCEPTED', ?)", {path});
  const std::vector<Email> found = due(Pipeline::intake);
  ASSERT_THAT(found, SizeIs(4));
  const auto intake = *Intake::create(process_->spool(), nullptr, {});
  for (const Email& email : found) {
    MessageRoom room;
    const Event event = intake->work(email, room).value();
    EXPECT_EQ(moved(decide_(email, event, clock_->now())).state, State::invalid) << email.payload_path;
  }
}

TEST_F(OtherProgramTest, APayloadThatIsNotThereIsAwaited) {
  outbox_.execute("INSERT INTO emails (id, status, payload_file_path) VALUES (UUID(), 'ACCEPTED', 'missing.json')", {});
  const std::vector<Email> found = due(Pipeline::intake);
  ASSERT_THAT(found, SizeIs(1));
  MessageRoom room;
  const Event event = (*Intake::create(process_->spool(), nullptr, {}))->work(found[0], room).value();
  EXPECT_EQ(moved(decide_(found[0], event, clock_->now())).state, State::accepted);
}

TEST_F(OtherProgramTest, APayloadThatFindsNoRoomInMemoryIsReadLater) {
  const std::string id = email_id(1);
  insert(id);
  std::ofstream(outbox_.spool_directory() / ("2026/11/" + id + ".json"))
      << R"({"from":"ann@example.com","to":"bob@example.com","subject":"s","body_text":")" << std::string(1 << 20, 'x')
      << R"("})";
  MessageRoom sending(&process_->memory());
  sending.take_anyway(8 << 20);
  EXPECT_THAT(due(Pipeline::intake), IsEmpty());
  sending = {};
  EXPECT_TRUE(base::eventually([&] { return !due(Pipeline::intake).empty(); }));
  EXPECT_EQ(find(id).sender, "ann@example.com");
}

TEST_F(OtherProgramTest, ItsStatementsWorkOnOurEmails) {
  ASSERT_TRUE(process_->ledger().accept(
      {accepted(new_email(email_id(1)), clock_->now()), accepted(new_email(email_id(2)), clock_->now())}, std::nullopt,
      [](const auto&) { return ""; }));
  const auto other = *mysql::Connection::open(outbox_.server());
  ASSERT_TRUE(other->begin());
  const auto rows = other->query(their_select, {"ACCEPTED", 10});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].text(1), "ACCEPTED");
  EXPECT_EQ((*rows)[0].text(2), "") << "never NULL where they expect text";
  EXPECT_EQ((*rows)[0].text(3), find(std::string((*rows)[0].text(0))).payload_path);
  EXPECT_FALSE((*rows)[0].is_null(2) || (*rows)[0].is_null(4));
  EXPECT_EQ((*rows)[0].number(5), 1);
  EXPECT_THAT(process_->ledger().claim(Pipeline::intake, 10, "w")->emails, IsEmpty())
      << "what it has locked is passed over";
  EXPECT_EQ(*other->execute(their_update, {"INTAKING", "", email_id(1), "ACCEPTED"}), 1U);
  EXPECT_EQ(*other->execute(their_update, {"INTAKING", "", email_id(1), "ACCEPTED"}), 0U) << "lock not acquired";
  EXPECT_TRUE(other->execute("INSERT INTO email_statuses (email_id, status, reason) VALUES (?, ?, ?)",
                             {email_id(1), "INTAKING", ""}));
  ASSERT_TRUE(other->commit());
  EXPECT_EQ(find(email_id(1)).state, State::intaking);
  EXPECT_EQ(find(email_id(1)).version, 2);
  const auto lines = *process_->ledger().history(email_id(1));
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[1].status, "INTAKING");
  EXPECT_EQ(lines[1].version, 2);
}

TEST_F(OtherProgramTest, WhatItWorksOnIsLeftAloneUntilItMustBeGone) {
  insert(email_id(1));
  ASSERT_EQ(update(email_id(1), "ACCEPTED", "INTAKING"), 1U);
  EXPECT_THAT(due(Pipeline::intake), IsEmpty());
  EXPECT_THAT(*process_->ledger().find_ended_leases(clock_->now(), 10), IsEmpty());
  clock_->advance(minutes(28));
  EXPECT_THAT(*process_->ledger().find_ended_leases(clock_->now(), 10), IsEmpty());
  clock_->advance(minutes(5));
  const std::vector<Email> expired = *process_->ledger().find_ended_leases(clock_->now(), 10);
  ASSERT_THAT(expired, SizeIs(1));
  moved(decide_(expired[0], event::LeaseEnded{}, clock_->now()));
  ASSERT_THAT(due(Pipeline::intake), SizeIs(1));
  EXPECT_EQ(due(Pipeline::intake)[0].sender, "ann@example.com");
  EXPECT_THAT(history(email_id(1)), ElementsAre("ACCEPTED", "INTAKING", "ACCEPTED"));
  EXPECT_EQ(counted(State::accepted), 1);
}

TEST_F(OtherProgramTest, WhatItHasSentIsItsOwnToCallBackFor) {
  insert(email_id(1));
  ASSERT_TRUE(process_->ledger().accept({accepted(new_email(email_id(2)), clock_->now())}, std::nullopt,
                                        [](const auto&) { return ""; }));
  EXPECT_EQ(counted(State::accepted), 1);
  for (const std::string& id : {email_id(1), email_id(2)}) {
    ASSERT_EQ(update(id, "ACCEPTED", "INTAKING"), 1U);
    ASSERT_EQ(update(id, "INTAKING", "READY"), 1U);
    ASSERT_EQ(update(id, "READY", "PROCESSING"), 1U);
    ASSERT_EQ(update(id, "PROCESSING", "SENT"), 1U);
  }
  EXPECT_THAT(process_->ledger().claim(Pipeline::callback, 10, "w")->emails, IsEmpty());
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM emails WHERE due_ms IS NOT NULL"), 0)
      << "no worker looks at them again";
  EXPECT_EQ(counted(State::sent), 2) << "and they are counted";
  EXPECT_EQ(counted(State::accepted), 0);
  ASSERT_EQ(update(email_id(1), "SENT", "CALLING-SENT-CALLBACK"), 1U);
  EXPECT_EQ(find(email_id(1)).state, State::calling_sent);
}

TEST_F(OtherProgramTest, AnOperatorCanStopWhatItAccepted) {
  insert(email_id(1));
  const Email email = find(email_id(1));
  moved(decide_(email, event::Cancelled{}, clock_->now()));
  EXPECT_EQ(update(email_id(1), "ACCEPTED", "INTAKING"), 0U);
  EXPECT_EQ(counted(State::cancelled), 1);
  EXPECT_EQ(counted(State::accepted), 0) << "it had not been counted";
}

}  // namespace
}  // namespace postino::outbox
