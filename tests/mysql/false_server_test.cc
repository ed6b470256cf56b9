// An attacker answers in the database's place, and asks for the password.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <future>
#include <optional>

#include "base/temporary_directory.h"
#include "mysql/connection.h"
#include "mysql/greeting.h"
#include "net/certificates_testing.h"
#include "net/raw_server_testing.h"
#include "net/tls_socket.h"

namespace postino::mysql {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* password = "correct horse battery";
constexpr unsigned tls_capability = 0x0800;

std::string packet(std::size_t number, const std::string& content) {
  std::string bytes;
  for (const int shift : {0, 8, 16}) bytes += static_cast<char>(content.size() >> shift & 0xFF);
  return bytes + static_cast<char>(number) + content;
}

std::string greeting(bool tls) {
  constexpr unsigned protocol_41 = 0x0200, secure_connection = 0x8000, plugins = 0x0008;  // the last in the upper half
  const unsigned low = protocol_41 | secure_connection | (tls ? tls_capability : 0);
  std::string content = "\x0A";
  content += "10.11.6-MariaDB";
  content += '\0';
  content += std::string("\1\0\0\0", 4) + "12345678" + '\0';
  content += static_cast<char>(low & 0xFF);
  content += static_cast<char>(low >> 8);
  content += '\x2D';
  content += std::string("\2\0", 2);
  content += static_cast<char>(plugins);
  content += std::string("\0\x15", 2) + std::string(10, '\0') + "123456789012" + '\0';
  content += "mysql_native_password";
  content += '\0';
  return packet(0, content);
}

// Greets, lets the client log in, and then asks for the password in another way, over TLS if it has a certificate.
class FalseServer {
 public:
  FalseServer(std::string way, std::optional<net::TlsFiles> tls)
      : way_(std::move(way)), tls_(std::move(tls)), server_([this](net::RawPeer& peer) { serve(peer); }) {}

  std::uint16_t port() const { return server_.port(); }
  // Everything that the client has sent, as the server understands it. Waits until the client has gone.
  std::string heard() { return heard_in_full_.get_future().get(); }

 private:
  struct Closer {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  bool read_packet(std::string& content) {
    std::string header = read(4);
    if (header.size() < 4) return false;
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(header[i])); };
    content = read(byte(0) | byte(1) << 8 | byte(2) << 16);
    number_ = byte(3) + 1;
    return true;
  }
  std::string read(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) {
      char letter = 0;
      const auto taken = ssl_ ? SSL_read(ssl_.get(), &letter, 1) : ::read(descriptor_, &letter, 1);
      if (taken <= 0) break;
      bytes += letter;
    }
    heard_ += bytes;
    return bytes;
  }
  void write(const std::string& bytes) {
    if (ssl_)
      SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    else
      std::ignore = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);  // the client may have gone
  }
  bool encrypt() {
    context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate_chain_file(context_.get(), tls_->certificate_chain.c_str());
    SSL_CTX_use_PrivateKey_file(context_.get(), tls_->private_key.c_str(), SSL_FILETYPE_PEM);
    std::unique_ptr<SSL, Closer> ssl(SSL_new(context_.get()));
    BIO* socket = net::make_socket_bio(descriptor_);
    SSL_set_bio(ssl.get(), socket, socket);
    if (SSL_accept(ssl.get()) != 1) return false;
    ssl_ = std::move(ssl);
    return true;
  }

  void serve(net::RawPeer& peer) {
    descriptor_ = peer.descriptor();
    talk();
    ssl_.reset();
    heard_in_full_.set_value(heard_);
  }
  void talk() {
    write(greeting(tls_.has_value()));
    std::string content;
    if (tls_ && !(read_packet(content) && content.size() == 32 && encrypt())) return;
    if (!read_packet(content)) return;
    write(packet(number_, "\xFE" + way_ + '\0' + "12345678901234567890" + '\0'));
    // Whatever it sends: there is more to come, until it has had enough.
    while (read_packet(content)) write(packet(number_, std::string("\1\4", 2)));
  }

  const std::string way_;
  const std::optional<net::TlsFiles> tls_;
  int descriptor_ = -1;
  std::size_t number_ = 0;
  std::unique_ptr<SSL_CTX, Closer> context_;
  std::unique_ptr<SSL, Closer> ssl_;
  std::string heard_;
  std::promise<std::string> heard_in_full_;
  net::RawServer server_;
};

