#include "broker/amqp_client.h"

#include "broker/amqp_broker.h"
#include "broker/connection/connection_pool.h"
#include "broker/connection/connector.h"
#include "broker/connection/event_loop.h"

namespace postino::broker {

struct AmqpClient::Impl {
  std::shared_ptr<EventLoop> loop;
  std::shared_ptr<ConnectionPool> pool;
  std::shared_ptr<CircuitBreaker> breaker;
  std::size_t max_connections;
};

AmqpClient::AmqpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AmqpClient::~AmqpClient() { impl_->loop->stop(); }

void AmqpClient::break_off() { impl_->loop->break_off(); }

base::Result<std::unique_ptr<AmqpClient>> AmqpClient::create(const AmqpClientOptions& options) {
  TRY(auto loop, EventLoop::create());
  auto pool = std::make_shared<ConnectionPool>(
      ConnectionPool::Limits{options.max_idle, options.max_idle_each, options.idle_time});
  auto impl =
      std::make_unique<Impl>(Impl{std::move(loop), std::move(pool),
                                  std::make_shared<CircuitBreaker>(options.probe_pause), options.max_connections});
  return std::unique_ptr<AmqpClient>(new AmqpClient(std::move(impl)));
}

Result<std::unique_ptr<Broker>> AmqpClient::broker(const ConnectionSettings& settings) {
  TRY(std::shared_ptr<const Connector> connector,
      Connector::create(settings, impl_->loop, impl_->pool, impl_->breaker, impl_->max_connections));
  return std::make_unique<AmqpBroker>(std::move(connector));
}

Standing AmqpClient::standing(const std::vector<Endpoint>& endpoints, bool has_tls) const {
  return impl_->breaker->standing(doors_of(endpoints, has_tls));
}

}  // namespace postino::broker
