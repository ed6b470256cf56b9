// An attacker answers in the broker's place, and wants the password.
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "base/many_threads_testing.h"
#include "base/temporary_directory.h"
#include "broker/amqp_client.h"
#include "broker/managed_broker.h"
#include "broker/sasl_testing.h"
#include "net/certificates_testing.h"
#include "net/logged_lines_testing.h"
#include "net/raw_server_testing.h"
#include "net/tls_socket.h"

namespace postino::broker {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* secret = "correct horse battery";

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

// Offers PLAIN, over TLS if it has a certificate, and hears what is said until the client goes.
class FalseBroker {
 public:
  explicit FalseBroker(std::optional<net::TlsFiles> tls)
      : tls_(std::move(tls)), server_([this](net::RawPeer& peer) { serve(peer); }) {}

  // What the client said within its time limit, decrypted where it was encrypted. It gives up when it is not answered.
  std::string hear(ConnectionSettings settings, std::chrono::milliseconds limit = base::test_patience) {
    settings.endpoints = {{"localhost", server_.port()}};
    settings.user = "clerk";
    settings.password = secret;
    settings.connect_timeout = limit;
    {
      const auto client = AmqpClient::create({});
      const auto broker = (*client)->broker(settings);
      EXPECT_TRUE(broker) << broker.error().message;
      EXPECT_FALSE((*broker)->test());
    }
    return heard_.get_future().get();
  }

 private:
  void serve(net::RawPeer& peer) {
    std::string all;
    std::unique_ptr<SSL_CTX, SslDeleter> context;
    std::unique_ptr<SSL, SslDeleter> ssl;
    const std::string offer = offer_of_plain();
    if (tls_) {
      context.reset(SSL_CTX_new(TLS_server_method()));
      SSL_CTX_use_certificate_chain_file(context.get(), tls_->certificate_chain.c_str());
      SSL_CTX_use_PrivateKey_file(context.get(), tls_->private_key.c_str(), SSL_FILETYPE_PEM);
      ssl.reset(SSL_new(context.get()));
      BIO* socket = net::make_socket_bio(peer.descriptor());
      SSL_set_bio(ssl.get(), socket, socket);
      if (SSL_accept(ssl.get()) == 1) SSL_write(ssl.get(), offer.data(), static_cast<int>(offer.size()));
    } else {
      peer.send(offer);
    }
    char bytes[512];
    while (true) {
      const auto count =
          ssl ? SSL_read(ssl.get(), bytes, sizeof bytes) : ::read(peer.descriptor(), bytes, sizeof bytes);
      if (count <= 0) break;
      all.append(bytes, static_cast<std::size_t>(count));
    }
    if (!told_.exchange(true)) heard_.set_value(all);
  }

