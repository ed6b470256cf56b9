// Getting in: TLS, passwords, and a server that is full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/many_threads_testing.h"
#include "mariadb_server.h"
#include "mysql/database.h"
#include "net/certificates_testing.h"

namespace postino::mysql {
namespace {

using testing::HasSubstr;
using testing::Not;

class AccessTest : public testing::Test {
 protected:
  static const base::TemporaryDirectory& files() {
    static const base::TemporaryDirectory files;
    return files;
  }
  static net::TestAuthority& authority() {
    static net::TestAuthority authority(files().path());
    return authority;
  }
  static MariadbServer& server() {
    static const net::TlsFiles tls = authority().issue("DNS:localhost");
    static MariadbServer server(
        {.tcp = true,
         .arguments = {"--ssl-ca=" + authority().certificate_file(), "--ssl-cert=" + tls.certificate_chain,
                       "--ssl-key=" + tls.private_key, "--max-connections=10"}});
    return server;
  }
  static ServerOptions options(TlsMode mode, const std::string& ca_file = {}) {
    ServerOptions options = server().tcp_options();
    options.host = "localhost";
    options.tls.mode = mode;
    options.tls.ca_file = ca_file;
    return options;
  }
  static std::string cipher(const ServerOptions& options) {
    const auto connection = Connection::open(options);
    if (!connection) return connection.error().message;
    const auto rows =
        (*connection)
            ->query("SELECT variable_value FROM information_schema.session_status WHERE variable_name = 'Ssl_cipher'");
    return std::string((*rows)[0].text(0));
  }
  static void run(const std::string& sql) {
    const auto done = (*Connection::open(server().options()))->run(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
};

TEST_F(AccessTest, TlsIsUsedAsAsked) {
  EXPECT_EQ(cipher(options(TlsMode::off)), "");
  EXPECT_THAT(cipher(options(TlsMode::preferred)), HasSubstr("TLS_"));
  EXPECT_THAT(cipher(options(TlsMode::required)), HasSubstr("TLS_"));
  EXPECT_THAT(cipher(options(TlsMode::verified, authority().certificate_file())), HasSubstr("TLS_"));
  EXPECT_EQ(cipher(server().options()), "") << "not through the socket";
}

TEST_F(AccessTest, AnotherAuthoritysCertificateIsRefused) {
  const base::TemporaryDirectory directory;
  const net::TestAuthority other(directory.path());
  for (const std::string& ca_file : {other.certificate_file(), std::string()}) {
    const auto refused = Connection::open(options(TlsMode::verified, ca_file));
    ASSERT_FALSE(refused) << ca_file;
    EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    EXPECT_THAT(refused.error().message, HasSubstr("certificate"));
    EXPECT_THAT(refused.error().message, HasSubstr("localhost:"));
  }
  EXPECT_TRUE(Connection::open(options(TlsMode::required, other.certificate_file()))) << "anybody's will do";
}

TEST_F(AccessTest, ACertificateForAnotherHostIsRefused) {
  ServerOptions elsewhere = options(TlsMode::verified, authority().certificate_file());
  elsewhere.host = "127.0.0.1";
  const auto refused = Connection::open(elsewhere);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::refused);
}

TEST_F(AccessTest, OurOwnCertificateIsShownWhereOneIsWanted) {
  run("CREATE USER certified@'%' REQUIRE X509");
  ServerOptions certified = options(TlsMode::verified, authority().certificate_file());
  certified.user = "certified";
  EXPECT_EQ(Connection::open(certified).error().kind, ErrorKind::refused);
  const net::TlsFiles ours = authority().issue("DNS:client");
  certified.tls.certificate_file = ours.certificate_chain;
  certified.tls.key_file = ours.private_key;
  const auto connection = Connection::open(certified);
  EXPECT_TRUE(connection) << connection.error().message;
}

TEST_F(AccessTest, AMissingFileIsNamed) {
  ServerOptions wrong = options(TlsMode::verified, "/nowhere/authority.pem");
  const auto refused = Connection::open(wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::refused) << refused.error().message;
  EXPECT_THAT(refused.error().message, HasSubstr("/nowhere/authority.pem"));
}

TEST_F(AccessTest, AWrongPasswordIsRefusedAndNotRepeated) {
  run("CREATE USER clerk@'%' IDENTIFIED BY 'right horse'");
  ServerOptions clerk = options(TlsMode::preferred);
  clerk.user = "clerk";
  clerk.password = "right horse";
  EXPECT_TRUE(Connection::open(clerk));
  clerk.password = "wrong donkey";
  int slept = 0;
  base::SeededRandom random(7);
  Database database(clerk, {}, random, [&](base::Milliseconds) { ++slept; });
  const auto refused =
      database.read([](Connection& connection, const Attempt&) { return connection.query("SELECT 1"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::refused);
  EXPECT_EQ(refused.error().code, 1045U);
  EXPECT_THAT(refused.error().message, HasSubstr("clerk"));
  EXPECT_THAT(as_error(refused.error()).message, Not(HasSubstr("donkey")));
  EXPECT_EQ(slept, 0);

  clerk.password = "right horse";
  clerk.database = "mysql";
  EXPECT_EQ(Connection::open(clerk).error().kind, ErrorKind::refused) << "no right to this database";
}

TEST_F(AccessTest, APasswordIsNotTakenFromTheEnvironment) {
  run("CREATE USER careful@'%' IDENTIFIED BY 'secret'");
  ServerOptions careful = options(TlsMode::off);
  careful.user = "careful";
  ::setenv("MYSQL_PWD", "secret", 1);
  const auto refused = Connection::open(careful);
  ::unsetenv("MYSQL_PWD");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 1045U);
}

TEST_F(AccessTest, AFullServerIsTriedAgain) {
  run("CREATE USER visitor@'%'");
  ServerOptions visitor = options(TlsMode::off);
  visitor.user = "visitor";
  std::vector<std::unique_ptr<Connection>> guests;
  Result<std::unique_ptr<Connection>> refused;
  // The server may not have noticed yet that others have gone.
  while (guests.size() < 10)
    if (auto guest = Connection::open(visitor)) guests.push_back(std::move(*guest));
  ASSERT_FALSE(refused = Connection::open(visitor));
  EXPECT_EQ(refused.error().kind, ErrorKind::transient) << refused.error().message;
  EXPECT_EQ(refused.error().code, 1040U);
  ServerOptions over_tls = visitor;
  over_tls.tls.mode = TlsMode::required;
  // It says so before there is TLS. What it says may be lost when it closes the connection at once.
  EXPECT_TRUE(base::eventually([&] { return Connection::open(over_tls).error().code == 1040U; }));

  base::SeededRandom random(7);
  // One goes, and the server is asked until it has noticed.
  Database database(visitor, {}, random, [&](base::Milliseconds) {
    guests.clear();
    while (!Connection::open(visitor)) {
    }
  });
  const auto answer =
      database.read([](Connection& connection, const Attempt&) { return connection.query("SELECT 1"); });
  EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_GE(database.statistics().repeats(1040), 1U);
}

}  // namespace
}  // namespace postino::mysql
