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

// All that there are, for those who read their files again.
struct Register {
  std::mutex mutex;
  std::vector<std::weak_ptr<ClientTls>> entries;
};

Register& every_client_tls() {
  static Register all;
  return all;
}

}  // namespace

struct ClientTls::Context {
  Context(SSL_CTX* made, bool system) : context(made), trusts_system(system) {}
  ~Context() { SSL_CTX_free(context); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  SSL_CTX* const context;
  const bool trusts_system;
  std::once_flag read;  // the authorities of the system
};

base::Result<std::shared_ptr<ClientTls::Context>> ClientTls::read(const ClientTlsOptions& options) {
  ERR_clear_error();
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) return base::fail(base::ErrorCode::exhausted, "cannot set up TLS: " + take_openssl_reason());
  const std::string& file = options.certificate_file;
  auto made = std::make_shared<Context>(context, options.verify && file.empty());
  set_up_client(context, options.verify);
  if (options.verify && !file.empty() && SSL_CTX_load_verify_file(context, file.c_str()) != 1)
    return base::invalid("cannot use the certificates in '" + file + "': " + take_openssl_reason());
  return made;
}

base::Result<std::shared_ptr<ClientTls>> ClientTls::create(const ClientTlsOptions& options) {
  TRY(std::shared_ptr<Context> context, read(options));
  std::shared_ptr<ClientTls> made(new ClientTls(options, std::move(context)));
  Register& all = every_client_tls();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.entries, [](const std::weak_ptr<ClientTls>& each) { return each.expired(); });
  all.entries.push_back(made);
  return made;
}

std::shared_ptr<ssl_ctx_st> ClientTls::context() const {
  std::shared_ptr<Context> current;
  {
    const std::lock_guard lock(mutex_);
    current = context_;
  }
  std::call_once(current->read, [&] {
    // Where this fails no authority is known, and no server's certificate is valid.
    if (current->trusts_system && SSL_CTX_set_default_verify_paths(current->context) != 1)
      base::log_error("tls", "cannot use the system's certificates", {{"reason", take_openssl_reason()}});
    ERR_clear_error();
  });
  return {current, current->context};
}

ClientTls::~ClientTls() = default;

void ClientTls::take(std::shared_ptr<Context> context) {
  const std::lock_guard lock(mutex_);
  context_.swap(context);
}

std::vector<std::shared_ptr<ClientTls>> ClientTls::all() {
  Register& all = every_client_tls();
  const std::lock_guard lock(all.mutex);
  std::vector<std::shared_ptr<ClientTls>> alive;
  for (const std::weak_ptr<ClientTls>& each : all.entries)
    if (auto tls = each.lock()) alive.push_back(std::move(tls));
  return alive;
}

base::Result<ClientTls::Renewal> ClientTls::prepare_renewal() {
  Renewal renewal;
  for (std::shared_ptr<ClientTls>& tls : all()) {
    TRY(std::shared_ptr<Context> context, read(tls->options_));
    renewal.contexts_.emplace_back(std::move(tls), std::move(context));
  }
  return renewal;
}

void ClientTls::Renewal::take() {
  for (auto& [tls, context] : contexts_) tls->take(std::move(context));
  contexts_.clear();
}

}  // namespace postino::net
