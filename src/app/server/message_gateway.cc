#include "app/server/message_gateway.h"

#include <cstdlib>

#include "base/check.h"
#include "base/this_thread.h"
#include "json/document.h"
#include "messages/store_queue.h"

namespace postino::app {

namespace {

base::Result<messages::ConnectionsOptions> connections_options(const MessagesSettings& settings, bool local) {
  messages::ConnectionsOptions options;
  for (const auto& [name, connection] : settings.connections) {
    if (connection.embedded) {
      options.embedded_names.push_back(name);
      continue;
    }
    auto resolved = resolve(connection, [](const std::string& variable) { return std::getenv(variable.c_str()); });
    if (!resolved) return base::invalid("the connection " + name + ": " + resolved.error().message);
    if (auto management = management_of(connection, *resolved))
      options.managements.emplace(name, *std::move(management));
    options.named.emplace(name, *std::move(resolved));
  }
  options.default_name = settings.default_connection;
  options.allowed_hosts = settings.allowed_hosts;
  if (options.allowed_hosts.empty() && local) options.allowed_hosts = messages::loopback_hosts();
  return options;
}

messages::QueueRights queue_rights(const MessagesSettings& settings) {
  messages::QueueRightsOptions options;
  options.grants = settings.tenant_queues;
  // Who the e-mails of a queue belong to may put them there.
  if (!settings.emails_queue.empty() && !settings.emails_tenant.empty())
    options.grants.push_back({settings.emails_tenant, settings.emails_connection, settings.emails_queue});
  if (!settings.answers_queue.empty() && !settings.answers_tenant.empty())
    options.grants.push_back({settings.answers_tenant, settings.answers_connection, settings.answers_queue});
  options.default_connection = settings.default_connection;
  for (const auto& [name, connection] : settings.connections)
    if (connection.embedded) options.embedded_connections.push_back(name);
  // Hosts that the configuration names are for all callers; those of this machine, which it need not name, are not.
  options.tenants_describe_brokers = !settings.allowed_hosts.empty();
  return messages::QueueRights(std::move(options));
}

template <class T>
base::Result<T> as_result(messages::Result<T> answer) {
  if (!answer) return base::fail(base::ErrorCode::io, "the sample message: " + answer.error().message);
  return *std::move(answer);
}

// The bodies of the messages in an answer.
std::string bodies_in(const std::string& answer) {
  json::Document document;
  json::FieldErrors errors;
  CHECK(document.parse(answer, errors));
  std::string text;
  for (const json::Element message : document.root().member("messages")->elements())
    text.append(text.empty() ? "" : ", ").append(*message.member("body")->text());
  return text;
}

}  // namespace

// In the order they are built; each may use those above it.
struct MessageGateway::Parts {
  explicit Parts(const base::Clock& clock_to_use) : clock(clock_to_use) {}

  MessagesSettings settings;
  const base::Clock& clock;
  base::SystemRandom random;
  base::Pause pause;
  store::Retry retry{random, [this](base::Milliseconds delay) { pause.wait(delay); }};
  std::unique_ptr<messages::Connections> connections;
  std::unique_ptr<messages::MessageService> service;
  std::shared_ptr<broker::Broker> emails_broker;   // that e-mails arrive by, if any do
  std::shared_ptr<broker::Broker> answers_broker;  // and customers' answers

