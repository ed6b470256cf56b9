// One connection: what goes in comes out, what fails says so.
#include "mysql/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <string>
#include <thread>

#include "base/many_threads_testing.h"
#include "mariadb_server.h"

namespace postino::mysql {
namespace {

using namespace std::string_literals;
using std::chrono::milliseconds;
using testing::HasSubstr;

std::unique_ptr<Connection> open(const ServerOptions& options) {
  auto connection = Connection::open(options);
  if (!connection) ADD_FAILURE() << connection.error().message;
  return connection ? std::move(*connection) : nullptr;
}

class ConnectionTest : public testing::Test {
 protected:
  void create(const std::string& columns) {
    const auto created = connection_->run("CREATE TABLE t (" + columns + ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4");
    ASSERT_TRUE(created) << created.error().message;
  }
  Rows query(std::string_view sql, std::initializer_list<Parameter> parameters = {}) {
    auto rows = connection_->query(sql, parameters);
    if (!rows) ADD_FAILURE() << sql << ": " << rows.error().message;
    return rows ? std::move(*rows) : Rows();
  }
  std::uint64_t execute(std::string_view sql, std::initializer_list<Parameter> parameters = {}) {
    auto affected = connection_->execute(sql, parameters);
    if (!affected) ADD_FAILURE() << sql << ": " << affected.error().message;
    return affected ? *affected : 0;
  }
  std::string text(std::string_view sql) { return std::string(query(sql)[0].text(0)); }
  std::int64_t number(std::string_view sql) { return query(sql)[0].number(0); }

  const ServerOptions options_ = MariadbServer::shared().new_database();
  std::unique_ptr<Connection> connection_ = open(options_);
};

TEST_F(ConnectionTest, TheSessionIsTheSameEverywhere) {
  const ServerOptions usual;
  ServerOptions options = options_;
  options.statement_timeout = usual.statement_timeout;
  options.lock_timeout = usual.lock_timeout;
  connection_ = open(options);
  EXPECT_EQ(text("SELECT @@time_zone"), "+00:00");
  EXPECT_EQ(text("SELECT @@tx_isolation"), "READ-COMMITTED");
  EXPECT_THAT(text("SELECT @@sql_mode"), HasSubstr("STRICT_ALL_TABLES"));
  EXPECT_EQ(text("SELECT @@character_set_client"), "utf8mb4");
  EXPECT_EQ(text("SELECT @@character_set_connection"), "utf8mb4");
  EXPECT_EQ(text("SELECT @@character_set_results"), "utf8mb4");
  EXPECT_EQ(number("SELECT @@autocommit"), 1);
  EXPECT_EQ(text("SELECT CAST(@@max_statement_time AS DECIMAL(10, 3))"), "10.000");
  EXPECT_EQ(number("SELECT @@innodb_lock_wait_timeout"), 3);
  EXPECT_EQ(number("SELECT @@lock_wait_timeout"), 3);
  EXPECT_EQ(connection_->flavour().product, Product::mariadb);
  EXPECT_EQ(connection_->largest_statement(), 96U << 20);
}

TEST_F(ConnectionTest, NumbersOfEverySizeAreExact) {
  create("a TINYINT, b SMALLINT, c MEDIUMINT, d INT, e BIGINT, f TINYINT UNSIGNED, g INT UNSIGNED, h BOOLEAN, i YEAR");
  EXPECT_EQ(execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    {-128, -32768, -8388608, -2147483648LL, INT64_MIN, 255, 4294967295U, true, 2026}),
            1U);
  const Rows rows = query("SELECT * FROM t");
  ASSERT_EQ(rows.size(), 1U);
  const std::int64_t expected[] = {-128, -32768, -8388608, -2147483648LL, INT64_MIN, 255, 4294967295, 1, 2026};
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(rows[0].number(i), expected[i]) << i;
  EXPECT_EQ(number("SELECT e FROM t WHERE e < 0 AND g > 4294967294"), INT64_MIN);
}

TEST_F(ConnectionTest, WhatIsNoWholeNumberIsText) {
  create(
      "big BIGINT UNSIGNED, exact DECIMAL(20, 4), rough DOUBLE, day DATE, at DATETIME(3), stamp TIMESTAMP, flag "
      "BIT(16)");
  execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)",
          {"18446744073709551615", "1234567890123456.7891", "0.1", "2026-02-28", "2026-01-02 03:04:05.678",
           "2026-01-02 03:04:05", 0x4142});
  const Rows rows = query("SELECT * FROM t");
  const char* expected[] = {"18446744073709551615",    "1234567890123456.7891", "0.1", "2026-02-28",
                            "2026-01-02 03:04:05.678", "2026-01-02 03:04:05",   "AB"};
  for (std::size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(rows[0].text(i), expected[i]) << i;
  execute("UPDATE t SET big = 7");
  EXPECT_EQ(number("SELECT big FROM t"), 7);
  EXPECT_EQ(number("SELECT SUM(big) FROM t"), 7) << "sums are decimals";
}

TEST_F(ConnectionTest, NullIsNeitherZeroNorEmpty) {
  create("id INT PRIMARY KEY, n INT, s VARCHAR(10)");
  execute("INSERT INTO t VALUES (?, ?, ?), (?, ?, ?)", {1, nullptr, std::optional<std::string>(), 2, 0, ""});
  const Rows rows = query("SELECT n, s FROM t ORDER BY id");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].is_null(0) && rows[0].is_null(1));
  EXPECT_EQ(rows[0].number(0), 0);
  EXPECT_EQ(rows[0].text(1), "");
  EXPECT_EQ(rows[0].optional_number(0), std::nullopt);
  EXPECT_EQ(rows[0].optional_text(1), std::nullopt);
  EXPECT_EQ(rows[0].value(0), Value());
  EXPECT_FALSE(rows[1].is_null(0) || rows[1].is_null(1));
  EXPECT_EQ(rows[1].optional_number(0), 0);
  EXPECT_EQ(rows[1].optional_text(1), "");
  EXPECT_EQ(rows[1].value(0), Value(std::int64_t{0}));
  EXPECT_EQ(rows[1].value(1), Value(std::string()));
  EXPECT_EQ(number("SELECT COUNT(*) FROM t WHERE n IS NULL AND s IS NULL"), 1);
  EXPECT_EQ(query("SELECT id FROM t WHERE n = ?", {Value(std::int64_t{0})})[0].number(0), 2);
}

