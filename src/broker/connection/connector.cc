#include "broker/connection/connector.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "net/resolve.h"

namespace postino::broker {

namespace {

// A name may have many addresses; a broker that answers at none of the first ones answers at none.
constexpr std::size_t most_addresses = 4;

void append(std::string& out, const std::string& text) {
  base::append_varint(out, text.size());
  out += text;
}

// Hashed, because it has the password in it and is kept.
std::string key_of(const ConnectionSettings& settings) {
  std::string all;
  for (const Endpoint& endpoint : settings.endpoints) append(all, endpoint.text());
  for (const std::string* text :
       {&settings.virtual_host, &settings.user, &settings.password, &settings.tls.authorities_file,
        &settings.tls.server_name, &settings.tls.certificate_file, &settings.tls.key_file, &settings.tls.cipher_suite})
    append(all, *text);
  for (const bool flag : {settings.tls.enabled, settings.tls.verify, settings.allow_password_in_clear})
    all += flag ? '1' : '0';
  all += static_cast<char>(settings.mechanism);
  base::append_varint(all, static_cast<std::uint64_t>(settings.idle_timeout.count()));
  return base::sha256(all);
}

Deadline after(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

}  // namespace

Lease::~Lease() {
  if (connection_) connection_->close();
}

void Lease::give_back() {
  if (connection_ && connection_->is_usable()) connector_->pool_->put(connector_->key_, std::move(connection_));
}

void Lease::end(Deadline deadline) {
  if (const auto connection = std::exchange(connection_, nullptr)) connection->end(deadline);
}

Connector::Connector(ConnectionSettings settings, std::shared_ptr<EventLoop> loop, std::shared_ptr<ConnectionPool> pool,
                     std::shared_ptr<CircuitBreaker> breaker, std::size_t max_connections)
    : settings_(std::move(settings)),
      loop_(std::move(loop)),
      pool_(std::move(pool)),
      breaker_(std::move(breaker)),
      max_connections_(max_connections),
      key_(key_of(settings_)) {}

Result<std::unique_ptr<Connector>> Connector::create(ConnectionSettings settings, std::shared_ptr<EventLoop> loop,
                                                     std::shared_ptr<ConnectionPool> pool,
                                                     std::shared_ptr<CircuitBreaker> breaker,
                                                     std::size_t max_connections) {
  TRY_VOID(settings.check());
  std::shared_ptr<TlsDomain> tls;
  if (settings.tls.enabled) {
    TRY(tls, TlsDomain::create(settings.tls));
  }
  std::unique_ptr<Connector> connector(
      new Connector(std::move(settings), std::move(loop), std::move(pool), std::move(breaker), max_connections));
  connector->tls_ = std::move(tls);
  return connector;
}

std::string Connector::mechanism() const {
  switch (settings_.mechanism) {
    case Mechanism::plain:
      return "PLAIN";
    case Mechanism::external:
      return "EXTERNAL";
    case Mechanism::anonymous:
      return "ANONYMOUS";
    case Mechanism::automatic:
      break;
  }
  if (!settings_.user.empty()) return "PLAIN";
  return settings_.tls.enabled && !settings_.tls.certificate_file.empty() ? "EXTERNAL" : "ANONYMOUS";
}

bool Connector::sends_password() const { return mechanism() == "PLAIN"; }

OpenParameters Connector::parameters_for(const Endpoint& endpoint) const {
  OpenParameters parameters;
  parameters.endpoint = endpoint.text();
  parameters.host = endpoint.host;
  parameters.server_name = settings_.tls.server_name.empty() ? endpoint.host : settings_.tls.server_name;
  parameters.virtual_host = settings_.virtual_host.empty() ? endpoint.host : settings_.virtual_host;
  parameters.mechanism = mechanism();
  if (sends_password()) {
    parameters.user = settings_.user;
    parameters.password = settings_.password;
  }
  parameters.tls = tls_;
  parameters.idle_timeout = settings_.idle_timeout;
  return parameters;
}

Result<std::shared_ptr<Connection>> Connector::open(OpenParameters parameters, Deadline deadline) const {
  const auto connection = std::make_shared<Connection>(std::move(parameters));
  if (!loop_->connect(connection)) return refuse(FailureKind::lost, "the broker client was stopped");
  auto opened = connection->await_open(deadline);
  if (opened) return connection;
  connection->abort();
  return tl::unexpected(std::move(opened).error());
}

Result<std::shared_ptr<Connection>> Connector::open(const Endpoint& endpoint, Deadline deadline) const {
  const auto addresses = net::resolve(
      endpoint.host, endpoint.port, std::min(deadline, after(settings_.connect_timeout)), &loop_->shutdown_deadline());
  if (!addresses) return refuse(FailureKind::unreachable, addresses.error().message);
  Failure all{FailureKind::unreachable, "", {}};
  for (std::size_t i = 0; i < std::min(addresses->size(), most_addresses); ++i) {
    const net::Address& address = (*addresses)[i];
    if (sends_password() && !tls_ && !settings_.allow_password_in_clear && !address.is_loopback())
      return refuse(FailureKind::invalid, "a password is not sent to " + endpoint.text() + " without TLS");
    OpenParameters parameters = parameters_for(endpoint);
    parameters.address = address.text();
    auto opened = open(std::move(parameters), std::min(deadline, after(settings_.connect_timeout)));
    if (opened || opened.error().kind == FailureKind::refused) return opened;
    if (!all.message.empty()) all.message += "; ";
    all.message += opened.error().message;
  }
  return tl::unexpected(std::move(all));
}

// One that has waited while its broker fell silent is of no use either.
std::shared_ptr<Connection> Connector::take_idle() const {
  while (auto idle = pool_->take(key_)) {
    if (!breaker_->is_silent(door_of(idle->endpoint(), settings_.tls.enabled))) return idle;
    idle->close();
  }
  return nullptr;
}

Result<std::shared_ptr<Connection>> Connector::try_to_open(const Endpoint& endpoint, Deadline deadline) const {
  const auto attempt = breaker_->begin(door_of(endpoint.text(), settings_.tls.enabled));
  if (!attempt) return refuse(FailureKind::unreachable, "it did not answer a moment ago");
  const auto began = std::chrono::steady_clock::now();
  auto opened = open(endpoint, deadline);
  breaker_->end(*attempt, outcome_of(opened, std::chrono::steady_clock::now() - began));
  return opened;
}

CircuitBreaker::Outcome Connector::outcome_of(const Result<std::shared_ptr<Connection>>& opened,
                                              std::chrono::steady_clock::duration time) const {
  using Outcome = CircuitBreaker::Outcome;
  if (opened || opened.error().kind == FailureKind::refused) return Outcome::answered;
  if (opened.error().kind == FailureKind::invalid || loop_->shutdown_deadline().is_set()) return Outcome::untried;
  // Where no broker listens that is known at once.
  const auto patience = std::min(settings_.connect_timeout, settings_.answer_timeout);
  return time >= patience ? Outcome::in_vain : Outcome::failed;
}

Result<void> Connector::make_room() const {
  if (loop_->connections() < max_connections_ || pool_->drop_oldest()) return {};
  return refuse(FailureKind::exhausted, "there are " + std::to_string(max_connections_) + " connections to brokers");
}

Result<Lease> Connector::connect(Deadline deadline, Want want) const {
  if (want == Want::any)
    if (auto idle = take_idle()) return Lease(*this, std::move(idle), true);
  TRY_VOID(make_room());
  Failure all{FailureKind::unreachable, "no endpoint could be reached", {}};
  for (const Endpoint& endpoint : settings_.endpoints) {
    if (loop_->shutdown_deadline().is_set()) return refuse(FailureKind::stopped, "the server is ending");
    auto opened = try_to_open(endpoint, deadline);
    if (opened) return Lease(*this, *std::move(opened), false);
    Failure& failure = opened.error();
    // Others would say the same.
    if (failure.kind == FailureKind::refused || failure.kind == FailureKind::invalid) return tl::unexpected(failure);
    all.message += "; " + endpoint.text() + ": " + failure.message;
    all.endpoints.push_back({endpoint.text(), std::move(failure.message)});
  }
  return tl::unexpected(std::move(all));
}

}  // namespace postino::broker
