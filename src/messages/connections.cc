#include "messages/connections.h"

#include <algorithm>

#include "base/text.h"
#include "net/address.h"

namespace postino::messages {

namespace {

// "host", "host:port", "[address]:port", "*.domain", "*"
bool matches(std::string_view pattern, const broker::Endpoint& endpoint) {
  if (pattern == "*") return true;
  const bool bare_address = net::is_ipv6(std::string(pattern));
  const std::size_t colon = bare_address ? pattern.npos : pattern.rfind(':');
  const bool has_port = colon != pattern.npos && pattern.find(']', colon) == pattern.npos;
  if (has_port && pattern.substr(colon + 1) != std::to_string(endpoint.port)) return false;
  std::string host = base::lower_case(has_port ? pattern.substr(0, colon) : pattern);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string asked = base::lower_case(endpoint.host);
  if (!host.starts_with("*.")) return host == asked;
  return asked.size() > host.size() - 1 && asked.ends_with(std::string_view(host).substr(1));
}

broker::ConnectionSettings settings_of(const QueueManager& manager, const std::string& authorities_file) {
  broker::ConnectionSettings settings;
  settings.endpoints = manager.endpoints;
  settings.virtual_host = manager.virtual_host;
  settings.user = manager.user;
  settings.password = manager.password;
  settings.tls.enabled = manager.use_tls;
  settings.tls.cipher_suite = manager.cipher_suite;
  settings.tls.authorities_file = authorities_file;
  return settings;
}

}  // namespace

std::vector<std::string> loopback_hosts() { return {"localhost", "127.0.0.1", "::1"}; }

base::Result<std::unique_ptr<Connections>> Connections::create(ConnectionsOptions options,
                                                               std::shared_ptr<broker::Broker> embedded) {
  std::unique_ptr<Connections> connections(new Connections(std::move(options)));
  const ConnectionsOptions& kept = connections->options_;
  if (embedded != nullptr) {
    connections->brokers_.emplace(embedded_connection, embedded);
    for (const std::string& name : kept.embedded_names) connections->brokers_.emplace(name, embedded);
  }
  for (const auto& [name, each] : kept.named) {
    if (name == embedded_connection)
      return base::invalid("connection " + name + ": the name is reserved for the queues in the store");
    TRY(auto broker, connections->make_broker(name, kept));
    const auto replaceable = std::make_shared<ReplaceableBroker>(std::move(broker));
    connections->brokers_.emplace(name, replaceable);
    connections->replaceable_.emplace(name, replaceable);
  }
  return connections;
}

base::Result<std::shared_ptr<broker::Broker>> Connections::make_broker(const std::string& name,
                                                                       const ConnectionsOptions& options) {
  TRY(broker::AmqpClient* const client, this->client());
  auto broker = client->broker(options.named.find(name)->second);
  const auto management = options.managements.find(name);
  if (broker && management != options.managements.end())
    broker = broker::ManagedBroker::create(*std::move(broker), management->second);
  if (!broker) return base::invalid("connection " + name + ": " + broker.error().message);
  return std::shared_ptr<broker::Broker>(*std::move(broker));
}

base::Result<Connections::Renewal> Connections::prepare_renewal(const ConnectionsOptions& options) {
  Renewal renewal;
  for (const auto& [name, settings] : options.named) {
    if (!replaceable_.contains(name)) continue;
    TRY(renewal[name], make_broker(name, options));
  }
  return renewal;
}

void Connections::renew(Renewal renewal) {
  for (auto& [name, broker] : renewal) replaceable_.find(name)->second->replace(std::move(broker));
}

base::Result<broker::AmqpClient*> Connections::client() {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) {
    TRY(client_, broker::AmqpClient::create(options_.client));
  }
  return client_.get();
}

void Connections::break_off() {
  const std::lock_guard lock(mutex_);
  if (client_) client_->break_off();
}

bool Connections::allows(const broker::Endpoint& endpoint) const {
  return std::ranges::any_of(options_.allowed_hosts,
                             [&](const std::string& pattern) { return matches(pattern, endpoint); });
}

Result<std::shared_ptr<broker::Broker>> Connections::connect(const QueueManager& manager) {
  for (std::size_t i = 0; i < manager.endpoints.size(); ++i)
    if (!allows(manager.endpoints[i]))
      return refuse_field(json::element_path("queueManager.endpoints", i) + ".host",
                          "must be a host that the configuration allows");
  const auto client = this->client();
  if (!client) return refuse(FaultKind::exhausted, client.error().message);
  auto broker = (*client)->broker(settings_of(manager, options_.authorities_file));
  if (!broker) return refuse_field("queueManager", broker.error().message);
  return std::shared_ptr<broker::Broker>(*std::move(broker));
}

Result<std::shared_ptr<broker::Broker>> Connections::find(const Place& place) {
  if (place.queue_manager) return connect(*place.queue_manager);
  const std::string& name = place.connection.empty() ? options_.default_name : place.connection;
  const auto known = brokers_.find(name);
  if (known == brokers_.end())
    return refuse_field("connection", "must be the name of a connection in the configuration");
  return known->second;
}

// Before a client is there nothing has been tried.
broker::Standing Connections::standing(const std::vector<broker::Endpoint>& endpoints, bool has_tls) {
  const broker::AmqpClient* client = nullptr;
  {
    const std::lock_guard lock(mutex_);
    client = client_.get();
  }
  return client == nullptr ? broker::Standing::unproven : client->standing(endpoints, has_tls);
}

std::optional<BrokerTarget> Connections::target(const Place& place) {
  std::vector<broker::Endpoint> endpoints;
  bool has_tls = false;
  if (place.queue_manager) {
    endpoints = place.queue_manager->endpoints;
    has_tls = place.queue_manager->use_tls;
  } else {
    const std::string& name = place.connection.empty() ? options_.default_name : place.connection;
    if (!brokers_.contains(name)) return std::nullopt;
    const auto named = options_.named.find(name);
    if (named == options_.named.end()) return BrokerTarget{"", [] { return broker::Standing::at_hand; }};
    endpoints = named->second.endpoints;
    has_tls = named->second.tls.enabled;
  }
  std::string broker;
  for (const std::string& door : broker::doors_of(endpoints, has_tls)) broker += door + " ";
  return BrokerTarget{std::move(broker), [this, endpoints, has_tls] { return standing(endpoints, has_tls); }};
}

std::vector<std::string> Connections::names() const {
  std::vector<std::string> names;
  for (const auto& [name, broker] : brokers_) names.push_back(name);
  return names;
}

std::string Connections::label(const Place& place) const {
  if (!place.queue_manager) return place.connection.empty() ? options_.default_name : place.connection;
  const QueueManager& manager = *place.queue_manager;
  if (!manager.name.empty()) return manager.name;
  return manager.endpoints.empty() ? "" : manager.endpoints.front().text();
}

}  // namespace postino::messages
