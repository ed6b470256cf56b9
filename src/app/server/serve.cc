#include "app/server/serve.h"

#include <atomic>
#include <csignal>
#include <ostream>

#include "api/limits.h"
#include "api/service.h"
#include "app/server/engine_options.h"
#include "app/server/message_gateway.h"
#include "app/server/monitor.h"
#include "app/server/outbox_service.h"
#include "app/server/server_metrics.h"
#include "engine/engine.h"
#include "net/address.h"
#include "net/descriptor_limit.h"
#include "net/http_server.h"
#include "net/service_notification.h"

namespace postino::app {

namespace {

// The signals that end the process, taken by this thread alone: they must be blocked before there are others.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~EndSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  void wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
  }

  // From now on a signal ends the process at once.
  void release() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

net::HttpServerOptions server_options(const Settings& settings) {
  net::HttpServerOptions options;
  options.address = settings.dynamodb_host;
  options.port = settings.dynamodb_port;
  options.threads = settings.threads;
  options.max_connections = static_cast<std::size_t>(settings.max_connections);
  if (!settings.tls_certificate.empty()) options.tls = net::TlsFiles{settings.tls_certificate, settings.tls_key};
  return options;
}

wire::EndpointOptions endpoint_options(const Settings& settings) {
  wire::EndpointOptions options;
  options.region = settings.region;
  options.access_keys = settings.access_keys;
  options.faults = settings.faults;
  options.log_requests = settings.log_requests;
  return options;
}

net::HttpServerOptions rest_options(const Settings& settings) {
  const OutboxSettings& outbox = settings.outbox;
  net::HttpServerOptions options;
  options.address = outbox.http_host;
  options.port = outbox.http_port;
  options.threads = settings.threads;
  options.max_connections = static_cast<std::size_t>(settings.max_connections);
  options.max_body_bytes = api::Limits::body_bytes;
  options.refusal = [](int status) {
    base::SystemRandom random;
    return api::refusal(status, random);
  };
  if (!outbox.http_tls_certificate.empty())
    options.tls = net::TlsFiles{outbox.http_tls_certificate, outbox.http_tls_key};
  return options;
}

std::string url_of(const net::Address& address, const std::string& certificate) {
  return (certificate.empty() ? "http://" : "https://") + address.text();
}

void announce_outbox(std::ostream& out, const Settings& settings, const OutboxService& outbox,
                     const net::Address& address) {
  const std::string url = url_of(address, settings.outbox.http_tls_certificate);
  out << "REST API: " << url << "  described at " << url << "/openapi.json\n"
      << "Mail: " << outbox.describe_transport() << "\n";
  if (settings.outbox.ledger != LedgerKind::store) out << "E-mails: in " << outbox.describe_storage() << "\n";
}

void announce(std::ostream& out, const Settings& settings, const net::Address& address) {
  const std::string url = url_of(address, settings.tls_certificate);
  out << "DynamoDB API: " << url << "\n"
      << "Data: " << settings.data.string() << "\n"
      << "Health: " << url << "/healthz  Metrics: " << url << "/metrics\n";
  if (settings.access_keys.empty() && settings.tls_certificate.empty())
    out << "Try: AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws dynamodb list-tables --region "
        << settings.region << " --endpoint-url " << url << "\n";
  out << std::flush;
}

// The listening servers. Requests come before start() has returned, so what they need must be there.
class Servers {
 public:
  Servers(const Settings& settings, Monitor& monitor, wire::Endpoint& endpoint, OutboxService* outbox)
      : settings_(settings), monitor_(monitor), endpoint_(endpoint), outbox_(outbox) {}

