// What all TLS connections with the same settings share.
#pragma once

#include <memory>
#include <string>

#include "broker/connection/connection_settings.h"
#include "broker/protocol/failure.h"

struct pn_ssl_domain_t;
struct pn_transport_t;

namespace postino::broker {

// Safe to use from any thread once it is made.
class TlsDomain {
 public:
  // invalid when a file cannot be read or the cipher suite is unknown.
  static Result<std::shared_ptr<TlsDomain>> create(const BrokerTls& tls);
  ~TlsDomain();
  TlsDomain(const TlsDomain&) = delete;
  TlsDomain& operator=(const TlsDomain&) = delete;

  // The certificate must be for this name. False when there is no memory for it.
  bool protect(pn_transport_t* transport, const std::string& server_name) const;

  // What was agreed on with the broker must be this; empty: anything. OpenSSL's name.
  const std::string& cipher() const { return cipher_; }

 private:
  explicit TlsDomain(pn_ssl_domain_t* domain) : domain_(domain) {}
  Result<void> set_up(const BrokerTls& tls);
  Result<void> choose_cipher(const std::string& name);

  pn_ssl_domain_t* domain_;
  std::string cipher_;
};

}  // namespace postino::broker
