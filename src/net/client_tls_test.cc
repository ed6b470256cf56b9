#include "net/client_tls.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary_directory.h"
#include "net/certificates_testing.h"

namespace postino::net {
namespace {

// Where OpenSSL finds the authorities of the system, until the end of the test.
class SystemAuthorities {
 public:
  explicit SystemAuthorities(const std::string& file) { point_to(file); }
  ~SystemAuthorities() { ::unsetenv(variable); }
  SystemAuthorities(const SystemAuthorities&) = delete;
  SystemAuthorities& operator=(const SystemAuthorities&) = delete;

  static void point_to(const std::string& file) { ::setenv(variable, file.c_str(), 1); }

 private:
  static constexpr const char* variable = "SSL_CERT_FILE";
};

int known_authorities(const ClientTls& tls) {
  return sk_X509_OBJECT_num(X509_STORE_get0_objects(SSL_CTX_get_cert_store(tls.context().get())));
}

TEST(ClientTls, ReadsTheAuthoritiesOfTheSystemWhenTheyAreNeeded) {
  const base::TemporaryDirectory directory;
  const TestAuthority authority(directory.path());
  const SystemAuthorities system("/nonexistent/certificates");
  const auto tls = ClientTls::create({});
  ASSERT_TRUE(tls);
  SystemAuthorities::point_to(authority.certificate_file());
  EXPECT_EQ(known_authorities(**tls), 1) << "they are read now, not before";
  SystemAuthorities::point_to("/nonexistent/certificates");
  EXPECT_EQ(known_authorities(**tls), 1) << "and once";
}

TEST(ClientTls, ReadsAFileOfAuthoritiesAtOnce) {
  const base::TemporaryDirectory directory;
  const TestAuthority authority(directory.path());
  const auto tls = ClientTls::create({true, authority.certificate_file()});
  ASSERT_TRUE(tls);
  EXPECT_EQ(known_authorities(**tls), 1);
  EXPECT_FALSE(ClientTls::create({true, "/nonexistent/certificates"}));
}

TEST(ClientTls, ReadsFilesOfAuthoritiesAnewWhenItIsTold) {
  const base::TemporaryDirectory directory;
  const base::TemporaryDirectory elsewhere;
  const TestAuthority authority(directory.path());
  const TestAuthority other(elsewhere.path());
  const std::filesystem::path file = directory.path() / "authorities.pem";
  std::filesystem::copy_file(authority.certificate_file(), file);
  const auto tls = ClientTls::create({true, file.string()});
  ASSERT_TRUE(tls);
  const std::shared_ptr<ssl_ctx_st> before = (*tls)->context();

  std::ofstream(file, std::ios::app) << std::ifstream(other.certificate_file()).rdbuf();
  auto renewal = ClientTls::prepare_renewal();
  ASSERT_TRUE(renewal) << renewal.error().message;
  EXPECT_EQ((*tls)->context(), before) << "not yet";
  renewal->take();
  EXPECT_EQ(known_authorities(**tls), 2);

  std::ofstream(file) << "no certificate";
  EXPECT_FALSE(ClientTls::prepare_renewal());
  EXPECT_EQ(known_authorities(**tls), 2);
}

TEST(ClientTls, KnowsNoneWhereItTrustsEverybody) {
  const base::TemporaryDirectory directory;
  const TestAuthority authority(directory.path());
  const SystemAuthorities system(authority.certificate_file());
  const auto tls = ClientTls::create({false, ""});
  ASSERT_TRUE(tls);
  EXPECT_EQ(known_authorities(**tls), 0);
}

}  // namespace
}  // namespace postino::net
