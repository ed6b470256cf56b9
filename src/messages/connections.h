// Brokers by the names that the configuration gives them, and those that a request describes itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/amqp_client.h"
#include "broker/broker.h"
#include "broker/managed_broker.h"
#include "messages/fault.h"
#include "messages/replaceable_broker.h"
#include "messages/request.h"

namespace postino::messages {

// Whom a call waits for.
struct BrokerTarget {
  std::string broker;  // the same for calls to the same endpoints; empty: the queues in the store
  std::function<broker::Standing()> standing;
};

inline constexpr std::string_view embedded_connection = "embedded";  // the queues in the store

struct ConnectionsOptions {
  std::map<std::string, broker::ConnectionSettings, std::less<>> named;        // that speak AMQP 1.0
  std::map<std::string, broker::ManagementSettings, std::less<>> managements;  // of some of these
  std::vector<std::string> embedded_names;        // further ones of the queues in the store
  std::string default_name{embedded_connection};  // for requests that name none
  // The hosts that a request's own queue manager may have: "broker.example", "broker.example:5671", "*.example.com",
  // "[::1]:5672", or "*" for all. They are compared with the names in the request, not with what these resolve to.
  // None: requests can use connections of the configuration alone.
  std::vector<std::string> allowed_hosts;
  std::string authorities_file;  // to trust in such connections besides those of the system
  broker::AmqpClientOptions client;
};

// What to allow where only programs on this machine can call: this machine.
std::vector<std::string> loopback_hosts();

// Safe to use from any thread.
class Connections {
 public:
  // `embedded` may be null: then there is no connection of that name. Fails, with the name of the connection, when
  // settings break a rule; nothing is connected yet.
  static base::Result<std::unique_ptr<Connections>> create(ConnectionsOptions options,
                                                           std::shared_ptr<broker::Broker> embedded);

  // invalid with the field when there is no such connection, or a host is not allowed.
  Result<std::shared_ptr<broker::Broker>> find(const Place& place);

  // nullopt when there is no such connection. Must not outlive this.
  std::optional<BrokerTarget> target(const Place& place);

  // Brokers that are asked with other passwords and certificates, by the names of their connections.
  using Renewal = std::map<std::string, std::shared_ptr<broker::Broker>, std::less<>>;
  // For connections whose other settings are the same; files are read again. Fails as create() does. Nothing has
  // changed yet.
  base::Result<Renewal> prepare_renewal(const ConnectionsOptions& options);
  // From now on calls go to these.
  void renew(Renewal renewal);

  // The process ends: calls to brokers that still wait are broken off, and no new ones are made.
  void break_off();

  std::vector<std::string> names() const;       // in alphabetical order
  std::string label(const Place& place) const;  // for people: the connection's name, or the queue manager's
  const std::string& default_name() const { return options_.default_name; }

 private:
  explicit Connections(ConnectionsOptions options) : options_(std::move(options)) {}
  base::Result<broker::AmqpClient*> client();
  base::Result<std::shared_ptr<broker::Broker>> make_broker(const std::string& name, const ConnectionsOptions& options);
  broker::Standing standing(const std::vector<broker::Endpoint>& endpoints, bool has_tls);
  Result<std::shared_ptr<broker::Broker>> connect(const QueueManager& manager);
  bool allows(const broker::Endpoint& endpoint) const;

  const ConnectionsOptions options_;
  std::mutex mutex_;
  std::unique_ptr<broker::AmqpClient> client_;  // made when it is first needed
  std::map<std::string, std::shared_ptr<broker::Broker>, std::less<>> brokers_;
  std::map<std::string, std::shared_ptr<ReplaceableBroker>, std::less<>> replaceable_;  // of these
};

}  // namespace postino::messages
