// An HTTP/1.1 server: a few I/O threads, one handler, and limits on everything a client can do to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "base/result.h"
#include "http/message.h"
#include "net/tls.h"

namespace postino::http {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  int threads = 0;         // 0: one per core
  std::optional<net::TlsFiles> tls;

  // Called on I/O threads when the headers of a request have come, but not all of its body: a response refuses it,
  // before the body costs anything. The request has no body then. Without it, the handler alone decides.
  std::function<std::optional<Response>(const Request& request)> refuse_early;

  // Peers whose connections are those of many clients, such as a proxy: their addresses have no share of bodies of
  // their own. Loopback has none either.
  std::vector<std::string> shared_addresses;

  // What is said to requests that break the protocol or a limit, and so never reach the handler. Called on I/O threads,
  // with the status, which stays; without it such answers have no body.
  std::function<Response(int status)> refusal;

  std::size_t max_connections = 20'000;
  std::size_t max_header_bytes = 16 << 10;
  std::size_t max_body_bytes = 16 << 20;
  std::size_t max_body_bytes_in_flight = 512 << 20;  // of all requests together
  // Answers that clients have not taken yet. Servers may share it. When it is exhausted, handlers refuse what has a
  // large answer; from half of it on, clients that take theirs too slowly are cut off.
  std::shared_ptr<base::MemoryBudget> answers = std::make_shared<base::MemoryBudget>(256 << 20);

  // Answers that go on for as long as their client wants (BodyStream). More are refused with 503.
  std::size_t max_streams = 1'000;
  std::chrono::milliseconds stream_pulse{15'000};  // without a piece, before one is sent to see if the client is there

  // These are met with a delay of up to half of the shortest, and never more than two seconds.
  std::chrono::milliseconds header_timeout{20'000};  // from the first byte of a request to the end of its headers
  std::chrono::milliseconds body_timeout{60'000};    // from there to the end of the body
  std::chrono::milliseconds stall_timeout{10'000};   // for the next 16 KB of a body that has 64 KB already
  std::chrono::milliseconds idle_timeout{300'000};   // between requests
  std::chrono::milliseconds write_timeout{60'000};   // for the client to take the response
  // The same while memory for answers is scarce, and a quarter of it while there is none; a second longer for every
  // megabyte that the client has taken.
  std::chrono::milliseconds scarce_write_timeout{5'000};
  std::chrono::milliseconds linger_timeout{2'000};  // for the client to close after a response that ends the connection
};

// What is going on, for metrics.
struct ServerCounts {
  std::uint64_t connections = 0;  // open now
  std::uint64_t streams = 0;      // of these: with an answer that goes on
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  // over max_connections
  std::uint64_t timed_out = 0;
  std::uint64_t too_slow = 0;         // of these: took their answers too slowly when memory for answers was scarce
  std::uint64_t malformed = 0;        // requests that broke the protocol or a limit
  std::uint64_t overloaded = 0;       // requests over max_body_bytes_in_flight
  std::uint64_t accept_failures = 0;  // mostly for want of descriptors
};

class Server {
 public:
  // Listens at once; requests are served from here on. Fails when the address cannot be used or the certificate read.
  static base::Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  // Like stop() with no grace.
  ~Server();

  // Stops listening, lets requests that have begun finish (up to `grace`), and ends all connections. Afterwards the
  // handler is not called any more. Safe to call from any thread but not from the handler.
  void stop(std::chrono::milliseconds grace);

  // The certificate and key of connections that come from now on; only for a server that was started with some. Safe to
  // call from any thread.
  void set_tls(std::shared_ptr<const net::TlsContext> tls);

  std::uint16_t port() const;
  ServerCounts counts() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace postino::http
