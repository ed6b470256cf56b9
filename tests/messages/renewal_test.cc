// Passwords and certificates of brokers that change while connections to them are used.
#include <gmock/gmock.h>

#include <mutex>

#include "broker/sasl_testing.h"
#include "messages/connections.h"
#include "net/raw_server_testing.h"

namespace postino::messages {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

// Hears passwords, which end with a full stop here, and breaks the connection off.
class ListeningBroker {
 public:
  std::uint16_t port() const { return server_.port(); }
  std::string heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void serve(net::RawPeer& peer) {
    if (!peer.send(broker::offer_of_plain())) return;
    const std::string text = peer.receive_until("password.");
    const std::lock_guard lock(mutex_);
    heard_ = text;
  }

  mutable std::mutex mutex_;
  std::string heard_;
  net::RawServer server_{[this](net::RawPeer& peer) { serve(peer); }};
};

class RenewalTest : public ::testing::Test {
 protected:
  RenewalTest() {
    broker::ConnectionSettings settings;
    settings.endpoints = {{"127.0.0.1", listener_.port()}};
    settings.user = "clerk";
    settings.password = "old password.";
    options_.named = {{"main", settings}};
    connections_ = Connections::create(options_, nullptr).value();
    broker_ = connections_->find(main_).value();
  }
  broker::ConnectionSettings& main() { return options_.named["main"]; }

  ListeningBroker listener_;
  ConnectionsOptions options_;
  const Place main_{"main", std::nullopt};
  std::unique_ptr<Connections> connections_;
  std::shared_ptr<broker::Broker> broker_;  // as one has it who has looked for it once
};

TEST_F(RenewalTest, CallsHaveTheNewPassword) {
  EXPECT_FALSE(broker_->test());
  EXPECT_THAT(listener_.heard(), HasSubstr("old password."));
  main().password = "new password.";
  auto renewal = connections_->prepare_renewal(options_);
  ASSERT_TRUE(renewal) << renewal.error().message;
  EXPECT_FALSE(broker_->test());
  EXPECT_THAT(listener_.heard(), HasSubstr("old password.")) << "not yet";
  connections_->renew(*std::move(renewal));
  EXPECT_FALSE(broker_->test());
  EXPECT_THAT(listener_.heard(), HasSubstr("new password."));
  EXPECT_EQ(*connections_->find(main_), broker_);
}

TEST_F(RenewalTest, OnlyConnectionsThatAreThereAreRenewed) {
  options_.named["another"] = main();
  const auto renewal = connections_->prepare_renewal(options_);
  ASSERT_TRUE(renewal);
  EXPECT_THAT(*renewal, ElementsAre(Key("main")));
}

TEST_F(RenewalTest, AFileThatCannotBeReadIsNoticed) {
  main().tls.enabled = true;
  main().tls.authorities_file = "/nonexistent/authorities.pem";
  const auto renewal = connections_->prepare_renewal(options_);
  ASSERT_FALSE(renewal);
  EXPECT_THAT(renewal.error().message, HasSubstr("connection main: "));
}

}  // namespace
}  // namespace postino::messages
