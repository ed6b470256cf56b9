// What servers of one database do by its clock, and not by those of their machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/server/mysql_storage.h"
#include "app/server/outbox_service.h"
#include "base/many_threads_testing.h"
#include "base/plausible_clock.h"
#include "mysql_outbox.h"
#include "net/raw_server_testing.h"

namespace postino::app {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::steady_clock;

// The clock of a machine that is wrong.
class ClockAhead final : public base::Clock {
 public:
  base::TimePoint now() const override { return base::SystemClock().now() + hours(1); }
};

class DatabaseClockWiringTest : public testing::Test {
 protected:
  DatabaseClockWiringTest() {
    settings_.data = store_.directory();
    settings_.outbox.ledger = LedgerKind::mysql;
    settings_.outbox.mysql.server = outbox_.server();
    settings_.outbox.mysql.several_servers = true;
    settings_.outbox.relays = {{"127.0.0.1", silent_.port()}};
  }

  // Ready to be sent, by what another server has done.
  void make_ready() {
    const auto process = outbox_.make_process();
    const base::TimePoint now = base::SystemClock().now();
    std::vector<NewEmail> emails;
    emails.push_back(outbox::accepted(outbox::new_email(outbox::email_id(1)), now));
    ASSERT_TRUE(process->ledger().accept(std::move(emails), std::nullopt, [](const auto&) { return ""; }));
    const outbox::Decider decide;
    for (const outbox::Email& email : outbox::claimed(process->ledger(), outbox::Pipeline::intake)) {
      std::vector<outbox::Change> changes{
          decide(email, outbox::event::MessageBuilt{"Subject: x\r\n\r\n"}, base::SystemClock().now())};
      ASSERT_EQ(process->ledger().move(std::move(changes)).front().status, outbox::MoveStatus::done);
    }
  }

  using NewEmail = outbox::NewEmail;
  const ClockAhead wrong_clock_;
  const base::PlausibleClock machine_clock_{wrong_clock_};
  const std::shared_ptr<base::Clock> true_clock_ = std::make_shared<base::SystemClock>();
  engine::EmbeddedStore store_{true_clock_};
  outbox::MysqlOutbox outbox_{outbox::SpoolChoice::store, true_clock_};
  // A mail server that never greets, so that the e-mail stays with its worker.
  net::RawServer silent_{[](net::RawPeer& peer) { peer.wait_for_end(); }};
  Settings settings_;
};

TEST_F(DatabaseClockWiringTest, LeasesOfEmailsFollowTheDatabase) {
  make_ready();
  const MemoryLimits memory;
  const auto gateway =
      MessageGateway::create(store_.engine(), settings_.messages, settings_.idempotency, true, memory, machine_clock_);
  ASSERT_TRUE(gateway) << gateway.error().message;
  const auto service = OutboxService::create(store_.engine(), **gateway, settings_, memory, machine_clock_);
  ASSERT_TRUE(service) << service.error().message;
  (*service)->start();
  EXPECT_TRUE(
      base::eventually([&] { return outbox_.number("SELECT COUNT(*) FROM emails WHERE status = 'PROCESSING'") == 1; }));
  const std::int64_t left = outbox_.number("SELECT CAST(due_ms - UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED) FROM emails");
  EXPECT_LE(left, base::Milliseconds(settings_.outbox.lease + minutes(1)).count());
  const auto now = steady_clock::now();
  (*service)->begin_stop(now, now + minutes(1));
  (*service)->stop(now + minutes(1));
}

TEST_F(DatabaseClockWiringTest, SharedKeysFollowTheDatabase) {
  const auto keys = open_shared_keys(settings_.outbox, machine_clock_);
  ASSERT_TRUE(keys) << keys.error().message;
  const auto options = with_shared_keys(settings_.idempotency, *keys);
  EXPECT_LT(std::chrono::abs(options.shared_clock->now() - true_clock_->now()), minutes(10));
  base::SystemRandom random;
  idempotency::Guard guard(store_.engine(), machine_clock_, random, options);
  ASSERT_TRUE(guard.begin("PRODUCE", "k", "h"));
  EXPECT_EQ(outbox_.number("SELECT COUNT(*) FROM idempotency_records"), 1);
  const auto expires = base::from_epoch_milliseconds(outbox_.number("SELECT expires_ms FROM idempotency_records"));
  EXPECT_LT(std::chrono::abs(expires - true_clock_->now() - options.life), minutes(10));
}

}  // namespace
}  // namespace postino::app
