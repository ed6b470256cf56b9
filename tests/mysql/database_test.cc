// The pool and the patience: connections that are few, break, and come back.
#include "mysql/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "base/many_threads_testing.h"
#include "lossy_proxy.h"
#include "mariadb_server.h"

namespace postino::mysql {
namespace {

using base::Milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class PoolTest : public testing::Test {
 protected:
  static std::int64_t id_of(const PooledConnection& connection) {
    return connection->query("SELECT CONNECTION_ID()").value()[0].number(0);
  }
  void kill(std::int64_t id) { ASSERT_TRUE(Connection::open(options_).value()->run("KILL " + std::to_string(id))); }

  const ServerOptions options_ = MariadbServer::shared().new_database();
  Statistics statistics_;
};

TEST_F(PoolTest, ConnectionsAreUsedAgain) {
  Pool pool(options_, {}, statistics_);
  const std::int64_t first = id_of(pool.take().value());
  EXPECT_EQ(id_of(pool.take().value()), first);
  const auto one = pool.take();
  const auto two = pool.take();
  EXPECT_NE(id_of(*one), id_of(*two));
  EXPECT_EQ(statistics_.connections(), 2U);
}

TEST_F(PoolTest, ThereAreNeverMoreThanItsSize) {
  Pool pool(options_, {.size = 2, .wait = Milliseconds(1)}, statistics_);
  const auto one = pool.take();
  std::int64_t id = 0;
  {
    const auto two = pool.take();
    id = id_of(*two);
    const auto refused = pool.take();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::exhausted);
    EXPECT_THAT(refused.error().message, HasSubstr("all 2 connections"));
    EXPECT_EQ(statistics_.waits(), 1U);
    EXPECT_EQ(statistics_.vain_waits(), 1U);
  }
  EXPECT_EQ(id_of(pool.take().value()), id);
}

TEST_F(PoolTest, ConcurrentTakersWaitForOneAnother) {
  Pool pool(options_, {.size = 1, .wait = std::chrono::minutes(5)}, statistics_);
  std::thread waiter;
  {
    const auto mine = pool.take();
    waiter = std::thread([&] {
      const auto theirs = pool.take();
      ASSERT_TRUE(theirs) << theirs.error().message;
      EXPECT_TRUE((*theirs)->query("SELECT 1"));
    });
    while (statistics_.waits() == 0) std::this_thread::yield();
  }
  waiter.join();
  EXPECT_EQ(statistics_.connections(), 1U);
  EXPECT_EQ(statistics_.vain_waits(), 0U);
}

TEST_F(PoolTest, APlaceThatCouldNotBeFilledIsFree) {
  ServerOptions nowhere = options_;
  nowhere.socket += ".missing";
  Pool pool(nowhere, {.size = 1, .wait = Milliseconds(1)}, statistics_);
  for (int i = 0; i < 3; ++i) {
    const auto refused = pool.take();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::lost) << refused.error().message;
    EXPECT_EQ(refused.error().code, 2002U);
    EXPECT_THAT(refused.error().message, HasSubstr(nowhere.socket));
  }
}

TEST_F(PoolTest, OneThatBrokeIsReplaced) {
  Pool pool(options_, {.size = 1, .wait = Milliseconds(1)}, statistics_);
  std::int64_t first = 0;
  {
    const auto connection = pool.take();
    first = id_of(*connection);
    kill(first);
    EXPECT_FALSE((*connection)->query("SELECT 1"));
  }
  EXPECT_EQ(statistics_.broken_connections(), 1U);
  EXPECT_NE(id_of(pool.take().value()), first);
}

TEST_F(PoolTest, OneThatWasIdleForLongIsAskedFirst) {
  Pool pool(options_, {.size = 1, .wait = Milliseconds(1), .trusted_for = Milliseconds(0)}, statistics_);
  const std::int64_t first = id_of(pool.take().value());
  EXPECT_EQ(id_of(pool.take().value()), first) << "it lives";
  kill(first);
  EXPECT_NE(id_of(pool.take().value()), first);
  EXPECT_EQ(statistics_.broken_connections(), 1U);
}

