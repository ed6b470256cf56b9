// TLS for the client's side of connections: version 1.2 and later. Shared by all connections to servers of one kind.
#pragma once

#include <memory>
#include <mutex>
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
  // Fails when the authorities of a file cannot be read. Those of the system are read with the first connection: there
  // are more than a hundred, and a program may never need them.
  static base::Result<std::shared_ptr<ClientTls>> create(const ClientTlsOptions& options);
  ~ClientTls();
  ClientTls(const ClientTls&) = delete;
  ClientTls& operator=(const ClientTls&) = delete;

  ssl_ctx_st* context() const;
  bool verifies() const { return verify_; }

 private:
  ClientTls(ssl_ctx_st* context, bool verify, bool trusts_system)
      : context_(context), verify_(verify), trusts_system_(trusts_system) {}

  ssl_ctx_st* context_;
  bool verify_;
  bool trusts_system_;
  mutable std::once_flag read_;  // the authorities of the system
};

}  // namespace postino::net