  base::Result<void> build(store::Store& store, const idempotency::GuardOptions& keys, bool local,
                           const MemoryLimits& memory) {
    messages::StoreQueueOptions queue_options;
    queue_options.table = settings.queues;
    queue_options.lease = settings.queue_lease;
    auto embedded = std::make_shared<messages::StoreQueue>(store, clock, random, retry, std::move(queue_options));
    TRY(messages::ConnectionsOptions options, connections_options(settings, local));
    TRY(connections, messages::Connections::create(std::move(options), std::move(embedded)));
    messages::ServiceOptions service_options;
    service_options.guard = keys;
    service_options.guard.answers = memory.answers;
    service_options.answers = memory.answers;
    service_options.rights = queue_rights(settings);
    service = std::make_unique<messages::MessageService>(store, *connections, clock, random, retry,
                                                         std::move(service_options));
    return service->prepare();
  }
};

MessageGateway::MessageGateway(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
MessageGateway::~MessageGateway() = default;

base::Result<std::unique_ptr<MessageGateway>> MessageGateway::create(store::Store& store,
                                                                     const MessagesSettings& settings,
                                                                     const idempotency::GuardOptions& keys, bool local,
                                                                     const MemoryLimits& memory,
                                                                     const base::Clock& clock) {
  auto parts = std::make_unique<Parts>(clock);
  parts->settings = settings;
  TRY_VOID(parts->build(store, keys, local, memory));
  return std::unique_ptr<MessageGateway>(new MessageGateway(std::move(parts)));
}

messages::MessageService& MessageGateway::service() { return *parts_->service; }

base::Result<messages::Connections::Renewal> MessageGateway::prepare_renewal(const MessagesSettings& settings) {
  TRY(const messages::ConnectionsOptions options, connections_options(settings, false));
  return parts_->connections->prepare_renewal(options);
}

void MessageGateway::renew(messages::Connections::Renewal renewal) { parts_->connections->renew(std::move(renewal)); }

void MessageGateway::break_off() { parts_->connections->break_off(); }

void MessageGateway::append_metrics(std::string& out) const { parts_->service->append_metrics(out); }

base::Result<std::shared_ptr<broker::Broker>> MessageGateway::find_broker(const std::string& connection) {
  auto broker = parts_->connections->find({connection, std::nullopt});
  if (!broker) return base::invalid(broker.error().message);
  return *std::move(broker);
}

base::Result<std::unique_ptr<outbox::QueueIntake>> MessageGateway::make_intake(outbox::Outbox& outbox) {
  const MessagesSettings& settings = parts_->settings;
  if (settings.emails_queue.empty()) return nullptr;
  const messages::Place place{settings.emails_connection, std::nullopt};
  auto broker = parts_->connections->find(place);
  if (!broker) return base::invalid("--emails-connection: " + broker.error().message);
  parts_->emails_broker = *std::move(broker);
  outbox::QueueIntakeOptions options;
  options.connection = parts_->connections->label(place);
  options.queue = settings.emails_queue;
  options.tenant = settings.emails_tenant;
  return std::make_unique<outbox::QueueIntake>(*parts_->emails_broker, outbox, parts_->clock, parts_->random,
                                               std::move(options));
}

base::Result<std::unique_ptr<support::AnswerIntake>> MessageGateway::make_answer_intake(
    support::Correspondence& correspondence) {
  const MessagesSettings& settings = parts_->settings;
  if (settings.answers_queue.empty()) return nullptr;
  const messages::Place place{settings.answers_connection, std::nullopt};
  auto broker = parts_->connections->find(place);
  if (!broker) return base::invalid("--answers-connection: " + broker.error().message);
  parts_->answers_broker = *std::move(broker);
  support::AnswerIntakeOptions options;
  options.connection = parts_->connections->label(place);
  options.queue = settings.answers_queue;
  options.tenant = settings.answers_tenant;
  return std::make_unique<support::AnswerIntake>(*parts_->answers_broker, correspondence, parts_->clock, parts_->random,
                                                 std::move(options));
}

base::Result<void> MessageGateway::show_sample(std::ostream& out) {
  const std::string key = base::make_uuid(parts_->random);
  const std::string place = R"("connection":"embedded","target":{"queueName":"sample"})";
  json::FieldErrors errors;
  const auto produce = messages::read_produce("{" + place + R"(,"messages":[{"body":"Hello"}]})", key, errors);
  const auto consume = messages::read_consume("{" + place + "}", key, errors);
  CHECK(produce && consume);
  TRY_VOID(as_result(service().produce(*produce, {})));
  TRY(const messages::Reply again, as_result(service().produce(*produce, {})));
  CHECK(again.replayed);
  TRY(const messages::Reply taken, as_result(service().consume(*consume, {})));
  out << "A sample message was sent through a queue (see more with: postino messages --help):\n"
      << "  produced under the key " << key << "; the request was repeated, and nothing was done twice\n"
      << "  consumed: " << bodies_in(taken.body) << "\n";
  return {};
}

std::string MessageGateway::describe() const {
  std::string text = "queues in the store";
  for (const auto& [name, connection] : parts_->settings.connections)
    text.append(", ").append(name).append(connection.embedded ? " (the same)" : "");
  return text;
}

}  // namespace postino::app
