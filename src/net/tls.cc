#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <string>

#include "net/openssl.h"
#include "net/tls_socket.h"

namespace postino::net {

namespace {

// A response of up to this size goes out as one record, header and body.
constexpr std::size_t joined_size = 16 << 10;

class TlsTransport final : public Transport {
 public:
  TlsTransport(SslPointer ssl, int socket) : ssl_(std::move(ssl)), socket_(socket) {}

  bool secure() const override { return true; }

  TransferStatus handshake() override {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    return result == 1 ? TransferStatus::done : status_of(result);
  }

  Transfer read(char* buffer, std::size_t size) override {
    ERR_clear_error();
    std::size_t total = 0;
    while (total < size) {
      std::size_t count = 0;
      const int result = SSL_read_ex(ssl_.get(), buffer + total, size - total, &count);
      if (result != 1) {
        if (total == 0) return {status_of(result)};
        break;
      }
      total += count;
      if (SSL_has_pending(ssl_.get()) == 0) break;
    }
    return {TransferStatus::done, total};
  }

  bool has_buffered() const override { return SSL_has_pending(ssl_.get()) == 1; }

  Transfer write(std::string_view first, std::string_view second) override {
    if (!first.empty() && !second.empty() && first.size() + second.size() <= joined_size) {
      thread_local std::string joined;
      joined.assign(first).append(second);
      return write(joined);
    }
    return write(first.empty() ? second : first);
  }

  void finish() override {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ::shutdown(socket_, SHUT_WR);
  }

 private:
  Transfer write(std::string_view bytes) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
    if (result == 1) return {TransferStatus::done, count};
    return {status_of(result)};
  }

  TransferStatus status_of(int result) const {
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_READ) return TransferStatus::want_read;
    return error == SSL_ERROR_WANT_WRITE ? TransferStatus::want_write : TransferStatus::closed;
  }

  SslPointer ssl_;
  const int socket_;
};

int choose_protocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void* /*argument*/) {
  static constexpr unsigned char spoken[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, chosen_size, spoken, sizeof spoken, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = selected;
  return SSL_TLSEXT_ERR_OK;
}

void set_up_server(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION);
  // A connection that rests must not hold the two buffers of 16 KB each, and a record is read with one system call.
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  // Clients resume by the tickets they keep; there is nothing to remember here.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
}

}  // namespace

base::Result<std::unique_ptr<TlsContext>> TlsContext::load(const TlsFiles& files) {
  ERR_clear_error();
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  if (context == nullptr) return base::fail(base::ErrorCode::exhausted, "cannot set up TLS: " + take_openssl_reason());
  std::unique_ptr<TlsContext> loaded(new TlsContext(context));
  set_up_server(context);
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate_chain.c_str()) != 1)
    return base::invalid("cannot use the certificate '" + files.certificate_chain + "': " + take_openssl_reason());
  if (SSL_CTX_use_PrivateKey_file(context, files.private_key.c_str(), SSL_FILETYPE_PEM) != 1)
    return base::invalid("cannot use the private key '" + files.private_key + "': " + take_openssl_reason());
  return loaded;
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

std::unique_ptr<Transport> TlsContext::make_transport(int socket) const {
  SslPointer ssl(SSL_new(context_));
  BIO* const bio = make_socket_bio(socket);
  if (!ssl || bio == nullptr) {
    BIO_free(bio);
    return nullptr;
  }
  SSL_set_bio(ssl.get(), bio, bio);
  SSL_set_accept_state(ssl.get());
  return std::make_unique<TlsTransport>(std::move(ssl), socket);
}

}  // namespace postino::net
