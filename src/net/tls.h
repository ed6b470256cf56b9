// TLS for the server's side of connections: version 1.2 and later, HTTP/1.1 by ALPN.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "net/transport.h"

struct ssl_ctx_st;

namespace postino::net {

struct TlsFiles {
  std::string certificate_chain;  // PEM
  std::string private_key;        // PEM
};

// The certificate and key that all connections of a server share.
class TlsContext {
 public:
  static base::Result<std::unique_ptr<TlsContext>> load(const TlsFiles& files);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // The socket is non-blocking and stays the caller's. nullptr when there is no memory for it.
  std::unique_ptr<Transport> make_transport(int socket) const;

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

}  // namespace postino::net
