#include "broker/connection/tls_domain.h"

#include <openssl/ssl.h>
#include <proton/ssl.h>

namespace postino::broker {

namespace {

// OpenSSL's names of the suites that belong to TLS 1.3 are the standard's own.
bool is_of_tls_1_3(const std::string& name) { return name.starts_with("TLS_") && name.find("_WITH_") == name.npos; }

}  // namespace

Result<std::shared_ptr<TlsDomain>> TlsDomain::create(const BrokerTls& tls) {
  pn_ssl_domain_t* const made = pn_ssl_domain(PN_SSL_MODE_CLIENT);
  if (made == nullptr) return refuse(FailureKind::exhausted, "TLS cannot be set up");
  std::shared_ptr<TlsDomain> domain(new TlsDomain(made));
  TRY_VOID(domain->set_up(tls));
  return domain;
}

TlsDomain::~TlsDomain() { pn_ssl_domain_free(domain_); }

Result<void> TlsDomain::set_up(const BrokerTls& tls) {
  if (!tls.authorities_file.empty() && pn_ssl_domain_set_trusted_ca_db(domain_, tls.authorities_file.c_str()) != 0)
    return refuse(FailureKind::invalid, "cannot read certificates of authorities from " + tls.authorities_file);
  if (!tls.certificate_file.empty() &&
      pn_ssl_domain_set_credentials(domain_, tls.certificate_file.c_str(), tls.key_file.c_str(), nullptr) != 0)
    return refuse(FailureKind::invalid,
                  "cannot read a certificate and its key from " + tls.certificate_file + " and " + tls.key_file);
  const pn_ssl_verify_mode_t mode = tls.verify ? PN_SSL_VERIFY_PEER_NAME : PN_SSL_ANONYMOUS_PEER;
  if (pn_ssl_domain_set_peer_authentication(domain_, mode, nullptr) != 0 ||
      pn_ssl_domain_set_protocols(domain_, "TLSv1.2 TLSv1.3") != 0)
    return refuse(FailureKind::exhausted, "TLS cannot be set up");
  return tls.cipher_suite.empty() ? Result<void>() : choose_cipher(tls.cipher_suite);
}

// Proton can choose among the suites of TLS 1.2 only. Of those of TLS 1.3 the broker takes the one it likes best, and
// we look whether it is the right one.
Result<void> TlsDomain::choose_cipher(const std::string& name) {
  const auto unknown = refuse(FailureKind::invalid, "unknown cipher suite '" + name.substr(0, 100) + "'");
  if (is_of_tls_1_3(name)) {
    for (const char* known : {"TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"})
      if (name == known) cipher_ = name;
    if (cipher_.empty() || pn_ssl_domain_set_protocols(domain_, "TLSv1.3") != 0) return unknown;
    return {};
  }
  const char* const translated = OPENSSL_cipher_name(name.c_str());
  cipher_ = translated == nullptr || std::string_view(translated) == "(NONE)" ? name : translated;
  // A list or a class of suites would pass here, and would never be what was agreed on.
  if (cipher_.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != cipher_.npos ||
      pn_ssl_domain_set_ciphers(domain_, cipher_.c_str()) != 0 || pn_ssl_domain_set_protocols(domain_, "TLSv1.2") != 0)
    return unknown;
  return {};
}

bool TlsDomain::protect(pn_transport_t* transport, const std::string& server_name) const {
  pn_ssl_t* const ssl = pn_ssl(transport);
  return ssl != nullptr && pn_ssl_init(ssl, domain_, nullptr) == 0 &&
         pn_ssl_set_peer_hostname(ssl, server_name.c_str()) == 0;
}

}  // namespace postino::broker
