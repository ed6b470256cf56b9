// Finds a connection for a call: one that waits to be used again, or a new one to the first endpoint that lets us in.
#pragma once

#include <memory>
#include <string>

#include "broker/connection/circuit_breaker.h"
#include "broker/connection/connection.h"
#include "broker/connection/connection_pool.h"
#include "broker/connection/connection_settings.h"
#include "broker/connection/event_loop.h"

namespace postino::broker {

class Connector;

// A connection for one call. It is closed in the end, unless it was given back.
class Lease {
 public:
  Lease(const Connector& connector, std::shared_ptr<Connection> connection, bool is_used)
      : connector_(&connector), connection_(std::move(connection)), is_used_(is_used) {}
  ~Lease();
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&&) = delete;

  const std::shared_ptr<Connection>& connection() const { return connection_; }
  // A caller has used it before: it may have died without a word.
  bool is_used() const { return is_used_; }
  // For others to use, when it is in order and has no links any more.
  void give_back();
  // Waits for the broker to have closed it too.
  void end(Deadline deadline);

 private:
  const Connector* connector_;
  std::shared_ptr<Connection> connection_;
  bool is_used_;
};

// Safe to use from any thread.
class Connector {
 public:
  // invalid when the settings break a rule, or a file of theirs cannot be read.
  static Result<std::unique_ptr<Connector>> create(ConnectionSettings settings, std::shared_ptr<EventLoop> loop,
                                                   std::shared_ptr<ConnectionPool> pool,
                                                   std::shared_ptr<CircuitBreaker> breaker,
                                                   std::size_t max_connections);

  const ConnectionSettings& settings() const { return settings_; }

  enum class Want { any, fresh };
  // Leases must not outlive the connector. An endpoint that has just kept a caller waiting in vain counts as
  // unreachable at once, unless it is this caller's turn to ask it.
  Result<Lease> connect(Deadline deadline, Want want = Want::any) const;

 private:
  friend class Lease;

  Connector(ConnectionSettings settings, std::shared_ptr<EventLoop> loop, std::shared_ptr<ConnectionPool> pool,
            std::shared_ptr<CircuitBreaker> breaker, std::size_t max_connections);
  std::shared_ptr<Connection> take_idle() const;
  Result<void> make_room() const;
  Result<std::shared_ptr<Connection>> try_to_open(const Endpoint& endpoint, Deadline deadline) const;
  CircuitBreaker::Outcome outcome_of(const Result<std::shared_ptr<Connection>>& opened,
                                     std::chrono::steady_clock::duration time) const;
  Result<std::shared_ptr<Connection>> open(const Endpoint& endpoint, Deadline deadline) const;
  Result<std::shared_ptr<Connection>> open(OpenParameters parameters, Deadline deadline) const;
  OpenParameters parameters_for(const Endpoint& endpoint) const;
  std::string mechanism() const;
  bool sends_password() const;

  const ConnectionSettings settings_;
  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<ConnectionPool> pool_;
  const std::shared_ptr<CircuitBreaker> breaker_;
  const std::size_t max_connections_;
  std::string key_;  // the same for the same settings
  std::shared_ptr<TlsDomain> tls_;
};

}  // namespace postino::broker
