// What all I/O threads of a server share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/swappable.h"
#include "http/address_shares.h"
#include "http/body_budget.h"
#include "http/server.h"
#include "net/tls.h"

namespace postino::http {

struct ServerState {
  ServerState(ServerOptions server_options, Handler request_handler)
      : options(std::move(server_options)),
        handler(std::move(request_handler)),
        budget(std::make_shared<BodyBudget>(options.max_body_bytes_in_flight)) {}

  // How often deadlines are looked at.
  std::chrono::milliseconds sweep_interval() const {
    const auto shortest =
        std::min({options.header_timeout, options.body_timeout, options.stall_timeout, options.idle_timeout,
                  options.write_timeout, options.scarce_write_timeout, options.linger_timeout, options.stream_pulse});
    return std::clamp(shortest / 4, std::chrono::milliseconds(5), std::chrono::milliseconds(1000));
  }

  const ServerOptions options;
  const Handler handler;
  base::Swappable<net::TlsContext> tls;  // nullptr: plain
  const std::shared_ptr<BodyBudget> budget;
  AddressShares shares;

  std::atomic<bool> draining = false;
  std::atomic<std::uint64_t> connections = 0;
  std::atomic<std::uint64_t> streams = 0;
  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> timed_out = 0;
  std::atomic<std::uint64_t> too_slow = 0;
  std::atomic<std::uint64_t> malformed = 0;
  std::atomic<std::uint64_t> overloaded = 0;
  std::atomic<std::uint64_t> accept_failures = 0;
};

}  // namespace postino::http