TEST_F(ConnectionTest, BytesComeBackAsTheyWere) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  create("id INT PRIMARY KEY, a VARBINARY(300), b LONGBLOB, c BINARY(16)");
  execute("INSERT INTO t VALUES (1, ?, ?, ?)", {Bytes{all}, Bytes{all}, Bytes{all.substr(240)}});
  const Rows rows = query("SELECT a, b, c FROM t");
  EXPECT_EQ(rows[0].text(0), all);
  EXPECT_EQ(rows[0].text(1), all);
  EXPECT_EQ(rows[0].text(2), all.substr(240));
  EXPECT_EQ(number("SELECT LENGTH(b) FROM t"), 256);
  EXPECT_EQ(query("SELECT id FROM t WHERE c = ?", {Bytes{all.substr(240)}}).size(), 1U);
}

TEST_F(ConnectionTest, TextIsUnicodeAndNothingElse) {
  create("a VARCHAR(20), b TEXT, c ENUM('CALLING-SENT-CALLBACK','SENT')");
  execute("INSERT INTO t VALUES (?, ?, ?)", {"Größe 🐎", "nul\0inside"s, "CALLING-SENT-CALLBACK"});
  const Rows rows = query("SELECT * FROM t");
  EXPECT_EQ(rows[0].text(0), "Größe 🐎");
  EXPECT_EQ(rows[0].text(1), "nul\0inside"s);
  EXPECT_EQ(rows[0].text(2), "CALLING-SENT-CALLBACK");
  EXPECT_EQ(number("SELECT CHAR_LENGTH(a) FROM t"), 7);
  const auto refused = connection_->execute("UPDATE t SET a = ?", {"\xff\xfe"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 1366U) << refused.error().message;
}

TEST_F(ConnectionTest, BigValuesPass) {
  create("id INT PRIMARY KEY, content LONGBLOB");
  std::string big(64 << 20, 'x');
  for (std::size_t i = 0; i < big.size(); i += 997) big[i] = static_cast<char>(i * 31);
  execute("INSERT INTO t VALUES (?, ?)", {1, Bytes{big}});
  execute("INSERT INTO t VALUES (?, ?)", {2, Bytes{"small"}});
  const Rows rows = query("SELECT id, content FROM t ORDER BY id");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].text(1) == big);
  EXPECT_EQ(rows[1].text(1), "small");
  EXPECT_TRUE(connection_->swollen());
}