TEST_F(PoolTest, OneBrokenConnectionCastsDoubtOnTheOthers) {
  Pool pool(options_, {.trusted_for = std::chrono::hours(1)}, statistics_);
  std::vector<std::int64_t> ids;
  {
    std::vector<PooledConnection> connections;
    for (int i = 0; i < 3; ++i) connections.push_back(pool.take().value());
    for (const PooledConnection& connection : connections) ids.push_back(id_of(connection));
  }
  for (const std::int64_t id : ids) kill(id);
  EXPECT_FALSE(pool.take().value()->query("SELECT 1")) << "trusted";
  EXPECT_TRUE(pool.take().value()->query("SELECT 1"));
  const auto one = pool.take();
  const auto two = pool.take();
  EXPECT_TRUE((*one)->query("SELECT 1") && (*two)->query("SELECT 1"));
}

TEST_F(PoolTest, OneThatHasReadSomethingVeryLargeIsNotKept) {
  Pool pool(options_, {.size = 1}, statistics_);
  std::int64_t first = 0;
  for (const int size : {1 << 20, 17 << 20}) {
    const auto connection = pool.take();
    if (first == 0) first = id_of(*connection);
    EXPECT_EQ(id_of(*connection), first);
    EXPECT_EQ((*connection)->query("SELECT REPEAT('x', ?)", {size})->size(), 1U);
  }
  EXPECT_NE(id_of(pool.take().value()), first);
  EXPECT_EQ(statistics_.broken_connections(), 0U);
}

TEST_F(PoolTest, AnOpenTransactionIsNotHandedOn) {
  Pool pool(options_, {.size = 1}, statistics_);
  ASSERT_TRUE(pool.take().value()->run("CREATE TABLE t (id INT PRIMARY KEY)"));
  {
    const auto connection = pool.take();
    ASSERT_TRUE((*connection)->begin());
    ASSERT_TRUE((*connection)->execute("INSERT INTO t VALUES (1)"));
  }
  const auto connection = pool.take();
  EXPECT_FALSE((*connection)->in_transaction());
  // A locking read waits until the server has noticed that the other one is gone.
  EXPECT_EQ((*connection)->query("SELECT id FROM t FOR UPDATE")->size(), 0U);
}

class DatabaseTest : public testing::Test {
 protected:
  explicit DatabaseTest(ServerOptions options = MariadbServer::shared().new_database()) : options_(std::move(options)) {
    EXPECT_TRUE(run("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB"));
    EXPECT_TRUE(run("INSERT INTO t VALUES (1, 0), (2, 0)"));
  }
  Result<void> run(const std::string& sql) {
    TRY(const auto connection, Connection::open(options_));
    return connection->run(sql);
  }
  std::int64_t number(std::string_view sql) {
    return Connection::open(options_).value()->query(sql).value()[0].number(0);
  }
  static Result<std::uint64_t> add(Connection& connection, int id) {
    return connection.execute("UPDATE t SET n = n + 1 WHERE id = ?", {id});
  }

  const ServerOptions options_;
  base::SeededRandom random_{7};
  std::vector<Milliseconds> slept_;
  std::function<void()> while_sleeping_ = [] {};
  Database database_{options_, {}, random_, [this](Milliseconds time) {
                       slept_.push_back(time);
                       while_sleeping_();
                     }};
};

TEST_F(DatabaseTest, ATransactionIsCommittedWithItsAnswer) {
  const auto answer = database_.transact([&](Connection& connection, const Attempt& attempt) {
    EXPECT_EQ(attempt.number, 1);
    EXPECT_FALSE(attempt.commit_unknown);
    EXPECT_TRUE(connection.in_transaction());
    return add(connection, 1);
  });
  EXPECT_EQ(answer, 1U);
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), 1);
}