  const std::optional<net::TlsFiles> tls_;
  std::atomic<bool> told_ = false;
  std::promise<std::string> heard_;
  net::RawServer server_;
};

class FalseBrokerTest : public testing::Test {
 protected:
  base::TemporaryDirectory directory_;
  net::TestAuthority authority_{directory_.path()};
};

// That it is understood at all: a server that is the right one gets the password, and so does this machine without TLS.
TEST_F(FalseBrokerTest, TheRightOneGetsThePassword) {
  EXPECT_TRUE(base::with_enough_time([](std::chrono::milliseconds limit) {
    return FalseBroker(std::nullopt).hear({}, limit).find(secret) != std::string::npos;
  }));
  ConnectionSettings settings;
  settings.tls.enabled = true;
  settings.tls.authorities_file = authority_.certificate_file();
  EXPECT_TRUE(base::with_enough_time([&](std::chrono::milliseconds limit) {
    return FalseBroker(authority_.issue("DNS:localhost")).hear(settings, limit).find(secret) != std::string::npos;
  }));
}

TEST_F(FalseBrokerTest, WithoutTlsGetsNoPasswordWhereTlsIsOn) {
  ConnectionSettings settings;
  settings.tls.enabled = true;
  EXPECT_THAT(FalseBroker(std::nullopt).hear(settings), Not(HasSubstr(secret)));
}

TEST_F(FalseBrokerTest, WithAnInvalidCertificateGetsNoPassword) {
  ConnectionSettings settings;
  settings.tls.enabled = true;
  EXPECT_THAT(FalseBroker(authority_.issue("DNS:localhost")).hear(settings), Not(HasSubstr(secret)))
      << "of an unknown authority";
  settings.tls.authorities_file = authority_.certificate_file();
  EXPECT_THAT(FalseBroker(authority_.issue("DNS:elsewhere.example")).hear(settings), Not(HasSubstr(secret)))
      << "for another name";
}

// --- A management API that is away

// Many may ask how many messages a queue has, every second.
TEST(ManagementApi, AnOutageIsToldOnceAndSoIsItsEnd) {
  std::atomic<bool> is_away = true;
  net::RawServer server([&](net::RawPeer& peer) {
    peer.receive_head();
    if (is_away) return;
    peer.send(
        "HTTP/1.1 200 OK\r\nContent-Length: 34\r\nConnection: close\r\n\r\n"
        R"({"items":[{"messages_ready":  7}]})");
  });
  const auto broker = ManagedBroker::create(
      nullptr, {.url = "http://127.0.0.1:" + std::to_string(server.port()), .user = "clerk", .password = secret});
  ASSERT_TRUE(broker);
  const net::LoggedLines lines;
  for (int call = 0; call < 5; ++call) {
    const auto depth = (*broker)->depth("q");
    ASSERT_FALSE(depth);
    EXPECT_EQ(depth.error().kind, FailureKind::unreachable);
    EXPECT_TRUE(depth.error().is_told) << "it is not to be told for each call";
  }
  EXPECT_EQ(lines.count("the management API cannot be used"), 1);
  is_away = false;
  for (int call = 0; call < 5; ++call) EXPECT_EQ((*broker)->depth("q")->ready, 7U);
  EXPECT_EQ(lines.count("the management API can be used again"), 1);
  EXPECT_EQ(lines.count("\n"), 2);
}

// --- A broker that says nothing

TEST(SilentBroker, CallsThatWaitForItAreAnsweredWhenTheProcessEnds) {
  std::promise<void> connected;
  std::atomic<bool> told = false;
  net::RawServer server([&](net::RawPeer& peer) {
    if (!told.exchange(true)) connected.set_value();
    char bytes[512];
    while (::read(peer.descriptor(), bytes, sizeof bytes) > 0) {
    }
  });
  ConnectionSettings settings;
  settings.endpoints = {{"127.0.0.1", server.port()}, {"127.0.0.1", server.port()}};
  settings.connect_timeout = std::chrono::hours(1);
  const auto client = AmqpClient::create({});
  const auto broker = (*client)->broker(settings);
  ASSERT_TRUE(broker) << broker.error().message;
  std::thread end([&] {
    connected.get_future().wait();
    (*client)->break_off();
  });
  const ProduceReport report =
      (*broker)->produce("q", Messages::of({Message()}), {.time_limit = std::chrono::hours(1)}, {});
  end.join();
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, FailureKind::stopped) << report.failure->message;
  EXPECT_FALSE((*broker)->test()) << "there is no way back";
}

// One caller has waited for it. Others, and other brokers with this endpoint, are told so.
TEST(SilentBroker, IsNotAskedAgainAtOnceAndItsNeighbourIs) {
  net::RawServer silent([](net::RawPeer& peer) { peer.wait_for_end(); });
  net::RawServer rude([](net::RawPeer&) {});
  ConnectionSettings settings;
  settings.endpoints = {{"127.0.0.1", silent.port()}};
  settings.connect_timeout = std::chrono::milliseconds(50);
  const auto client = AmqpClient::create({.probe_pause = std::chrono::hours(1)});
  const auto broker = (*client)->broker(settings);
  EXPECT_EQ((*client)->standing(settings.endpoints, false), Standing::unproven);
  EXPECT_FALSE((*broker)->test());
  EXPECT_EQ((*client)->standing(settings.endpoints, false), Standing::silent);
  settings.endpoints.push_back({"127.0.0.1", rude.port()});
  settings.connect_timeout = base::test_patience;
  const auto other = (*client)->broker(settings);
  const auto failed = (*other)->test();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, FailureKind::unreachable);
  ASSERT_EQ(failed.error().endpoints.size(), 2U);
  EXPECT_EQ(failed.error().endpoints[0].reason, "it did not answer a moment ago");
  EXPECT_NE(failed.error().endpoints[1].reason, "it did not answer a moment ago");
  EXPECT_TRUE(base::eventually([&] { return silent.connections() == 1; }));
  EXPECT_TRUE(base::eventually([&] { return rude.connections() == 1; }));
}

}  // namespace
}  // namespace postino::broker
