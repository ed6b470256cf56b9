// Whom we talk to, and whom we do not.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/descriptor.h"
#include "base/many_threads_testing.h"
#include "shared_server.h"

namespace postino::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A port that takes connections and says nothing, or one that no server listens on.
class SilentPort {
 public:
  explicit SilentPort(bool listens) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CHECK(::bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(::getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    if (listens) CHECK(::listen(socket_.number(), 10) == 0);
    port_ = ntohs(address.sin_port);
  }

  Endpoint endpoint() const { return {"127.0.0.1", port_}; }

 private:
  const base::Descriptor socket_;
  std::uint16_t port_ = 0;
};

TEST(BrokerTest, TellsWhoIsThere) {
  const auto identity = shared_broker()->test();
  ASSERT_TRUE(succeeded(identity));
  EXPECT_EQ(identity->endpoint, plain_settings().endpoints[0].text());
  EXPECT_EQ(identity->product, "RabbitMQ");
  EXPECT_THAT(identity->version, StartsWith("3."));
  EXPECT_THAT(identity->container, StartsWith("postino-test@"));
  EXPECT_EQ(identity->mechanism, "PLAIN");
  EXPECT_EQ(identity->tls, "");
}

TEST(BrokerTest, ComesWithoutAName) {
  ConnectionSettings settings = plain_settings();
  settings.user = settings.password = "";
  const auto identity = broker_with(settings)->test();
  ASSERT_TRUE(succeeded(identity));
  EXPECT_EQ(identity->mechanism, "ANONYMOUS");
}

TEST(BrokerTest, TellsAWrongPasswordWithoutShowingIt) {
  ConnectionSettings settings = plain_settings();
  settings.password = "not the password";
  // The second endpoint would say the same, and is not asked.
  settings.endpoints.push_back(SilentPort(true).endpoint());
  const auto broker = broker_with(settings);
  const auto identity = broker->test();
  EXPECT_EQ(kind_of(identity), "refused");
  EXPECT_THAT(identity.error().message, HasSubstr("Authentication failed [mech=PLAIN]"));
  EXPECT_THAT(identity.error().message, Not(HasSubstr("not the password")));
  EXPECT_FALSE(identity.error().is_temporary());
}

TEST(BrokerTest, ReachesAVirtualHost) {
  ASSERT_LT(rabbitmq().manage("PUT", "/api/vhosts/other"), 300);
  ASSERT_LT(rabbitmq().manage("PUT", "/api/permissions/other/guest", R"({"configure":".*","write":".*","read":".*"})"),
            300);
  ASSERT_LT(rabbitmq().manage("PUT", "/api/queues/other/there", R"({"durable":true})"), 300);
  ConnectionSettings settings = plain_settings();
  settings.virtual_host = "vhost:other";
  EXPECT_TRUE(is_complete(broker_with(settings)->produce("there", numbered(1), {})));
  EXPECT_EQ(kind_of(shared_broker()->produce("there", numbered(1), {})), "no such queue");
  settings.virtual_host = "vhost:nowhere";
  const auto identity = broker_with(settings)->test();
  EXPECT_FALSE(identity.has_value());
}

TEST(BrokerTest, GoesToTheNextEndpointWhenOneFails) {
  const SilentPort closed(false), silent(true);
  ConnectionSettings settings = plain_settings();
  settings.endpoints = {closed.endpoint(), silent.endpoint(), plain_settings().endpoints[0]};
  EXPECT_TRUE(base::with_enough_time([&](Milliseconds limit) {
    settings.connect_timeout = limit;
    const auto identity = broker_with(settings)->test();
    if (identity) {
      EXPECT_EQ(identity->endpoint, plain_settings().endpoints[0].text());
    }
    return identity.has_value();
  }));
}

TEST(BrokerTest, TellsWhyEachEndpointFailed) {
  const SilentPort closed(false), silent(true);
  ConnectionSettings settings = plain_settings();
  settings.endpoints = {closed.endpoint(), silent.endpoint(), {"no-such-host.invalid", 5672}};
  Result<Identity> identity = Identity();
  // The silent one is given up at the limit. The search for a host without an address must end before it.
  EXPECT_TRUE(base::with_enough_time([&](Milliseconds limit) {
    settings.connect_timeout = limit;
    identity = broker_with(settings)->test();
    return !identity && identity.error().endpoints.size() == 3 &&
           identity.error().endpoints[2].reason.starts_with("cannot find");
  }));
  EXPECT_EQ(kind_of(identity), "unreachable");
  EXPECT_TRUE(identity.error().is_temporary());
  ASSERT_THAT(identity.error().endpoints, SizeIs(3));
  EXPECT_EQ(identity.error().endpoints[0].endpoint, closed.endpoint().text());
  EXPECT_THAT(identity.error().endpoints[0].reason, HasSubstr("Connection refused"));
  EXPECT_THAT(identity.error().endpoints[1].reason, HasSubstr("no answer"));
  EXPECT_THAT(identity.error().endpoints[2].reason, HasSubstr("cannot find 'no-such-host.invalid'"));
  for (const EndpointFailure& failure : identity.error().endpoints)
    EXPECT_THAT(identity.error().message, HasSubstr(failure.endpoint));
}

TEST(BrokerTest, KeepsAPasswordFromOthersWithoutTls) {
  // Not known as an address of this machine, though connections to it stay here.
  const SilentPort closed(false);
  const Endpoint elsewhere{"0.0.0.0", closed.endpoint().port};
  ConnectionSettings settings = plain_settings();
  settings.endpoints = {elsewhere};
  const auto refused = broker_with(settings)->test();
  EXPECT_EQ(kind_of(refused), "invalid");
  EXPECT_THAT(refused.error().message, HasSubstr("a password is not sent to " + elsewhere.text() + " without TLS"));
  settings.allow_password_in_clear = true;
  EXPECT_EQ(kind_of(broker_with(settings)->test()), "unreachable");
}

TEST(BrokerTest, TrustsACertificateOfItsAuthority) {
  const auto broker = broker_with(tls_settings());
  const auto identity = broker->test();
  ASSERT_TRUE(succeeded(identity));
  EXPECT_THAT(identity->tls, StartsWith("TLSv1."));
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(broker->produce(queue, numbered(500), {})));
  EXPECT_THAT(take_all(queue, 500), SizeIs(500));
}