TEST_F(DatabaseTest, AnErrorOfTheBodyRollsBackAndIsNotRepeated) {
  int attempts = 0;
  const auto answer = database_.transact([&](Connection& connection, const Attempt&) -> Result<void> {
    ++attempts;
    TRY_VOID(add(connection, 1));
    TRY_VOID(connection.execute("INSERT INTO t VALUES (1, 1)"));
    return {};
  });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::duplicate_key);
  EXPECT_FALSE(answer.error().at_commit);
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), 0);
  EXPECT_EQ(database_.statistics().connections(), 1U);
  EXPECT_EQ(database_.statistics().broken_connections(), 0U) << "the connection is as good as before";
}

TEST_F(DatabaseTest, ConcurrentTransactionsInADeadlockBothSucceed) {
  std::latch both_have_one(2);
  const auto cross = [&](int first, int second) {
    return database_.transact([&, first, second](Connection& connection, const Attempt& attempt) -> Result<void> {
      EXPECT_FALSE(attempt.commit_unknown) << "the server said what happened";
      TRY_VOID(add(connection, first));
      if (attempt.number == 1) both_have_one.arrive_and_wait();
      TRY_VOID(add(connection, second));
      return {};
    });
  };
  Result<void> theirs;
  std::thread thread([&] { theirs = cross(2, 1); });
  const auto ours = cross(1, 2);
  thread.join();
  EXPECT_TRUE(ours && theirs);
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), 2);
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 2"), 2);
  EXPECT_EQ(database_.statistics().deadlocks(), 1U);
  EXPECT_EQ(slept_.size(), 1U);
  std::string metrics;
  database_.statistics().append_to(metrics);
  EXPECT_THAT(metrics, HasSubstr("postino_mysql_retries_total{code=\"1213\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("postino_mysql_deadlocks_total 1\n"));
}

TEST_F(DatabaseTest, ABodyThatLooksAwayFromADeadlockIsRepeatedAllTheSame) {
  std::latch both_have_one(2);
  const auto cross = [&](int first, int second) {
    return database_.transact([&, first, second](Connection& connection, const Attempt& attempt) -> Result<int> {
      static_cast<void>(add(connection, first));
      if (attempt.number == 1) both_have_one.arrive_and_wait();
      static_cast<void>(add(connection, second));
      return 0;
    });
  };
  std::thread thread([&] { EXPECT_TRUE(cross(2, 1)); });
  EXPECT_TRUE(cross(1, 2));
  thread.join();
  EXPECT_EQ(number("SELECT SUM(n) FROM t"), 4);
}

TEST_F(DatabaseTest, EightAttemptsWithGrowingDelays) {
  std::vector<int> attempts;
  const auto answer = database_.transact([&](Connection& connection, const Attempt& attempt) -> Result<void> {
    attempts.push_back(attempt.number);
    TRY_VOID(add(connection, 1));
    return fail(ErrorKind::transient, 1205, "busy");
  });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, 1205U);
  EXPECT_FALSE(answer.error().at_commit);
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  ASSERT_EQ(slept_.size(), 7U);
  const std::int64_t ceilings[] = {30, 60, 120, 240, 480, 960, 1'000};
  for (std::size_t i = 0; i < slept_.size(); ++i) EXPECT_LT(slept_[i], Milliseconds(ceilings[i])) << i;
  EXPECT_GT(slept_[3] + slept_[4] + slept_[5] + slept_[6], Milliseconds(240)) << "not always next to nothing";
  EXPECT_EQ(database_.statistics().repeats(1205), 7U);
  EXPECT_EQ(database_.statistics().surrenders(), 1U);
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), 0);
}

TEST_F(DatabaseTest, WhatCannotSucceedIsTriedOnce) {
  for (const ErrorKind kind : {ErrorKind::other, ErrorKind::refused, ErrorKind::time_limit, ErrorKind::exhausted}) {
    int attempts = 0;
    const auto answer = database_.read([&](Connection&, const Attempt&) -> Result<void> {
      ++attempts;
      return fail(kind, 0, "no");
    });
    EXPECT_FALSE(answer);
    EXPECT_EQ(attempts, 1);
  }
  EXPECT_TRUE(slept_.empty());
}

