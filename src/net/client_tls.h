// TLS for the client's side of connections: version 1.2 and later. Shared by all connections to servers of one kind.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

struct ssl_ctx_st;

namespace postino::net {

struct ClientTlsOptions {
  bool verify = true;            // the certificate and the name in it
  std::string certificate_file;  // authorities to trust (PEM); empty: those of the system
};

// Safe to use from any thread.
class ClientTls {
  struct Context;

 public:
  // Fails when the authorities of a file cannot be read. Those of the system are read with the first connection: there
  // are more than a hundred, and a program may never need them.
  static base::Result<std::shared_ptr<ClientTls>> create(const ClientTlsOptions& options);
  ~ClientTls();
  ClientTls(const ClientTls&) = delete;
  ClientTls& operator=(const ClientTls&) = delete;

  // For a connection that begins now.
  std::shared_ptr<ssl_ctx_st> context() const;
  bool verifies() const { return options_.verify; }

  // The authorities of all that there are in this process, read again from the same files, or from the system.
  class Renewal {
   public:
    // From now on they count. Connections that are open go on.
    void take();

   private:
    friend class ClientTls;
    std::vector<std::pair<std::shared_ptr<ClientTls>, std::shared_ptr<Context>>> contexts_;
  };
  // Fails when a file cannot be read. Nothing has changed yet.
  static base::Result<Renewal> prepare_renewal();

 private:
  static base::Result<std::shared_ptr<Context>> read(const ClientTlsOptions& options);
  static std::vector<std::shared_ptr<ClientTls>> all();

  ClientTls(ClientTlsOptions options, std::shared_ptr<Context> context)
      : options_(std::move(options)), context_(std::move(context)) {}
  void take(std::shared_ptr<Context> context);

  const ClientTlsOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<Context> context_;
};

}  // namespace postino::net
