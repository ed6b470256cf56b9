#include "app/server/metrics_service.h"

#include <algorithm>

#include "outbox/transport/webhook.h"
#include "reminders/reminders.h"

namespace postino::app {

namespace {

// What the support desk keeps in its table for itself: sessions have the digest of a caller's secret, and the others
// are copies of answers, which are to be gone after minutes or a day and not to stay in the files of a receiver; those
// that end in _OF belong to callers that are bound to a customer.
// Callers that are bound to a customer have theirs under keys of their own.
std::vector<std::string> left_out_of(const Settings& settings, const std::string& table) {
  if (table != settings.tickets.table) return {};
  return {"SESSION#", "IDEMPOTENCY#", "IDEMPOTENCY_OF#", "CACHE#", "CACHE_OF#"};
}

std::vector<metrics::Source> sources_of(const Settings& settings) {
  std::vector<metrics::Source> sources;
  if (!settings.tickets.off) sources.push_back(metrics::ticket_source(settings.tickets.table));
  if (settings.metrics.emails) sources.push_back(metrics::email_source(settings.outbox.table, settings.outbox.keep));
  if (!settings.reminders.off) {
    std::vector<std::string> types;
    for (const reminders::Rule& rule : settings.reminders.rules) types.push_back(rule.type);
    sources.push_back(metrics::reminder_source(settings.reminders.table,
                                               std::min(reminders::draft_life, reminders::sent_life), types));
  }
  return sources;
}

metrics::MetricsOptions options_of(const Settings& settings) {
  metrics::MetricsOptions options;
  options.table = settings.metrics.table;
  options.sources = sources_of(settings);
  options.following.batch = settings.metrics.batch;
  options.following.window = settings.metrics.window;
  options.following.retries = settings.metrics.retries;
  options.following.keeper.alone = settings.store == StoreKind::embedded;  // which is open in one process
  return options;
}

base::Result<metrics::WebhookSinkOptions> webhook_options(const OutboxSettings& settings, const std::string& url) {
  TRY(outbox::WebhookSigner signer, outbox::WebhookSigner::create(settings.callback_secret));
  metrics::WebhookSinkOptions options;
  options.url = url;
  options.sign = [signer = std::move(signer)](const std::string& id, base::TimePoint now, const std::string& body) {
    return signer.headers(id, now, body);
  };
  options.timeout = settings.callback_timeout;
  options.client.allow_private_addresses = true;  // an operator says where, not a client
  options.client.tls.certificate_file = settings.callback_ca;
  return options;
}

}  // namespace

MetricsService::~MetricsService() { stop(); }

void MetricsService::stop() {
  if (!shutdown_deadline_->is_set()) shutdown_deadline_->begin_at(std::chrono::steady_clock::now());
  pause_.end();
  if (metrics_) metrics_->stop();
}

std::vector<std::string> MetricsService::troubles() const {
  std::vector<std::string> found;
  for (const metrics::Follower* const follower : metrics_->followers()) {
    const auto outage = follower->outage();
    if (!outage) continue;
    const metrics::FollowerOptions& options = follower->options();
    const std::optional<std::string> subscriber = metrics::subscriber_of(options.keeper.follower);
    const std::string who = subscriber ? "the subscriber " + *subscriber : "the counting of changes";
    found.push_back(who + " of table " + options.table + ": " + *outage);
  }
  return found;
}

base::Result<std::unique_ptr<MetricsService>> MetricsService::create(store::Store& store, MessageGateway& gateway,
                                                                     const Settings& settings,
                                                                     const base::Clock& clock) {
  std::unique_ptr<MetricsService> service(new MetricsService());
  const store::Retry retry(service->random_,
                           [&pause = service->pause_](base::Milliseconds delay) { pause.wait(delay); });
  service->metrics_ = std::make_unique<metrics::Metrics>(store, options_of(settings), clock, service->random_, retry);
  TRY_VOID(service->add_subscribers(gateway, settings));
  TRY_VOID(service->metrics_->prepare());
  return service;
}

base::Result<void> MetricsService::add_subscribers(MessageGateway& gateway, const Settings& settings) {
  for (const ChangeSubscriber& wanted : settings.metrics.subscribers) {
    const std::string origin = "--subscriber " + wanted.name + ": ";
    metrics::SubscriberOptions options{
        .name = wanted.name, .table = wanted.table, .target = {}, .left_out = left_out_of(settings, wanted.table)};
    switch (wanted.kind) {
      case ChangeSubscriber::Kind::webhook: {
        TRY(metrics::WebhookSinkOptions webhook, webhook_options(settings.outbox, wanted.target));
        webhook.client.shutdown_deadline = shutdown_deadline_;
        options.target = std::move(webhook);
        break;
      }
      case ChangeSubscriber::Kind::queue: {
        auto broker = gateway.find_broker(wanted.connection);
        if (!broker) return base::invalid(origin + broker.error().message);
        brokers_.push_back(*std::move(broker));
        options.target = metrics::QueueTarget{.broker = brokers_.back().get(), .queue = wanted.target};
        break;
      }
      case ChangeSubscriber::Kind::files:
        options.target = metrics::FileSinkOptions{.directory = wanted.target, .name = wanted.name};
        break;
    }
    if (const auto added = metrics_->subscribers().add(options); !added)
      return base::invalid(origin + added.error().message);
  }
  return {};
}

}  // namespace postino::app