TEST_F(DatabaseTest, AConnectionLostInTheMiddleIsNoCommit) {
  std::vector<bool> unknown;
  const auto answer = database_.transact([&](Connection& connection, const Attempt& attempt) -> Result<void> {
    unknown.push_back(attempt.commit_unknown);
    TRY_VOID(add(connection, 1));
    if (attempt.number == 1) {
      TRY(const Rows rows, connection.query("SELECT CONNECTION_ID()"));
      EXPECT_TRUE(run("KILL " + std::to_string(rows[0].number(0))));
    }
    TRY_VOID(add(connection, 2));
    return {};
  });
  EXPECT_TRUE(answer);
  EXPECT_THAT(unknown, ElementsAre(false, false));
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), 1);
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 2"), 1);
  EXPECT_EQ(database_.statistics().broken_connections(), 1U);
}

// The commit takes effect and its answer is lost. The body finds what it wrote, and does not write it again.
TEST_F(DatabaseTest, ACommitWithoutAnAnswerIsLookedFor) {
  LossyProxy proxy(options_);
  Database database(proxy.options(), {}, random_, [](Milliseconds) {});
  proxy.lose_answer_to("COMMIT");
  std::vector<bool> unknown;
  const auto answer = database.transact([&](Connection& connection, const Attempt& attempt) -> Result<bool> {
    unknown.push_back(attempt.commit_unknown);
    TRY(const Rows rows, connection.query("SELECT n FROM t WHERE id = 1 FOR UPDATE"));
    if (attempt.commit_unknown && rows[0].number(0) == 1) return false;
    TRY_VOID(add(connection, 1));
    return true;
  });
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(*answer) << "found to have happened";
  EXPECT_EQ(proxy.lost(), 1);
  EXPECT_THAT(unknown, ElementsAre(false, true));
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), 1);
  EXPECT_EQ(database.statistics().repeats(), 1U);
}

// The same, and it did not take effect: the connection is killed before.
TEST_F(DatabaseTest, ACommitThatDidNotArriveIsMadeAgain) {
  std::vector<bool> unknown;
  const auto answer = database_.transact([&](Connection& connection, const Attempt& attempt) -> Result<void> {
    unknown.push_back(attempt.commit_unknown);
    TRY(const Rows rows, connection.query("SELECT CONNECTION_ID()"));
    TRY_VOID(add(connection, 1));
    if (attempt.number == 1) {
      EXPECT_TRUE(run("KILL " + std::to_string(rows[0].number(0))));
    }
    return {};
  });
  EXPECT_TRUE(answer);
  EXPECT_THAT(unknown, ElementsAre(false, true));
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), 1);
}

TEST_F(DatabaseTest, AnOutcomeThatStaysUnknownIsToldToTheCaller) {
  LossyProxy proxy(options_);
  Database database(proxy.options(), {}, random_, [](Milliseconds) {});
  proxy.lose_answer_to("COMMIT");
  const auto answer = database.transact([&](Connection& connection, const Attempt& attempt) -> Result<void> {
    if (attempt.number > 1) return fail(ErrorKind::other, 1, "cannot look");
    TRY_VOID(add(connection, 1));
    return {};
  });
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().at_commit);
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), 1);
}

TEST_F(DatabaseTest, AStatementThatCommitsByItselfIsUnknownToo) {
  LossyProxy proxy(options_);
  Database database(proxy.options(), {}, random_, [](Milliseconds) {});
  std::vector<bool> unknown;
  const auto answer = database.read([&](Connection& connection, const Attempt& attempt) -> Result<void> {
    unknown.push_back(attempt.commit_unknown);
    if (attempt.number == 1) proxy.lose_answer_to("UPDATE t SET");
    TRY_VOID(connection.run("UPDATE t SET n = 5"));
    return {};
  });
  EXPECT_TRUE(answer);
  EXPECT_THAT(unknown, ElementsAre(false, true));
}

