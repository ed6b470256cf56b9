// An HTTP/1.1 server: a few I/O threads, one handler, and limits on everything a client can do to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/http.h"

namespace postino::net {

struct TlsFiles {
  std::string certificate_chain;  // PEM
  std::string private_key;        // PEM
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  int threads = 0;         // 0: one per core
  std::optional<TlsFiles> tls;

  // What is said to requests that break the protocol or a limit, and so never reach the handler. Called on I/O threads,
  // with the status, which stays; without it such answers have no body.
  std::function<Response(int status)> refusal;

  std::size_t max_connections = 20'000;
  std::size_t max_header_bytes = 16 << 10;
  std::size_t max_body_bytes = 16 << 20;
  std::size_t max_body_bytes_in_flight = 512 << 20;  // of all requests together

  // These are met with a delay of up to half of the shortest, and never more than two seconds.
  std::chrono::milliseconds header_timeout{20'000};  // from the first byte of a request to the end of its headers
  std::chrono::milliseconds body_timeout{60'000};    // from there to the end of the body
  std::chrono::milliseconds idle_timeout{300'000};   // between requests
  std::chrono::milliseconds write_timeout{60'000};   // for the client to take the response
  std::chrono::milliseconds linger_timeout{2'000};  // for the client to close after a response that ends the connection
};

// What is going on, for metrics.
struct HttpServerCounts {
  std::uint64_t connections = 0;  // open now
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  // over max_connections
  std::uint64_t timed_out = 0;
  std::uint64_t malformed = 0;        // requests that broke the protocol or a limit
  std::uint64_t overloaded = 0;       // requests over max_body_bytes_in_flight
  std::uint64_t accept_failures = 0;  // mostly for want of descriptors
};

class HttpServer {
 public:
  // Listens at once; requests are served from here on. Fails when the address cannot be used or the certificate read.
  static base::Result<std::unique_ptr<HttpServer>> start(HttpServerOptions options, Handler handler);
  // Like stop() with no grace.
  ~HttpServer();

  // Stops listening, lets requests that have begun finish (up to `grace`), and ends all connections. Afterwards the
  // handler is not called any more. Safe to call from any thread but not from the handler.
  void stop(std::chrono::milliseconds grace);

  std::uint16_t port() const;
  HttpServerCounts counts() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::net
