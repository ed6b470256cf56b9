#include "broker/amqp_broker.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "broker/held_messages.h"
#include "broker/message_codec.h"
#include "broker/producer.h"
#include "broker/queue_address.h"

namespace postino::broker {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_breaks = 3;  // of connections, in one call

Message to_message(ReceivingLink::Incoming& incoming) {
  if (!incoming.bytes.empty() || incoming.size == 0) return decode(std::exchange(incoming.bytes, {}));
  Message message;
  message.format = Format::binary;
  message.fault = "too large to be read: " + std::to_string(incoming.size) + " bytes";
  return message;
}

}  // namespace

Deadline AmqpBroker::soon() const { return Clock::now() + connector_->settings().answer_timeout; }

ProduceReport AmqpBroker::produce(const std::string& queue, const Messages& messages, const ProduceOptions& options,
                                  const OnConfirmed& on_confirmed) {
  if (auto checked = check(messages, options); !checked) {
    ProduceReport report;
    report.failure = std::move(checked).error();
    return report;
  }
  Production production(messages, options, on_confirmed);
  const Deadline deadline = Clock::now() + options.time_limit;
  const auto producer = [&](Producer::Role role) {
    return Producer(*connector_, queue, options, deadline, production, role);
  };
  const std::size_t left = messages.count - options.first;
  if (left == 0) return production.report();
  std::vector<std::thread> others;
  // Who leads has a connection by then: helpers must not take the last one from it.
  const auto call_helpers = [&] {
    for (std::size_t i = 1; i < std::min(left, static_cast<std::size_t>(options.connections)); ++i) {
      try {
        others.emplace_back([&] { producer(Producer::Role::helps).run(); });
      } catch (const std::system_error&) {
        break;  // fewer will do
      }
    }
  };
  producer(Producer::Role::leads).run(call_helpers);
  for (std::thread& other : others) other.join();
  return production.report();
}

Result<AmqpBroker::Opened> AmqpBroker::open_receiver(const std::string& queue, Connector::Want want) const {
  TRY(Lease lease, connector_->connect(soon(), want));
  const auto& connection = lease.connection();
  const ConnectionSettings& settings = connector_->settings();
  const AddressStyle style = choose_style(settings.address_style, connection->peer());
  TRY(const std::string address, queue_address(queue, style, settings.address_prefix));
  auto link = std::make_shared<ReceivingLink>(connection, address, style == AddressStyle::rabbitmq_declare);
  connection->open_link(link);
  TRY_VOID(link->await_open(soon()));
  return Opened{std::move(lease), std::move(link)};
}

Result<void> AmqpBroker::take_rest(const Opened& opened) const {
  if (opened.link->is_satisfied()) return {};
  // RabbitMQ before 4.0 breaks off when a classic queue is to be drained.
  if (opened.lease.connection()->peer().is_rabbitmq_before_4()) return opened.link->exhaust(soon());
  return opened.link->drain(soon());
}

Result<std::unique_ptr<Held>> AmqpBroker::receive_once(const std::string& queue, const ReceiveOptions& options,
                                                       Deadline end, Connector::Want want) const {
  TRY(Opened opened, open_receiver(queue, want));
  ReceivingLink& link = *opened.link;
  link.begin({options.max_messages, options.max_bytes, connector_->settings().max_message_bytes, options.room});
  TRY_VOID(link.await_first(end, options.stop));
  if (options.linger > Milliseconds(0) && link.has_messages())
    TRY_VOID(link.await_all(Clock::now() + options.linger, options.stop));
  TRY_VOID(take_rest(opened));
  auto incoming = link.take();
  std::vector<Message> messages;
  for (auto& one : incoming) messages.push_back(to_message(one));
  auto held = std::make_unique<HeldMessages>(std::move(messages), std::move(incoming), std::move(opened.link),
                                             connector_, std::move(opened.lease));
  if (held->messages().empty()) TRY_VOID(held->settle({}));
  return held;
}

Result<std::unique_ptr<Held>> AmqpBroker::receive(const std::string& queue, const ReceiveOptions& options) {
  TRY_VOID(check(options));
  const Deadline end = Clock::now() + options.wait;
  auto want = Connector::Want::any;
  for (int breaks = 0;; ++breaks) {
    auto held = receive_once(queue, options, end, want);
    if (held || held.error().kind != FailureKind::lost || breaks == most_breaks) return held;
    // No caller has seen what came: the broker gives it out again. What had waited may have died meanwhile.
    want = Connector::Want::fresh;
  }
}

Result<Depth> AmqpBroker::depth(const std::string&) {
  return refuse(FailureKind::unsupported, "this broker does not report how many messages a queue has");
}

Result<Identity> AmqpBroker::test() {
  const auto begin = Clock::now();
  TRY(Lease lease, connector_->connect(begin + connector_->settings().answer_timeout, Connector::Want::fresh));
  const Peer& peer = lease.connection()->peer();
  Identity identity{.endpoint = lease.connection()->endpoint(),
                    .product = peer.product,
                    .version = peer.version,
                    .container = peer.container,
                    .mechanism = peer.mechanism,
                    .tls = peer.tls_protocol.empty() ? "" : peer.tls_protocol + " " + peer.tls_cipher};
  identity.elapsed = std::chrono::duration_cast<Milliseconds>(Clock::now() - begin);
  lease.give_back();
  return identity;
}

}  // namespace postino::broker