TEST_F(DatabaseTest, ConcurrentTransactionsLoseNothing) {
  constexpr int threads = 8, rounds = 50;
  Database database(options_, {.size = 4, .wait = std::chrono::minutes(5)}, random_, [](Milliseconds) {});
  std::atomic<int> done = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      for (int round = 0; round < rounds; ++round) {
        const int first = 1 + (i + round) % 2;
        const auto answer = database.transact([&](Connection& connection, const Attempt&) -> Result<void> {
          TRY_VOID(add(connection, first));
          TRY_VOID(add(connection, 3 - first));
          return {};
        });
        if (answer) ++done;
      }
    });
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 1"), done);
  EXPECT_EQ(number("SELECT n FROM t WHERE id = 2"), done);
  EXPECT_EQ(static_cast<std::uint64_t>(threads * rounds - done), database.statistics().surrenders());
  EXPECT_LE(database.statistics().connections(), 4U);
  std::cout << "deadlocks: " << database.statistics().deadlocks() << ", given up: " << threads * rounds - done << "\n";
}

// A server of its own, which comes to harm.
class LostServerTest : public testing::Test {
 protected:
  static MariadbServer& server() {
    static MariadbServer server({.tcp = true, .arguments = {}});
    return server;
  }
  LostServerTest() {
    options_.lock_timeout = Milliseconds(1'000);
    const auto connection = Connection::open(options_);
    EXPECT_TRUE((*connection)->run("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, token CHAR(8) UNIQUE)"));
  }
  ~LostServerTest() override {
    if (!server().running()) server().start();
  }
  std::int64_t count() {
    return Connection::open(options_).value()->query("SELECT COUNT(*) FROM t").value()[0].number(0);
  }

  ServerOptions options_ = server().new_database();
  base::SeededRandom random_{7};
};

TEST_F(LostServerTest, ARestartCostsOneRepetitionHoweverManyConnectionsThereWere) {
  int slept = 0;
  Database database(options_, {.trusted_for = std::chrono::hours(1)}, random_, [&](Milliseconds) { ++slept; });
  {
    std::latch all(5);
    std::vector<std::thread> workers;
    for (int i = 0; i < 5; ++i)
      workers.emplace_back([&] {
        EXPECT_TRUE(database.read([&](Connection& connection, const Attempt&) {
          all.arrive_and_wait();
          return connection.query("SELECT 1");
        }));
      });
    for (std::thread& worker : workers) worker.join();
  }
  ASSERT_EQ(database.statistics().connections(), 5U);
  server().kill();
  server().start();
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(database.transact([](Connection& connection, const Attempt&) {
      return connection.execute("INSERT INTO t VALUES (DEFAULT, NULL)");
    }));
  EXPECT_EQ(slept, 1);
  EXPECT_EQ(count(), 5);
}

TEST_F(LostServerTest, ATransactionSurvivesTheServersDeath) {
  int slept = 0;
  Database database(options_, {}, random_, [&](Milliseconds) {
    if (++slept == 3) server().start();
  });
  int attempts = 0;
  const auto answer = database.transact([&](Connection& connection, const Attempt& attempt) -> Result<void> {
    ++attempts;
    EXPECT_FALSE(attempt.commit_unknown);
    TRY_VOID(connection.execute("INSERT INTO t VALUES (DEFAULT, ?)", {"a"}));
    if (attempts == 1) server().kill();
    TRY_VOID(connection.execute("INSERT INTO t VALUES (DEFAULT, ?)", {"b"}));
    return {};
  });
  EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(attempts, 2) << "without a connection there is nothing to attempt";
  EXPECT_EQ(slept, 3);
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(database.statistics().repeats(2002), 2U) << "no server there";
}

TEST_F(LostServerTest, WhenTimeIsUpNobodyWaitsForIt) {
  int slept = 0;
  Database database(options_, {}, random_, [&](Milliseconds) {
    // In the middle of the repeats.
    if (++slept == 2) database.give_up_at(std::chrono::steady_clock::now());
  });
  const auto ask = [&] {
    return database.read([](Connection& connection, const Attempt&) { return connection.query("SELECT 1"); });
  };
  server().kill();
  EXPECT_FALSE(ask());
  EXPECT_EQ(slept, 2);
  EXPECT_FALSE(ask());
  EXPECT_EQ(slept, 2);
  server().start();
  EXPECT_TRUE(ask()) << "once is enough when it is there";
}

TEST_F(LostServerTest, AnOrderlyStopIsALossToo) {
  const auto connection = Connection::open(options_);
  server().stop();
  const auto refused = (*connection)->execute("INSERT INTO t VALUES (DEFAULT, NULL)");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::lost) << refused.error().code;
  const auto nobody = Connection::open(options_);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().kind, ErrorKind::lost);
  server().start();
  const auto nobody_there = Connection::open([&] {
    ServerOptions options = server().tcp_options();
    options.port = 1;
    return options;
  }());
  ASSERT_FALSE(nobody_there);
  EXPECT_EQ(nobody_there.error().kind, ErrorKind::lost) << nobody_there.error().code;
  EXPECT_THAT(nobody_there.error().message, HasSubstr("127.0.0.1:1"));
}

