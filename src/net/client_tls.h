// TLS for the client's side of connections: version 1.2 and later. Shared by all connections to servers of one kind.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;

namespace postino::net {

struct ClientTlsOptions {
  bool verify = true;            // the certificate and the name in it
  std::string certificate_file;  // authorities to trust (PEM); empty: those of the system
};

// Safe to use from any thread.
class ClientTls {
 public:
  // Fails when the authorities cannot be read.
  static base::Result<std::shared_ptr<ClientTls>> create(const ClientTlsOptions& options);
  ~ClientTls();
  ClientTls(const ClientTls&) = delete;
  ClientTls& operator=(const ClientTls&) = delete;

  ssl_ctx_st* context() const { return context_; }
  bool verifies() const { return verify_; }

 private:
  ClientTls(ssl_ctx_st* context, bool verify) : context_(context), verify_(verify) {}
  ssl_ctx_st* context_;
  bool verify_;
};

}  // namespace postino::net
