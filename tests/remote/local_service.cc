#include "local_service.h"

#include "base/check.h"

namespace postino::remote {

HurriedClock& hurried_clock() {
  static HurriedClock clock;
  return clock;
}

wire::EndpointOptions strict_options() {
  wire::EndpointOptions options;
  options.region = service_region;
  options.access_keys = {{service_keys.id, service_keys.secret}};
  return options;
}

RemoteOptions options_for(std::uint16_t port) {
  RemoteOptions options;
  options.endpoint = net::Url::parse("http://127.0.0.1:" + std::to_string(port)).value();
  options.region = service_region;
  options.credentials = fixed_credentials(service_keys);
  options.tls.verify = false;  // nothing is encrypted, and reading the authorities takes time
  options.call_time = std::chrono::minutes(2);
  options.sleep = [](base::Milliseconds time) { hurried_clock().wait(time); };
  return options;
}

std::unique_ptr<RemoteStore> make_remote(RemoteOptions options, const base::Clock& clock, base::Random& random) {
  auto made = RemoteStore::create(std::move(options), clock, random);
  CHECK(made.has_value());
  return *std::move(made);
}

LocalService::LocalService(store::Store& behind) : endpoint_(behind, strict_options()) {
  http::ServerOptions options;
  options.threads = 2;
  auto started = http::Server::start(std::move(options), [this](const http::Request& request, http::Responder respond) {
    endpoint_.handle(request, std::move(respond));
  });
  CHECK(started.has_value());
  server_ = *std::move(started);
  remote_ = make_remote(options_for(server_->port()), hurried_clock(), random_);
}

LocalService::~LocalService() {
  remote_.reset();
  server_->stop(std::chrono::milliseconds(0));
  endpoint_.stop();
}

}  // namespace postino::remote