TEST_F(LostServerTest, ASilentServerIsNotWaitedForWithoutEnd) {
  std::unique_ptr<Connection> connection;
  ASSERT_TRUE(base::with_enough_time([&](Milliseconds limit) {
    options_.statement_timeout = options_.connect_timeout = limit;
    if (auto opened = Connection::open(options_)) connection = *std::move(opened);
    return connection != nullptr;
  }));
  server().freeze();
  const auto lost = connection->query("SELECT 1");
  const auto unopened = Connection::open(options_);
  server().thaw();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::lost) << lost.error().code;
  EXPECT_TRUE(connection->broken());
  ASSERT_FALSE(unopened);
  EXPECT_EQ(unopened.error().kind, ErrorKind::lost) << unopened.error().code;
}

TEST_F(LostServerTest, AFrozenServerKeepsAFewCallersWaitingAndNobodyTwice) {
  const auto ask = [](Connection& connection, const Attempt&) { return connection.query("SELECT 1"); };
  std::unique_ptr<Database> database;
  ASSERT_TRUE(base::with_enough_time([&](Milliseconds limit) {
    options_.statement_timeout = options_.connect_timeout = limit;
    database = std::make_unique<Database>(options_, PoolOptions{}, random_, [](Milliseconds) {});
    // Three connections that rest.
    return database
        ->read([&](Connection&, const Attempt&) {
          return database->read([&](Connection&, const Attempt&) { return database->read(ask); });
        })
        .has_value();
  }));
  const std::uint64_t broken_before = database->statistics().broken_connections();
  server().freeze();
  const auto first = database->read(ask);
  const auto second = database->read(ask);
  server().thaw();
  ASSERT_FALSE(first);
  EXPECT_EQ(database->statistics().broken_connections(), broken_before + 1)
      << "connections that rested are not asked one after another, as each takes long";
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::silent) << "whoever comes now is told at once";
  EXPECT_TRUE(base::eventually([&] { return database->read(ask).has_value(); })) << "it goes on by itself";
}

TEST_F(LostServerTest, WithoutTlsAtTheServerWhoRequiresItIsRefused) {
  ServerOptions options = server().tcp_options();
  for (const TlsMode mode : {TlsMode::required, TlsMode::verified}) {
    options.tls.mode = mode;
    const auto refused = Connection::open(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::refused) << refused.error().code;
    EXPECT_THAT(refused.error().message, HasSubstr("required"));
  }
  options.tls.mode = TlsMode::preferred;
  EXPECT_TRUE(Connection::open(options));
}

}  // namespace
}  // namespace postino::mysql