class FalseServerTest : public testing::Test {
 protected:
  // What the server heard of a client in this mode.
  std::string heard_by(FalseServer& server, TlsMode mode) {
    ServerOptions options;
    options.host = "127.0.0.1";
    options.port = server.port();
    options.user = "clerk";
    options.password = password;
    options.tls.mode = mode;
    const auto refused = Connection::open(options);
    EXPECT_FALSE(refused);
    if (!refused) message_ = refused.error().message;
    return server.heard();
  }

  const std::vector<TlsMode> all_modes = {TlsMode::off, TlsMode::preferred, TlsMode::required, TlsMode::verified};
  const std::vector<std::string> giving_ways = {"mysql_clear_password", "dialog", "sha256_password",
                                                "caching_sha2_password"};
  std::string message_;
};

TEST_F(FalseServerTest, WithoutTlsGetsNoPasswordInAnyMode) {
  for (const TlsMode mode : all_modes)
    for (const std::string& way : giving_ways) {
      FalseServer server(way, std::nullopt);
      EXPECT_THAT(heard_by(server, mode), Not(HasSubstr(password))) << way << " in mode " << static_cast<int>(mode);
    }
}

// Not even a name, or a proof that passwords can be tried against.
TEST_F(FalseServerTest, WithoutTlsHearsNothingWhereTlsIsRequired) {
  for (const TlsMode mode : {TlsMode::required, TlsMode::verified}) {
    FalseServer server("mysql_clear_password", std::nullopt);
    EXPECT_EQ(heard_by(server, mode), "") << static_cast<int>(mode);
    EXPECT_THAT(message_, HasSubstr("TLS is required, but the server does not offer it"));
  }
}

// It would give its own key, and could read what is encrypted for it.
TEST_F(FalseServerTest, WithoutTlsGetsNoPasswordForItsOwnKey) {
  for (const TlsMode mode : {TlsMode::off, TlsMode::preferred})
    for (const std::string way : {"sha256_password", "caching_sha2_password"}) {
      FalseServer server(way, std::nullopt);
      heard_by(server, mode);
      EXPECT_THAT(message_, HasSubstr("in a way that is not safe")) << way;
    }
}

TEST_F(FalseServerTest, WithAnyCertificateGetsNoPasswordInTheClear) {
  const base::TemporaryDirectory files;
  net::TestAuthority authority(files.path());
  for (const TlsMode mode : all_modes)
    for (const std::string way : {"mysql_clear_password", "dialog"}) {
      FalseServer server(way, authority.issue("DNS:localhost"));
      EXPECT_THAT(heard_by(server, mode), Not(HasSubstr(password))) << way << " in mode " << static_cast<int>(mode);
    }
}

TEST(Greeting, IsReadFromItsPieces) {
  const std::string whole = greeting(true);
  const std::size_t behind_capabilities = 4 + 1 + std::string_view("10.11.6-MariaDB").size() + 1 + 13 + 2;
  for (std::size_t size = 0; size < behind_capabilities; ++size)
    EXPECT_EQ(read_greeting(whole.substr(0, size)), Greeting::incomplete) << size;
  EXPECT_EQ(read_greeting(whole.substr(0, behind_capabilities)), Greeting::offers_tls);
  EXPECT_EQ(read_greeting(whole), Greeting::offers_tls);
  EXPECT_EQ(read_greeting(greeting(false)), Greeting::plain);
  EXPECT_EQ(read_greeting(packet(0, "\xFF\x10\x04Too many connections")), Greeting::error);
  EXPECT_EQ(read_greeting("HTTP/1.1 400 Bad Request\r\n"), Greeting::plain);
  EXPECT_EQ(read_greeting(packet(0, "\x0A" + std::string(4'000, 'v'))), Greeting::plain) << "a version without an end";
}

}  // namespace
}  // namespace postino::mysql
