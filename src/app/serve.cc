#include "app/serve.h"

#include <atomic>
#include <csignal>
#include <ostream>

#include "app/monitor.h"
#include "base/metrics_text.h"
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

engine::Options engine_options(const Settings& settings) {
  engine::Options options;
  options.directory = settings.data;
  options.durability = settings.durability;
  options.region = settings.region;
  options.account = settings.account;
  options.block_cache_bytes = static_cast<std::size_t>(settings.cache_megabytes) << 20;
  options.realistic_timing = settings.realistic_timing;
  options.enforce_throughput = settings.enforce_throughput;
  return options;
}

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

void append_server_metrics(std::string& out, const net::HttpServerCounts& counts) {
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help, std::uint64_t count) {
    base::append_metric(out, name, type, help, std::to_string(count));
  };
  add("postino_http_connections", "gauge", "Open connections.", counts.connections);
  add("postino_http_connections_accepted_total", "counter", "Connections that were accepted.", counts.accepted);
  add("postino_http_connections_refused_total", "counter", "Connections over the limit.", counts.refused);
  add("postino_http_timeouts_total", "counter", "Connections that took too long.", counts.timed_out);
  add("postino_http_malformed_total", "counter", "Requests that broke the protocol or a limit.", counts.malformed);
  add("postino_http_overloaded_total", "counter", "Requests refused because too much was under way.",
      counts.overloaded);
}

void announce(std::ostream& out, const Settings& settings, const net::Address& address) {
  const std::string url = (settings.tls_certificate.empty() ? "http://" : "https://") + address.text();
  out << "DynamoDB API: " << url << "\n"
      << "Data: " << settings.data.string() << "\n"
      << "Health: " << url << "/healthz  Metrics: " << url << "/metrics\n";
  if (settings.access_keys.empty() && settings.tls_certificate.empty())
    out << "Try: AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws dynamodb list-tables --region "
        << settings.region << " --endpoint-url " << url << "\n";
  out << std::flush;
}

}  // namespace

base::Result<void> serve(const Settings& settings, std::ostream& out) {
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads what is printed may go
  EndSignals signals;
  net::raise_descriptor_limit();
  TRY(std::unique_ptr<engine::Engine> engine, engine::Engine::open(engine_options(settings)));
  auto endpoint = std::make_unique<wire::Endpoint>(*engine, endpoint_options(settings));
  std::atomic<const net::HttpServer*> listening = nullptr;  // requests come before start() has returned
  Monitor monitor;
  monitor.add_source([&](std::string& text) { endpoint->statistics().append_to(text); });
  monitor.add_source([&](std::string& text) {
    if (const net::HttpServer* server = listening) append_server_metrics(text, server->counts());
  });
  monitor.add_source(append_process_metrics);
  TRY(const std::unique_ptr<net::HttpServer> server,
      net::HttpServer::start(server_options(settings), [&](const net::Request& request, net::Responder respond) {
        if (!monitor.handle(request, respond)) endpoint->handle(request, std::move(respond));
      }));
  const net::Address address{settings.dynamodb_host, server->port()};
  endpoint->set_address(address.text());
  listening = server.get();
  monitor.set_ready(true);
  announce(out, settings, address);
  base::log_info("serve", "ready", {{"address", address.text()}, {"data", settings.data.string()}});
  net::notify_service_manager("READY=1");

  signals.wait();
  signals.release();
  monitor.set_ready(false);
  net::notify_service_manager("STOPPING=1");
  base::log_info("serve", "ending");
  server->stop(settings.shutdown_grace);
  endpoint->stop();
  engine.reset();  // answers what it has taken
  endpoint.reset();
  base::log_info("serve", "ended");
  return {};
}

}  // namespace postino::app
