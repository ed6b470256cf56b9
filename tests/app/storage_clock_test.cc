// By a clock that may be wrong nothing of an e-mail is deleted, wherever e-mails and their contents are kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/server/mysql_storage.h"
#include "app/server/outbox_storage.h"
#include "base/plausible_clock.h"
#include "base/temporary_directory.h"
#include "engine/embedded_store_testing.h"
#include "mariadb_server.h"

namespace postino::app {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::HasSubstr;

class StorageClockTest : public testing::Test {
 protected:
  StorageContext context(const base::Clock& clock, std::optional<base::TimePoint> past) {
    return {policy_, clock, past, random_, pause_, directory_.path()};
  }

  const outbox::Policy policy_;
  base::SeededRandom random_{1};
  base::Pause pause_;
  base::TemporaryDirectory directory_;
};

class SpoolClockTest : public StorageClockTest {
 protected:
  void open() {
    OutboxSettings settings;
    settings.spool = directory_.path() / "spool";
    auto storage = open_store_storage(store_.engine(), settings, context(clock_, clock_.past()));
    ASSERT_TRUE(storage) << storage.error().message;
    storage_ = *std::move(storage);
  }
  void write_file_for(base::Milliseconds life) {
    const base::TimePoint now = machine_->now();
    const auto path = storage_->ledger().spool().write(
        {outbox::SpoolKind::payload, "0b7ad2a3-6b43-4c5d-9f4e-1d7f4d0c2a11", now, "bytes", now + life});
    ASSERT_TRUE(path) << path.error().message;
    path_ = *path;
  }
  bool is_there() { return storage_->ledger().spool().read(path_).has_value(); }

  const std::shared_ptr<base::ManualClock> machine_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  engine::EmbeddedStore store_{machine_};
  base::PlausibleClock clock_{*machine_};
  std::unique_ptr<OutboxStorage> storage_;
  std::string path_;
};

TEST_F(SpoolClockTest, AStartWithAClockThatIsFarAheadKeepsFilesForAnHour) {
  clock_.note_past(machine_->now() - hours(24 * 40));
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(write_file_for(-hours(24)));
  storage_->tick();
  EXPECT_TRUE(is_there());
  machine_->advance(minutes(59));
  storage_->tick();
  EXPECT_TRUE(is_there());
  machine_->advance(minutes(1));
  storage_->tick();
  EXPECT_FALSE(is_there());
}

TEST_F(SpoolClockTest, AJumpThatIsBelievedKeepsFilesForAnHour) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(write_file_for(hours(24)));
  storage_->tick();
  machine_->set_by(hours(24 * 40));
  storage_->tick();
  machine_->advance(minutes(5));
  storage_->tick();
  machine_->advance(minutes(59));
  storage_->tick();
  EXPECT_TRUE(is_there());
  machine_->advance(minutes(1));
  storage_->tick();
  EXPECT_FALSE(is_there());
}

class MysqlClockTest : public StorageClockTest {
 protected:
  std::unique_ptr<OutboxStorage> open() {
    OutboxSettings settings;
    settings.mysql.server = server_;
    auto storage = open_mysql_storage(settings, context(machine_, std::nullopt));
    EXPECT_TRUE(storage) << storage.error().message;
    return storage ? *std::move(storage) : nullptr;
  }
  void execute(const std::string& sql, std::initializer_list<mysql::Parameter> parameters = {}) {
    const auto done = connection_->execute(sql, parameters);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::int64_t number(const std::string& sql) {
    const auto rows = connection_->query(sql);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows && !rows->empty() ? (*rows)[0].number(0) : -1;
  }
  void set_last_seen(base::TimePoint time) {
    execute("UPDATE email_accept_keys SET response = ? WHERE key_hash = 'last-seen'",
            {std::to_string(base::epoch_milliseconds(time))});
  }
  std::int64_t last_seen() {
    return number("SELECT CAST(response AS SIGNED) FROM email_accept_keys WHERE key_hash = 'last-seen'");
  }
  void add_expired_key() {
    execute("INSERT INTO email_accept_keys (key_hash, request_hash, owner, expires_ms) VALUES ('old', '', '', 1)");
  }
  std::int64_t expired_keys() { return number("SELECT COUNT(*) FROM email_accept_keys WHERE key_hash = 'old'"); }

  const base::SystemClock machine_;
  const mysql::ServerOptions server_ = mysql::MariadbServer::shared().new_database();
  const std::unique_ptr<mysql::Connection> connection_ = *mysql::Connection::open(server_);
};

TEST_F(MysqlClockTest, TheTimeIsNotedAndWhatIsTooOldGoes) {
  const auto storage = open();
  ASSERT_TRUE(storage);
  EXPECT_FALSE(storage->clock().is_doubtful()) << "nothing is known of the past";
  ASSERT_NO_FATAL_FAILURE(add_expired_key());
  const base::TimePoint before = storage->clock().now();
  storage->tick();
  EXPECT_EQ(expired_keys(), 0);
  EXPECT_GE(last_seen(), base::epoch_milliseconds(before));
}

TEST_F(MysqlClockTest, AStartWithAClockThatIsFarAheadDeletesNothing) {
  ASSERT_NO_FATAL_FAILURE(open()->tick());
  const base::TimePoint long_ago = machine_.now() - hours(24 * 40);
  ASSERT_NO_FATAL_FAILURE(set_last_seen(long_ago));
  ASSERT_NO_FATAL_FAILURE(add_expired_key());
  for (int start = 0; start < 2; ++start) {  // the second does not take the first one's time for granted
    const auto storage = open();
    ASSERT_TRUE(storage);
    EXPECT_TRUE(storage->clock().is_doubtful());
    storage->tick();
    EXPECT_EQ(expired_keys(), 1);
    EXPECT_EQ(last_seen(), base::epoch_milliseconds(long_ago));
    std::string metrics;
    storage->append_metrics(metrics);
    EXPECT_THAT(metrics, HasSubstr("postino_mysql_clock_suspicious 1\n"));
  }
}

TEST_F(MysqlClockTest, AStartWithAClockThatIsBehindGoesOnFromTheLastTime) {
  ASSERT_NO_FATAL_FAILURE(open()->tick());
  const base::TimePoint later = machine_.now() + hours(24 * 40);
  ASSERT_NO_FATAL_FAILURE(set_last_seen(later));
  const auto storage = open();
  ASSERT_TRUE(storage);
  EXPECT_GE(storage->clock().now(), later);
}

}  // namespace
}  // namespace postino::app
