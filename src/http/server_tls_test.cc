#include <gmock/gmock.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <fstream>

#include "base/check.h"
#include "base/temporary_directory.h"
#include "http/raw_client_testing.h"
#include "http/server_testing.h"
#include "net/certificates_testing.h"
#include "net/tls.h"
#include "net/tls_socket.h"

namespace postino::http {
namespace {

using std::chrono::milliseconds;
using ::testing::StartsWith;

class TlsClient {
 public:
  using SetUp = void (*)(SSL_CTX*);

  explicit TlsClient(
      std::uint16_t port, SetUp set_up = [](SSL_CTX*) {})
      : socket_(port) {
    context_ = SSL_CTX_new(TLS_client_method());
    set_up(context_);
    ssl_ = SSL_new(context_);
    BIO* socket = net::make_socket_bio(socket_.descriptor());
    SSL_set_bio(ssl_, socket, socket);
    ERR_clear_error();
    connected_ = SSL_connect(ssl_) == 1;
    if (!connected_) {
      const char* reason = ERR_reason_error_string(ERR_peek_error());
      problem_ = reason != nullptr ? reason : "";
    }
  }
  ~TlsClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool connected() const { return connected_; }
  const std::string& problem() const { return problem_; }
  std::string version() const { return SSL_get_version(ssl_); }
  std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_, &name, &size);
    return std::string(reinterpret_cast<const char*>(name), size);
  }

  void send(std::string_view bytes) const {
    CHECK(SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size()));
  }
  // Reads until this text has come.
  std::string receive_until(std::string_view end) const {
    std::string received;
    std::vector<char> buffer(64 << 10);
    while (!received.ends_with(end)) {
      const int count = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
      if (count <= 0) return received + "(end)";
      received.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return received;
  }
  // Was the end of the connection announced, as TLS wants it?
  bool ends_properly() const {
    char byte = 0;
    return SSL_read(ssl_, &byte, 1) == 0 && SSL_get_error(ssl_, 0) == SSL_ERROR_ZERO_RETURN;
  }

 private:
  RawClient socket_;
  SSL_CTX* context_;
  SSL* ssl_;
  bool connected_ = false;
  std::string problem_;
};

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() {
    net::write_key(key_, files.private_key);
    net::write_certificate({.key = key_.get()}, files.certificate_chain);
  }

  std::unique_ptr<Server> serve(ServerOptions options = {}) {
    options.tls = files;
    return start_server(options, [](const Request& request, Responder respond) {
      CHECK(request.secure);
      echo(request, std::move(respond));
    });
  }

  base::TemporaryDirectory directory;
  const net::Key key_ = net::make_key();
  net::TlsFiles files{directory.path() / "certificate.pem", directory.path() / "key.pem"};
};

TEST_F(TlsTest, ServesManyRequestsOnOneConnection) {
  const auto server = serve();
  const TlsClient client(server->port());
  ASSERT_TRUE(client.connected()) << client.problem();
  EXPECT_EQ(client.version(), "TLSv1.3");
  for (int i = 0; i < 10; ++i) {
    const std::string target = "/" + std::to_string(i);
    client.send(post(target, "body"));
    EXPECT_THAT(client.receive_until("POST " + target + " body"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  client.send(get("/a") + get("/b"));
  EXPECT_THAT(client.receive_until("GET /b "), testing::HasSubstr("GET /a "));
  client.send(get("/close"));
  client.receive_until("GET /close ");
  EXPECT_TRUE(client.ends_properly());
}

TEST_F(TlsTest, CarriesLargeBodies) {
  const auto server = serve();
  const TlsClient client(server->port());
  std::string body(3 << 20, 'x');
  for (std::size_t i = 0; i < body.size(); i += 1000) body[i] = static_cast<char>('a' + i / 1000 % 26);
  body += "the end";
  client.send(post("/", body));
  EXPECT_TRUE(client.receive_until("the end").ends_with("\r\n\r\nPOST / " + body));
}

TEST_F(TlsTest, SpeaksVersion12ButNoOlder) {
  const auto server = serve();
  const TlsClient tls_1_2(server->port(),
                          [](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION); });
  EXPECT_EQ(tls_1_2.version(), "TLSv1.2");
  tls_1_2.send(get("/"));
  EXPECT_THAT(tls_1_2.receive_until("GET / "), StartsWith("HTTP/1.1 200 OK\r\n"));

  const TlsClient tls_1_1(server->port(), [](SSL_CTX* context) {
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, TLS1_1_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
  });
  EXPECT_FALSE(tls_1_1.connected());
  EXPECT_EQ(tls_1_1.problem(), "tlsv1 alert protocol version");
}

TEST_F(TlsTest, AgreesOnHttp11) {
  const auto server = serve();
  const TlsClient client(server->port(), [](SSL_CTX* context) {
    const unsigned char offered[] = "\2h2\10http/1.1";
    SSL_CTX_set_alpn_protos(context, offered, sizeof offered - 1);
  });
  EXPECT_EQ(client.protocol(), "http/1.1");

  const TlsClient other(server->port(), [](SSL_CTX* context) {
    const unsigned char offered[] = "\2h2";
    SSL_CTX_set_alpn_protos(context, offered, sizeof offered - 1);
  });
  EXPECT_FALSE(other.connected());
  EXPECT_EQ(other.problem(), "tlsv1 alert no application protocol");
}

TEST_F(TlsTest, EndsConnectionsThatDoNotSpeakTls) {
  const auto server = serve();
  RawClient plain(server->port());
  plain.send(get("/"));
  EXPECT_EQ(plain.receive_all().find("HTTP"), std::string::npos);
  const TlsClient client(server->port());
  EXPECT_TRUE(client.connected()) << "others are not disturbed";
}

TEST_F(TlsTest, GivesUpOnAHandshakeThatDoesNotEnd) {
  ServerOptions options;
  options.header_timeout = milliseconds(40);
  const auto server = serve(options);
  RawClient silent(server->port());
  EXPECT_EQ(silent.receive_all(), "");
  EXPECT_EQ(server->counts().timed_out, 1U);
}

TEST_F(TlsTest, SurvivesAClientThatGoesAway) {
  const auto server = serve();
  for (int i = 0; i < 20; ++i) {
    const TlsClient client(server->port());
    client.send(post("/", std::string(100'000, 'x')));
  }
  const TlsClient client(server->port());
  client.send(get("/"));
  EXPECT_THAT(client.receive_until("GET / "), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(TlsTest, SaysWhatIsWrongWithTheFiles) {
  const auto problem = [](const net::TlsFiles& tls) {
    ServerOptions options;
    options.tls = tls;
    const auto server = Server::start(options, echo);
    return server ? "none" : server.error().message;
  };
  EXPECT_EQ(problem(files), "none");
  EXPECT_EQ(problem({"/none.pem", files.private_key}),
            "cannot use the certificate '/none.pem': No such file or directory");
  EXPECT_EQ(problem({files.certificate_chain, "/none.pem"}),
            "cannot use the private key '/none.pem': No such file or directory");
  EXPECT_THAT(problem({files.private_key, files.private_key}),
              StartsWith("cannot use the certificate '" + files.private_key + "': "));
  const std::string other = directory.path() / "other.pem";
  net::write_key(net::make_key(), other);
  EXPECT_EQ(problem({files.certificate_chain, other}),
            "cannot use the private key '" + other + "': it does not belong to the certificate");
  std::ofstream(other) << "garbage";
  EXPECT_THAT(problem({files.certificate_chain, other}), StartsWith("cannot use the private key '" + other + "': "));
}

}  // namespace
}  // namespace postino::http
