// Servers of one database know of each other, by locks that they hold there.
#include "app/server/server_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/many_threads_testing.h"
#include "mariadb_server.h"

namespace postino::app {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Optional;

class ServerLockTest : public testing::Test {
 protected:
  std::unique_ptr<ServerLock> take(Sharing sharing) {
    auto lock = ServerLock::take(server_, sharing, base::test_patience);
    EXPECT_TRUE(lock) << lock.error().message;
    return lock ? *std::move(lock) : nullptr;
  }
  void expect_refused(Sharing sharing) {
    const auto lock = ServerLock::take(server_, sharing, seconds(0));
    ASSERT_FALSE(lock);
    EXPECT_THAT(lock.error().message, HasSubstr("another server uses database " + server_.database));
    EXPECT_THAT(lock.error().message, HasSubstr("--several-servers"));
  }
  // As an administrator or a failing network does it to all connections of the database.
  void kill_connections() {
    const auto rows =
        observer_->query("SELECT ID FROM INFORMATION_SCHEMA.PROCESSLIST WHERE DB = ?", {server_.database});
    ASSERT_TRUE(rows);
    for (const mysql::Row row : *rows) ASSERT_TRUE(observer_->run("KILL " + std::to_string(row.number(0))));
    EXPECT_TRUE(base::eventually([&] {
      return (*observer_->query("SELECT COUNT(*) FROM INFORMATION_SCHEMA.PROCESSLIST WHERE DB = ?",
                                {server_.database}))[0]
                 .number(0) == 0;
    }));
  }
  // Each time it is called, so much later that the lock looks.
  void keep(ServerLock& lock) { lock.keep(now_ += seconds(60)); }

  const mysql::ServerOptions server_ = mysql::MariadbServer::shared().new_database();
  const std::unique_ptr<mysql::Connection> observer_ =
      *mysql::Connection::open(mysql::MariadbServer::shared().options());
  ServerLock::Instant now_ = std::chrono::steady_clock::now();
};

TEST_F(ServerLockTest, OneThatIsAloneRefusesAllOthers) {
  const auto first = take(Sharing::alone);
  expect_refused(Sharing::alone);
  expect_refused(Sharing::several);
  keep(*first);
  EXPECT_EQ(first->problem(), std::nullopt);
}

TEST_F(ServerLockTest, SeveralThatWereToldShareAndRefuseOneThatWasNot) {
  const auto first = take(Sharing::several);
  const auto second = take(Sharing::several);
  expect_refused(Sharing::alone);
  keep(*first);
  keep(*second);
  EXPECT_EQ(first->problem(), std::nullopt);
  EXPECT_EQ(second->problem(), std::nullopt);
}

TEST_F(ServerLockTest, ThereAreAtMostSixtyFour) {
  std::vector<std::unique_ptr<ServerLock>> locks;
  for (int i = 0; i < 64; ++i) locks.push_back(take(Sharing::several));
  const auto one_more = ServerLock::take(server_, Sharing::several);
  ASSERT_FALSE(one_more);
  EXPECT_THAT(one_more.error().message, HasSubstr("64 servers"));
}

TEST_F(ServerLockTest, ASuccessorMayDoOtherwise) {
  take(Sharing::alone).reset();
  take(Sharing::several).reset();
  take(Sharing::alone);
}

TEST_F(ServerLockTest, OtherDatabasesDoNotMatter) {
  const auto first = take(Sharing::alone);
  EXPECT_TRUE(ServerLock::take(mysql::MariadbServer::shared().new_database(), Sharing::several));
}

TEST_F(ServerLockTest, WhatWasLostWithTheConnectionIsTakenAgain) {
  for (const Sharing sharing : {Sharing::alone, Sharing::several}) {
    const auto first = take(sharing);
    kill_connections();
    keep(*first);
    EXPECT_EQ(first->problem(), std::nullopt);
    expect_refused(sharing == Sharing::alone ? Sharing::several : Sharing::alone);
  }
}

TEST_F(ServerLockTest, WhenAnotherServerCameMeanwhileItSaysSoAndGoesOnTrying) {
  for (const Sharing other : {Sharing::alone, Sharing::several}) {
    const auto first = take(Sharing::alone);
    kill_connections();
    auto second = take(other);
    keep(*first);
    EXPECT_THAT(first->problem(), Optional(HasSubstr("another server uses database")));
    keep(*first);
    EXPECT_THAT(first->problem(), Optional(HasSubstr("another server uses database")));
    keep(*second);
    EXPECT_EQ(second->problem(), std::nullopt) << "the one that came later has it";
    second.reset();
    EXPECT_TRUE(base::eventually([&] {
      keep(*first);
      return !first->problem();
    }));
  }
}

}  // namespace
}  // namespace postino::app
