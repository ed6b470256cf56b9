// What both sides of TLS need of OpenSSL.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace postino::net {

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPointer = std::unique_ptr<SSL, SslDeleter>;

// Why the last call of this thread failed. Empties the list of errors.
std::string take_openssl_reason();

}  // namespace postino::net