TEST_F(ConnectionTest, AStatementThatTheServerWouldNotTakeIsNotSent) {
  create("content LONGBLOB");
  const std::string huge(100 << 20, 'x');
  const auto refused = connection_->execute("INSERT INTO t VALUES (?)", {Bytes{huge}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::other);
  EXPECT_THAT(refused.error().message, HasSubstr("max_allowed_packet"));
  EXPECT_FALSE(connection_->broken());
  EXPECT_EQ(number("SELECT COUNT(*) FROM t"), 0);
}

TEST_F(ConnectionTest, ManyRowsArriveInOrder) {
  create("n INT, s VARCHAR(20)");
  execute("INSERT INTO t SELECT seq, CONCAT('row ', seq) FROM seq_1_to_20000");
  const Rows rows = query("SELECT n, s FROM t WHERE n > ? ORDER BY n", {10});
  ASSERT_EQ(rows.size(), 19'990U);
  std::int64_t expected = 10;
  for (const Row row : rows) {
    ASSERT_EQ(row.number(0), ++expected);
    ASSERT_EQ(row.text(1), "row " + std::to_string(expected));
  }
  EXPECT_EQ(query("SELECT n FROM t WHERE n > ?", {20'000}).size(), 0U);
}

TEST_F(ConnectionTest, AStatementMayBothWriteAndAnswer) {
  create("id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(10)");
  EXPECT_EQ(query("INSERT INTO t (s) VALUES (?), (?) RETURNING id", {"a", "b"}).size(), 2U);
  execute("INSERT INTO t (s) VALUES (?) RETURNING id", {"c"});
  EXPECT_EQ(number("SELECT COUNT(*) FROM t"), 3);
}

TEST_F(ConnectionTest, NothingIsCutOrGuessed) {
  create("n TINYINT NOT NULL, s VARCHAR(3), e ENUM('A','B')");
  for (const auto& [sql, code] : {std::pair{"INSERT INTO t VALUES (1, 'long', 'A')", 1406U},
                                  {"INSERT INTO t VALUES (300, 'a', 'A')", 1264U},
                                  {"INSERT INTO t VALUES (1, 'a', 'C')", 1265U},
                                  {"INSERT INTO t (s) VALUES ('a')", 1364U},
                                  {"INSERT INTO t VALUES (1 / 0, 'a', 'A')", 1365U}}) {
    const auto refused = connection_->execute(sql);
    ASSERT_FALSE(refused) << sql;
    EXPECT_EQ(refused.error().code, code) << refused.error().message;
    EXPECT_EQ(refused.error().kind, ErrorKind::other);
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM t"), 0);
}

TEST_F(ConnectionTest, OnlyChangedRowsCount) {
  create("id INT PRIMARY KEY, n INT");
  EXPECT_EQ(execute("INSERT INTO t VALUES (1, 1), (2, 1), (3, 5)"), 3U);
  EXPECT_EQ(execute("UPDATE t SET n = ? WHERE id < ?", {5, 4}), 2U) << "one had it already";
  EXPECT_EQ(execute("UPDATE t SET n = n + 1 WHERE id = ? AND n = ?", {1, 4}), 0U);
  EXPECT_EQ(execute("DELETE FROM t WHERE id >= ?", {2}), 2U);
}

TEST_F(ConnectionTest, TheNumberOfParametersIsChecked) {
  const auto refused = connection_->query("SELECT ? + ?", {1});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("2 placeholders"));
  EXPECT_EQ(query("SELECT ? + ?", {1, 2})[0].number(0), 3);
}

TEST_F(ConnectionTest, AFaultInAStatementIsTheStatementsAlone) {
  const auto refused = connection_->query("SELEKT 1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 1064U);
  EXPECT_EQ(refused.error().kind, ErrorKind::other);
  EXPECT_FALSE(connection_->broken());
  EXPECT_EQ(number("SELECT 1"), 1);
}

TEST_F(ConnectionTest, PreparedStatementsAreKeptUpToANumber) {
  const auto prepared = [&](const char* counter) {
    return query("SELECT variable_value FROM information_schema.session_status WHERE variable_name = ?", {counter})[0]
        .number(0);
  };
  const std::int64_t before = prepared("Com_stmt_prepare");
  for (int i = 0; i < 5; ++i) number("SELECT 1");
  EXPECT_EQ(prepared("Com_stmt_prepare"), before + 1) << "prepared once, executed often";
  for (int i = 0; i < 200; ++i) EXPECT_EQ(number("SELECT " + std::to_string(i)), i);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(number("SELECT " + std::to_string(i)), i);
  EXPECT_GE(prepared("Com_stmt_prepare"), before + 400);
  EXPECT_EQ(prepared("Com_stmt_prepare") - prepared("Com_stmt_close"), 64);
}

TEST_F(ConnectionTest, StatementsFollowAChangedTable) {
  create("id INT PRIMARY KEY, a INT");
  execute("INSERT INTO t VALUES (1, 2)");
  EXPECT_EQ(query("SELECT a FROM t WHERE id = ?", {1})[0].number(0), 2);
  ASSERT_TRUE(connection_->run("ALTER TABLE t ADD COLUMN b INT NOT NULL DEFAULT 9, MODIFY a VARCHAR(10)"));
  EXPECT_EQ(query("SELECT a FROM t WHERE id = ?", {1})[0].number(0), 2);
}

TEST_F(ConnectionTest, ATransactionIsAllOrNothing) {
  create("id INT PRIMARY KEY");
  const auto other = open(options_);
  ASSERT_TRUE(connection_->begin());
  EXPECT_TRUE(connection_->in_transaction());
  execute("INSERT INTO t VALUES (1)");
  EXPECT_EQ((*other->query("SELECT COUNT(*) FROM t"))[0].number(0), 0);
  ASSERT_TRUE(connection_->rollback());
  EXPECT_FALSE(connection_->in_transaction());
  EXPECT_EQ(number("SELECT COUNT(*) FROM t"), 0);

  ASSERT_TRUE(connection_->begin());
  execute("INSERT INTO t VALUES (1)");
  execute("INSERT INTO t VALUES (2)");
  ASSERT_TRUE(connection_->commit());
  EXPECT_FALSE(connection_->in_transaction());
  EXPECT_EQ((*other->query("SELECT COUNT(*) FROM t"))[0].number(0), 2);
}

TEST_F(ConnectionTest, ADuplicateIsToldFromOtherFaultsAndLeavesTheTransactionAlone) {
  create("id INT PRIMARY KEY");
  ASSERT_TRUE(connection_->begin());
  execute("INSERT INTO t VALUES (1)");
  const auto refused = connection_->execute("INSERT INTO t VALUES (?)", {1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::duplicate_key);
  EXPECT_EQ(refused.error().code, 1062U);
  execute("INSERT INTO t VALUES (2)");
  ASSERT_TRUE(connection_->commit());
  EXPECT_EQ(number("SELECT COUNT(*) FROM t"), 2);
}

TEST_F(ConnectionTest, ALockThatIsNotObtainedIsTransient) {
  create("id INT PRIMARY KEY, n INT");
  execute("INSERT INTO t VALUES (1, 0)");
  ASSERT_TRUE(connection_->begin());
  execute("UPDATE t SET n = 1");
  ServerOptions hasty = options_;
  hasty.lock_timeout = milliseconds(1);  // a second: there is nothing shorter
  const auto other = open(hasty);
  const auto refused = other->execute("UPDATE t SET n = 2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::transient);
  EXPECT_EQ(refused.error().code, 1205U);
  EXPECT_FALSE(refused.error().at_commit) << "the server said no";
  EXPECT_FALSE(other->broken());
  ASSERT_TRUE(connection_->commit());
}

// Two transactions, each with a row that the other one wants. One of them is ended by the server.
TEST_F(ConnectionTest, WhatFollowsADeadlockIsNotCommittedByItself) {
  create("id INT PRIMARY KEY, n INT");
  execute("INSERT INTO t VALUES (1, 0), (2, 0)");
  const auto other = open(options_);
  std::latch both_have_one(2);
  const auto cross = [&](Connection& connection, int first, int second) -> Result<std::uint64_t> {
    EXPECT_TRUE(connection.begin());
    EXPECT_TRUE(connection.execute("UPDATE t SET n = n + 1 WHERE id = ?", {first}));
    both_have_one.arrive_and_wait();
    return connection.execute("UPDATE t SET n = n + 1 WHERE id = ?", {second});
  };
  Result<std::uint64_t> theirs;
  std::thread thread([&] {
    theirs = cross(*other, 2, 1);
    if (theirs) {
      EXPECT_TRUE(other->commit());
    }
  });
  const auto ours = cross(*connection_, 1, 2);
  if (ours) {
    EXPECT_TRUE(connection_->commit());
  }
  thread.join();

  ASSERT_NE(ours.has_value(), theirs.has_value());
  Connection& victim = ours ? *other : *connection_;
  const Error error = (ours ? theirs : ours).error();
  EXPECT_EQ(error.kind, ErrorKind::transient);
  EXPECT_EQ(error.code, 1213U);
  // The server has no transaction any more, and would commit each of these.
  const auto later = victim.execute("UPDATE t SET n = 100");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error(), error);
  EXPECT_FALSE(victim.query("SELECT 1"));
  const auto committed = victim.commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error(), error);
  ASSERT_TRUE(victim.rollback());
  EXPECT_EQ((*victim.query("SELECT SUM(n) FROM t"))[0].number(0), 2) << "the other one's";
}

TEST_F(ConnectionTest, AStatementEndsAtItsTimeLimit) {
  // The limit must be long enough for the statements that open the connection, and for the last one.
  EXPECT_TRUE(base::with_enough_time([&](milliseconds limit) {
    ServerOptions hasty = options_;
    hasty.statement_timeout = limit;
    const auto connection = Connection::open(hasty);
    if (!connection) return false;
    const auto refused = (*connection)->query("SELECT COUNT(*) FROM seq_1_to_100000 a, seq_1_to_100000 b");
    EXPECT_FALSE(refused);
    if (refused || refused.error().kind != ErrorKind::time_limit) return false;
    EXPECT_EQ(refused.error().code, 1969U);
    EXPECT_FALSE((*connection)->broken());
    return (*connection)->query("SELECT 1").has_value();
  }));
}

TEST_F(ConnectionTest, AKilledConnectionIsLost) {
  create("id INT PRIMARY KEY");
  const auto other = open(options_);
  const std::int64_t id = (*other->query("SELECT CONNECTION_ID()"))[0].number(0);
  ASSERT_TRUE(connection_->run("KILL " + std::to_string(id)));
  const auto refused = other->execute("INSERT INTO t VALUES (1)");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::lost) << refused.error().code << refused.error().message;
  EXPECT_TRUE(refused.error().at_commit) << "the client cannot know whether it was before or after";
  EXPECT_TRUE(other->broken());
  EXPECT_FALSE(other->ping());
  EXPECT_FALSE(other->execute("INSERT INTO t VALUES (1)").error().at_commit) << "not even sent";
  EXPECT_EQ(other->query("SELECT 1").error().kind, ErrorKind::lost);
  EXPECT_TRUE(connection_->ping());
}

TEST(ErrorKinds, FollowTheNumbers) {
  for (const unsigned code : {1205U, 1213U, 1040U, 1203U}) EXPECT_EQ(kind_of(code), ErrorKind::transient) << code;
  for (const unsigned code : {2002U, 2003U, 2006U, 2013U, 2055U, 1053U, 1927U, 1290U, 1792U, 1836U})
    EXPECT_EQ(kind_of(code), ErrorKind::lost) << code;
  EXPECT_EQ(kind_of(1062), ErrorKind::duplicate_key);
  for (const unsigned code : {3024U, 1969U}) EXPECT_EQ(kind_of(code), ErrorKind::time_limit) << code;
  for (const unsigned code : {1044U, 1045U, 1142U, 1698U}) EXPECT_EQ(kind_of(code), ErrorKind::refused) << code;
  for (const unsigned code : {1064U, 1146U, 1406U, 1452U, 0U}) EXPECT_EQ(kind_of(code), ErrorKind::other) << code;
}

TEST(ErrorKinds, BecomeTheHousesErrors) {
  const auto code_of = [](ErrorKind kind) { return as_error({kind, 1, "m", false}).code; };
  EXPECT_EQ(code_of(ErrorKind::duplicate_key), base::ErrorCode::conflict);
  EXPECT_EQ(code_of(ErrorKind::transient), base::ErrorCode::exhausted);
  EXPECT_EQ(code_of(ErrorKind::lost), base::ErrorCode::io);
  EXPECT_EQ(as_error({ErrorKind::lost, 2013, "gone", false}).message, "database: gone (2013)");
}

TEST(Flavours, AreKnownByTheirVersions) {
  EXPECT_EQ(Flavour::of("10.11.6-MariaDB-0+deb12u1"), (Flavour{Product::mariadb, 10, 11, 6}));
  EXPECT_EQ(Flavour::of("5.5.5-10.6.12-MariaDB-log"), (Flavour{Product::mariadb, 10, 6, 12}));
  EXPECT_EQ(Flavour::of("11.4.2-MariaDB"), (Flavour{Product::mariadb, 11, 4, 2}));
  EXPECT_EQ(Flavour::of("8.0.36"), (Flavour{Product::mysql, 8, 0, 36}));
  EXPECT_EQ(Flavour::of("8.4.0-commercial"), (Flavour{Product::mysql, 8, 4, 0}));
  EXPECT_EQ(Flavour::of("9.1.0")->name(), "MySQL 9.1.0");
  for (const char* old : {"10.5.23-MariaDB", "5.5.5-10.3.39-MariaDB", "5.7.44", "8.0.12", "5.5.5", "", "unknown"}) {
    const auto refused = Flavour::of(old);
    ASSERT_FALSE(refused) << old;
    EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    EXPECT_THAT(refused.error().message, HasSubstr("MariaDB 10.6 or MySQL 8.0.13 is needed"));
  }
}

TEST(Flavours, LimitStatementsInTheirOwnWords) {
  EXPECT_EQ((Flavour{Product::mariadb, 10, 6, 0}.statement_limit(milliseconds(10'050))), "max_statement_time=10.050");
  EXPECT_EQ((Flavour{Product::mysql, 8, 0, 0}.statement_limit(milliseconds(10'050))), "max_execution_time=10050");
}

TEST_F(ConnectionTest, ThreadsThatWaitForAnAnswerCanBeBrokenOff) {
  ServerOptions options = options_;
  options.sockets = std::make_shared<OpenSockets>();
  options.statement_timeout = std::chrono::hours(1);
  const auto waiting = open(options);
  ASSERT_NE(waiting, nullptr);
  const std::int64_t session = waiting->query("SELECT CONNECTION_ID()").value()[0].number(0);
  std::thread end([&] {
    EXPECT_TRUE(base::eventually([&] {
      return number("SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User sleep' AND id = " +
                    std::to_string(session)) == 1;
    }));
    options.sockets->break_off();
  });
  const auto answer = waiting->query("SELECT SLEEP(3600)");
  end.join();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::lost);
  EXPECT_TRUE(waiting->broken());
  EXPECT_FALSE(Connection::open(options)) << "it is too late";
  ASSERT_TRUE(connection_->run("KILL " + std::to_string(session)));
}

}  // namespace
}  // namespace postino::mysql
