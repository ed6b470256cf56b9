// Keys and certificates for tests.
#pragma once

#include <openssl/evp.h>

#include <filesystem>
#include <memory>
#include <string>

#include "net/tls.h"

namespace postino::net {

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;

Key make_key();
void write_key(const Key& key, const std::string& path);

struct CertificateContent {
  EVP_PKEY* key = nullptr;
  std::string subject = "localhost";
  std::string names;  // for example "DNS:localhost, IP:127.0.0.1"
  bool is_authority = false;
  std::string issuer;              // empty: signed by itself
  EVP_PKEY* issuer_key = nullptr;  // belongs to the issuer
  long seconds_left = 24 * 3600;   // negative: has expired
};
void write_certificate(const CertificateContent& content, const std::string& path);

// Issues certificates that those trust who trust certificate_file().
class TestAuthority {
 public:
  // Its files are kept in this directory.
  explicit TestAuthority(std::filesystem::path directory);

  std::string certificate_file() const { return directory_ / "authority.pem"; }
  TlsFiles issue(const std::string& names, long seconds_left = 24 * 3600);

 private:
  const std::filesystem::path directory_;
  const Key key_ = make_key();
  int issued_ = 0;
};

}  // namespace postino::net