  base::Result<void> start() {
    TRY(dynamodb_,
        net::HttpServer::start(server_options(settings_), [this](const net::Request& request, net::Responder respond) {
          if (!monitor_.handle(request, respond)) endpoint_.handle(request, std::move(respond));
        }));
    if (outbox_ == nullptr) return {};
    TRY(rest_,
        net::HttpServer::start(rest_options(settings_), [this](const net::Request& request, net::Responder respond) {
          if (!monitor_.handle(request, respond)) outbox_->handle(request, std::move(respond));
        }));
    return {};
  }
  void stop(std::chrono::seconds grace) {
    if (rest_) rest_->stop(grace);
    dynamodb_->stop(grace);
  }

  net::Address dynamodb() const { return {settings_.dynamodb_host, dynamodb_->port()}; }
  net::Address rest() const { return {settings_.outbox.http_host, rest_->port()}; }
  std::vector<NamedServerCounts> counts() const {
    std::vector<NamedServerCounts> counts = {{"dynamodb", dynamodb_->counts()}};
    if (rest_) counts.push_back({"rest", rest_->counts()});
    return counts;
  }

 private:
  const Settings& settings_;
  Monitor& monitor_;
  wire::Endpoint& endpoint_;
  OutboxService* const outbox_;
  std::unique_ptr<net::HttpServer> dynamodb_;
  std::unique_ptr<net::HttpServer> rest_;
};

}  // namespace

base::Result<void> serve(const Settings& settings, std::ostream& out) {
  std::signal(SIGPIPE, SIG_IGN);  // the reader of our output may go away
  EndSignals signals;
  net::raise_descriptor_limit();
  TRY(std::unique_ptr<engine::Engine> engine, engine::Engine::open(engine_options(settings)));
  auto endpoint = std::make_unique<wire::Endpoint>(*engine, endpoint_options(settings));
  std::unique_ptr<MessageGateway> gateway;
  std::unique_ptr<OutboxService> outbox;
  if (!settings.outbox.off) {
    TRY(gateway, MessageGateway::create(*engine, settings.messages, settings.idempotency,
                                        net::Address{settings.outbox.http_host, 0}.is_loopback()));
    TRY(outbox, OutboxService::create(*engine, *gateway, settings));
  }
  std::atomic<const Servers*> listening = nullptr;  // requests come before start() has returned
  Monitor monitor;
  monitor.add_source([&](std::string& text) { endpoint->statistics().append_to(text); });
  monitor.add_source([&](std::string& text) {
    if (const Servers* servers = listening) append_server_metrics(text, servers->counts());
  });
  if (outbox) monitor.add_source([&](std::string& text) { outbox->append_metrics(text); });
  if (gateway) monitor.add_source([&](std::string& text) { gateway->append_metrics(text); });
  if (outbox) monitor.add_check([&] { return outbox->problem(); });
  monitor.add_source(append_process_metrics);
  Servers servers(settings, monitor, *endpoint, outbox.get());
  TRY_VOID(servers.start());
  const net::Address address = servers.dynamodb();
  endpoint->set_address(address.text());
  listening = &servers;
  if (outbox) outbox->start();
  monitor.set_ready(true);
  if (outbox) announce_outbox(out, settings, *outbox, servers.rest());
  if (gateway) out << "Messages: " << gateway->describe() << "\n";
  announce(out, settings, address);
  if (outbox && settings.outbox.sample) {
    TRY_VOID(outbox->show_sample(out));
    TRY_VOID(gateway->show_sample(out));
    out << std::flush;
  }
  base::log_info("serve", "ready", {{"address", address.text()}, {"data", settings.data.string()}});
  net::notify_service_manager("READY=1");

  signals.wait();
  signals.release();
  monitor.set_ready(false);
  net::notify_service_manager("STOPPING=1");
  base::log_info("serve", "ending");
  if (gateway) gateway->service().stop();  // so that those who wait for messages get an answer
  servers.stop(settings.shutdown_grace);
  monitor.stop();
  if (outbox) outbox->stop(settings.shutdown_grace);
  endpoint->stop();
  listening = nullptr;
  outbox.reset();
  gateway.reset();
  engine.reset();  // answers what it has taken
  endpoint.reset();
  base::log_info("serve", "ended");
  return {};
}

}  // namespace postino::app
