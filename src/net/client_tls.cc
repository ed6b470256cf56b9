#include "net/client_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/log.h"
#include "net/openssl.h"

namespace postino::net {

namespace {

void set_up_client(SSL_CTX* context, bool verify) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // A connection that rests must not hold the two buffers of 16 KB each, and a record is read with one system call.
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
}

}  // namespace

base::Result<std::shared_ptr<ClientTls>> ClientTls::create(const ClientTlsOptions& options) {
  ERR_clear_error();
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) return base::fail(base::ErrorCode::exhausted, "cannot set up TLS: " + take_openssl_reason());
  const std::string& file = options.certificate_file;
  std::shared_ptr<ClientTls> made(new ClientTls(context, options.verify, options.verify && file.empty()));
  set_up_client(context, options.verify);
  if (options.verify && !file.empty() && SSL_CTX_load_verify_file(context, file.c_str()) != 1)
    return base::invalid("cannot use the certificates in '" + file + "': " + take_openssl_reason());
  return made;
}

ssl_ctx_st* ClientTls::context() const {
  std::call_once(read_, [this] {
    // Where this fails no authority is known, and no server's certificate is valid.
    if (trusts_system_ && SSL_CTX_set_default_verify_paths(context_) != 1)
      base::log_error("tls", "cannot use the system's certificates", {{"reason", take_openssl_reason()}});
    ERR_clear_error();
  });
  return context_;
}

ClientTls::~ClientTls() { SSL_CTX_free(context_); }

}  // namespace postino::net