TEST(BrokerTest, DistrustsACertificateOfAnotherAuthority) {
  const base::TemporaryDirectory directory;
  const net::TestAuthority other(directory.path());
  ConnectionSettings settings = tls_settings();
  settings.tls.authorities_file = other.certificate_file();
  const auto identity = broker_with(settings)->test();
  EXPECT_EQ(kind_of(identity), "unreachable");
  EXPECT_THAT(identity.error().message, HasSubstr("certificate verify failed"));
  settings.tls.authorities_file = "";
  EXPECT_THAT(broker_with(settings)->test().error().message, HasSubstr("certificate verify failed"));
  settings.tls.verify = false;
  EXPECT_TRUE(succeeded(broker_with(settings)->test()));
}

TEST(BrokerTest, DistrustsACertificateForAnotherName) {
  ConnectionSettings settings = tls_settings();
  settings.endpoints[0].host = "127.0.0.1";
  const auto identity = broker_with(settings)->test();
  EXPECT_EQ(kind_of(identity), "unreachable");
  EXPECT_THAT(identity.error().message, HasSubstr("no name matching 127.0.0.1 found"));
  settings.tls.server_name = "localhost";
  EXPECT_TRUE(succeeded(broker_with(settings)->test()));
}

TEST(BrokerTest, DoesNotSpeakPlainlyToATlsPortNorTheOtherWayRound) {
  ConnectionSettings settings = plain_settings();
  settings.endpoints = tls_settings().endpoints;
  settings.connect_timeout = Milliseconds(5'000);
  EXPECT_EQ(kind_of(broker_with(settings)->test()), "unreachable");
  settings = tls_settings();
  settings.endpoints = {{"localhost", rabbitmq().port()}};
  settings.connect_timeout = Milliseconds(5'000);
  EXPECT_EQ(kind_of(broker_with(settings)->test()), "unreachable");
}

TEST(BrokerTest, SpeaksTheCipherSuiteItIsTold) {
  ConnectionSettings settings = tls_settings();
  for (const auto& [name, expected] :
       {std::pair("TLS_AES_256_GCM_SHA384", "TLSv1.3 TLS_AES_256_GCM_SHA384"),
        std::pair("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256"),
        std::pair("ECDHE-ECDSA-AES256-GCM-SHA384", "TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384")}) {
    settings.tls.cipher_suite = name;
    const auto identity = broker_with(settings)->test();
    ASSERT_TRUE(succeeded(identity)) << name;
    EXPECT_EQ(identity->tls, expected);
  }
  // The server's key is of another kind.
  settings.tls.cipher_suite = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
  EXPECT_EQ(kind_of(broker_with(settings)->test()), "unreachable");
  // The server likes another one better.
  settings.tls.cipher_suite = "TLS_AES_128_GCM_SHA256";
  const auto other = broker_with(settings)->test();
  EXPECT_EQ(kind_of(other), "unreachable");
  EXPECT_THAT(other.error().message, HasSubstr("chose the cipher suite TLS_AES_256_GCM_SHA384, not"));
  for (const char* name : {"NO-SUCH-SUITE", "ALL:!aNULL", "TLS_NO_SUCH_SUITE"}) {
    settings.tls.cipher_suite = name;
    EXPECT_EQ(kind_of(client().broker(settings)), "invalid") << name;
  }
}

TEST(BrokerTest, IsKnownByItsCertificate) {
  ASSERT_LT(rabbitmq().manage("PUT", "/api/users/server", R"({"password_hash":"","tags":""})"), 300);
  ASSERT_LT(rabbitmq().manage("PUT", "/api/permissions/%2F/server", R"({"configure":".*","write":".*","read":".*"})"),
            300);
  const net::TlsFiles own = authority().issue("DNS:client.example");
  ConnectionSettings settings = tls_settings();
  settings.user = settings.password = "";
  settings.tls.certificate_file = own.certificate_chain;
  settings.tls.key_file = own.private_key;
  const auto identity = broker_with(settings)->test();
  ASSERT_TRUE(succeeded(identity));
  EXPECT_EQ(identity->mechanism, "EXTERNAL");
}

TEST(BrokerTest, RefusesSettingsThatBreakARule) {
  const auto refuses = [](const auto& change, const std::string& rule) {
    ConnectionSettings settings = plain_settings();
    change(settings);
    const auto broker = client().broker(settings);
    ASSERT_EQ(kind_of(broker), "invalid") << rule;
    EXPECT_THAT(broker.error().message, HasSubstr(rule));
  };
  using S = ConnectionSettings;
  refuses([](S& s) { s.endpoints.clear(); }, "at least one endpoint");
  refuses([](S& s) { s.endpoints.resize(17, s.endpoints[0]); }, "no more than 16");
  refuses([](S& s) { s.endpoints[0].host = ""; }, "host");
  refuses([](S& s) { s.endpoints[0].port = 0; }, "port");
  refuses([](S& s) { s.user = std::string("a\0b", 3); }, "no NUL characters");
  refuses([](S& s) { s.mechanism = Mechanism::external; }, "EXTERNAL needs TLS");
  refuses([](S& s) { s.mechanism = Mechanism::plain, s.user = ""; }, "PLAIN needs a user");
  refuses([](S& s) { s.tls.key_file = "key"; }, "together");
  refuses([](S& s) { s.connect_timeout = Milliseconds(0); }, "time limits");
  refuses([](S& s) { s.max_message_bytes = 0; }, "limit of messages");
  refuses([](S& s) { s.address_prefix = "queue://"; }, "bare addresses");
  refuses([](S& s) { s.tls.enabled = true, s.tls.authorities_file = "/nowhere"; }, "cannot read certificates");
  refuses(
      [](S& s) {
        s.tls.enabled = true;
        s.tls.certificate_file = s.tls.key_file = "/nowhere";
      },
      "cannot read a certificate");
}

TEST(BrokerPool, UsesAConnectionAgain) {
  const std::string queue = fresh_queue();
  // One connection is all there may be.
  const auto small = AmqpClient::create({.max_connections = 1});
  ASSERT_TRUE(small);
  for (int i = 0; i < 5; ++i) {
    // Each call has a broker of its own, as requests do.
    const auto broker = (*small)->broker(plain_settings());
    ASSERT_TRUE(succeeded(broker));
    ASSERT_TRUE(is_complete((*broker)->produce(queue, numbered(1, std::to_string(i) + "-"), {})));
    const auto held = (*broker)->receive(queue, at_least(1));
    ASSERT_TRUE(succeeded(held));
    EXPECT_THAT(ids_of((*held)->messages()), ElementsAre(std::to_string(i) + "-0"));
    ASSERT_TRUE(succeeded((*held)->acknowledge()));
  }
}

TEST(BrokerPool, RefusesMoreConnectionsThanItMayHave) {
  const auto small = AmqpClient::create({.max_connections = 1});
  ASSERT_TRUE(small);
  const std::string queue = fresh_queue();
  const auto broker = (*small)->broker(plain_settings());
  ASSERT_TRUE(succeeded(broker));
  ASSERT_TRUE(is_complete((*broker)->produce(queue, numbered(2), {})));
  {
    const auto held = (*broker)->receive(queue, at_least(1));
    ASSERT_TRUE(succeeded(held));
    const auto refused = (*broker)->receive(queue, {});
    EXPECT_EQ(kind_of(refused), "exhausted");
    EXPECT_TRUE(refused.error().is_temporary());
    // Helpers that find no connection leave the work to others.
    ASSERT_TRUE(succeeded((*held)->acknowledge()));
  }
  EXPECT_TRUE(is_complete((*broker)->produce(queue, numbered(100, "more-"), {.connections = 3})));
  EXPECT_THAT(take_all(queue, 101), SizeIs(101));
}

TEST(BrokerPool, DoesNotMindThatTheBrokerWasRestartedMeanwhile) {
  // Each has a connection of its own, which ends with the broker.
  const auto producer = shared_broker();
  const auto consumer = other_broker();
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete(producer->produce(queue, numbered(1), {})));
  ASSERT_TRUE(succeeded(consumer->test()));
  rabbitmq().restart();
  EXPECT_TRUE(is_complete(producer->produce(queue, numbered(1, "second-"), {.reconnects = 0})));
  const auto held = consumer->receive(queue, at_least(2));
  ASSERT_TRUE(succeeded(held));
  EXPECT_THAT((*held)->messages(), SizeIs(2));
  EXPECT_TRUE(succeeded((*held)->acknowledge()));
}

TEST(BrokerPool, OutlivesItsClient) {
  auto client = AmqpClient::create({});
  ASSERT_TRUE(client);
  const auto broker = (*client)->broker(plain_settings());
  const std::string queue = fresh_queue();
  ASSERT_TRUE(is_complete((*broker)->produce(queue, numbered(1), {})));
  const auto held = (*broker)->receive(queue, at_least(1));
  ASSERT_TRUE(succeeded(held));
  client->reset();
  EXPECT_EQ(kind_of((*held)->acknowledge()), "connection lost");
  EXPECT_FALSE((*broker)->test().has_value());
  // It is back when the broker has noticed.
  const auto again = shared_broker()->receive(queue, at_least(1));
  ASSERT_TRUE(succeeded(again));
  EXPECT_THAT((*again)->messages(), SizeIs(1));
  EXPECT_TRUE(succeeded((*again)->acknowledge()));
}

}  // namespace
}  // namespace postino::broker
