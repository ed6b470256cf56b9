// What all I/O threads of a server share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "net/body_budget.h"
#include "net/http_server.h"
#include "net/tls.h"

namespace postino::net {

struct ServerState {
  ServerState(HttpServerOptions server_options, Handler request_handler)
      : options(std::move(server_options)),
        handler(std::move(request_handler)),
        budget(std::make_shared<BodyBudget>(options.max_body_bytes_in_flight)) {}

  // How often deadlines are looked at.
  std::chrono::milliseconds sweep_interval() const {
    const auto shortest = std::min({options.header_timeout, options.body_timeout, options.idle_timeout,
                                    options.write_timeout, options.linger_timeout});
    return std::clamp(shortest / 4, std::chrono::milliseconds(5), std::chrono::milliseconds(1000));
  }

  const HttpServerOptions options;
  const Handler handler;
  std::unique_ptr<TlsContext> tls;  // nullptr: plain
  const std::shared_ptr<BodyBudget> budget;

  std::atomic<bool> draining = false;
  std::atomic<std::uint64_t> connections = 0;
  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> timed_out = 0;
  std::atomic<std::uint64_t> malformed = 0;
  std::atomic<std::uint64_t> overloaded = 0;
  std::atomic<std::uint64_t> accept_failures = 0;
};

}  // namespace postino::net
