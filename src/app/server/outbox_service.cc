#include "app/server/outbox_service.h"

#include <ostream>

#include "api/service.h"
#include "app/server/mysql_storage.h"
#include "app/server/outbox_storage.h"
#include "base/timestamp.h"
#include "outbox/outbox.h"
#include "outbox/parts.h"

namespace postino::app {

namespace {

outbox::SmtpTransportOptions smtp_options(const OutboxSettings& settings) {
  outbox::SmtpTransportOptions options;
  for (const RelayAddress& relay : settings.relays) {
    mail::SmtpOptions smtp;
    smtp.host = relay.host;
    smtp.port = relay.port;
    smtp.tls = settings.smtp_tls;
    smtp.certificate_file = settings.smtp_ca;
    smtp.user = settings.smtp_user;
    smtp.password = settings.smtp_password;
    smtp.local_name = settings.smtp_hello;
    smtp.connect_timeout = std::min(smtp.connect_timeout, settings.smtp_timeout);
    smtp.command_timeout = settings.smtp_timeout;
    smtp.data_timeout = settings.smtp_timeout;
    smtp.end_timeout = settings.smtp_timeout * 5;  // the server may look into the message before it answers
    options.relays.push_back(std::move(smtp));
  }
  return options;
}

outbox::PipelinesOptions pipelines_options(const OutboxSettings& settings) {
  outbox::PipelinesOptions options;
  options.intake.workers = settings.intake_workers;
  options.intake.batch = settings.batch;
  options.send.workers = settings.smtp_connections;
  options.send.batch = settings.batch;
  options.callback.workers = settings.callback_workers;
  options.callback.batch = settings.batch;
  return options;
}

api::ApiOptions api_options(const OutboxSettings& settings, bool log_requests) {
  api::ApiOptions options;
  options.keys = settings.api_keys;
  options.require_idempotency_key = settings.require_idempotency_key;
  options.log_requests = log_requests;
  return options;
}

}  // namespace

// In the order they are built; each may use those above it.
struct OutboxService::Parts {
  OutboxSettings settings;
  base::SystemClock clock;
  base::SystemRandom random;
  base::Pause pause;
  outbox::Policy policy;
  std::unique_ptr<OutboxStorage> storage;
  std::unique_ptr<outbox::SandboxMailbox> mailbox;  // without a relay
  std::unique_ptr<outbox::Transport> transport;
  outbox::SmtpTransport* smtp = nullptr;  // the transport, when it is one
  std::unique_ptr<outbox::DestinationLimits> limits;
  std::unique_ptr<mail::DkimSigner> signer;
  std::unique_ptr<outbox::Intake> intake;
  outbox::FreshMessages fresh;
  std::unique_ptr<outbox::Sender> sender;
  std::unique_ptr<outbox::Caller> caller;
  outbox::WorkSignal signal;
  std::unique_ptr<outbox::Pipelines> pipelines;
  std::unique_ptr<outbox::DirectDispatch> dispatch;  // when the ledger keeps contents itself
  std::unique_ptr<outbox::Outbox> outbox;
  std::unique_ptr<outbox::QueueIntake> queue_intake;  // when e-mails arrive by a queue
  std::unique_ptr<idempotency::Guard> request_keys;   // of calls of the API
  std::unique_ptr<api::Api> api;

  base::Result<void> build(store::Store& store, MessageGateway& gateway, const Settings& all);
  base::Result<void> build_storage(store::Store& store);
  base::Result<void> build_transport(store::Store& store);
  base::Result<void> build_workers();
  void tick();
};

base::Result<void> OutboxService::Parts::build_storage(store::Store& store) {
  const StorageContext context{policy, clock, random, pause};
  if (settings.ledger == LedgerKind::mysql) {
    TRY(storage, open_mysql_storage(settings, context));
  } else {
    TRY(storage, open_store_storage(store, settings, context));
  }
  return {};
}

base::Result<void> OutboxService::Parts::build_transport(store::Store& store) {
  if (settings.relays.empty()) {
    // The sandbox is on this machine, wherever the e-mails are.
    outbox::StoreTables tables;
    tables.emails = settings.table;
    TRY_VOID(outbox::prepare_mailbox(store, tables));
    const store::Retry retry(random, [this](base::Milliseconds delay) { pause.wait(delay); });
    mailbox = std::make_unique<outbox::SandboxMailbox>(store, tables.mailbox(), storage->ledger().spool(), retry);
    transport = std::make_unique<outbox::SandboxTransport>(*mailbox, clock, settings.keep);
    return {};
  }
  TRY(auto relays, outbox::SmtpTransport::create(smtp_options(settings)));
  smtp = relays.get();
  transport = std::move(relays);
  return {};
}

base::Result<void> OutboxService::Parts::build_workers() {
  limits = std::make_unique<outbox::DestinationLimits>(
      outbox::DestinationRules{settings.destination_concurrency, static_cast<double>(settings.destination_rate)});
  if (!settings.dkim_key.empty()) {
    TRY(signer, mail::DkimSigner::create({settings.dkim_domain, settings.dkim_selector, settings.dkim_key}));
  }
  outbox::IntakeOptions options;
  options.attachment_path = settings.attachments;
  options.message_id_domain = settings.message_id_domain;
  TRY(intake, outbox::Intake::create(storage->ledger().spool(), signer.get(), std::move(options)));
  sender = std::make_unique<outbox::Sender>(storage->ledger(), storage->suppressions(), *transport, *limits, policy,
                                            clock, settings.smtp_from, &fresh);
  TRY(outbox::WebhookSigner webhook_signer, outbox::WebhookSigner::create(settings.callback_secret));
  outbox::CallerOptions caller_options;
  caller_options.timeout = settings.callback_timeout;
  caller_options.allow_private_addresses = settings.callback_allow_private;
  caller_options.certificate_file = settings.callback_ca;
  TRY(caller, outbox::Caller::create(policy, clock, std::move(webhook_signer), std::move(caller_options)));
  return {};
}

base::Result<void> OutboxService::Parts::build(store::Store& store, MessageGateway& gateway, const Settings& all) {
  TRY_VOID(build_storage(store));
  TRY_VOID(build_transport(store));
  TRY_VOID(build_workers());
  const std::string owner = base::make_uuid(random);
  const outbox::Pipelines::Context context{storage->ledger(), policy, clock, random, signal, owner};
  pipelines = std::make_unique<outbox::Pipelines>(context, outbox::Pipelines::Workers{*intake, *sender, *caller},
                                                  pipelines_options(settings), [this] { tick(); });
  if (storage->keeps_contents())
    dispatch = std::make_unique<outbox::DirectDispatch>(*intake, pipelines->senders(), fresh, policy, owner);
  outbox = std::make_unique<outbox::Outbox>(storage->ledger(), storage->suppressions(), policy, clock, random, signal,
                                            outbox::OutboxOptions(), dispatch.get());
  TRY(queue_intake, gateway.make_intake(*outbox));
  TRY_VOID(idempotency::prepare_tables(store, all.idempotency.table));
  request_keys = std::make_unique<idempotency::Guard>(store, clock, random, all.idempotency);
  api = std::make_unique<api::Api>(*outbox, mailbox.get(), gateway.service(), *request_keys, clock, random,
                                   api_options(settings, all.log_requests));
  return {};
}

void OutboxService::Parts::tick() {
  if (smtp != nullptr) smtp->close_idle_sessions();
  storage->tick(clock.now());
}

OutboxService::OutboxService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
OutboxService::~OutboxService() = default;

base::Result<std::unique_ptr<OutboxService>> OutboxService::create(store::Store& store, MessageGateway& gateway,
                                                                   const Settings& settings) {
  auto parts = std::make_unique<Parts>();
  parts->settings = settings.outbox;
  parts->policy = outbox_policy(settings.outbox);
  TRY_VOID(parts->build(store, gateway, settings));
  return std::unique_ptr<OutboxService>(new OutboxService(std::move(parts)));
}

void OutboxService::start() {
  parts_->pipelines->start();
  if (parts_->queue_intake) parts_->queue_intake->start();
}

void OutboxService::handle(const net::Request& request, net::Responder respond) {
  parts_->api->handle(request, std::move(respond));
}

void OutboxService::stop(std::chrono::seconds grace) {
  const auto give_up_at = std::chrono::steady_clock::now() + grace;
  parts_->storage->give_up_at(give_up_at);
  if (parts_->queue_intake) parts_->queue_intake->stop();
  parts_->api->stop();
  parts_->pipelines->stop(give_up_at);
}

base::Result<void> OutboxService::show_sample(std::ostream& out) {
  constexpr auto interval = std::chrono::milliseconds(20);
  constexpr int rounds = 500;
  outbox::Payload payload;
  payload.from = {"Postino", "postino@example.com"};
  payload.to = {{"", "newcomer@example.org"}};
  payload.subject = "It works";
  payload.body_text = "This e-mail was accepted once, built, sent to the sandbox, and put on record.\n";
  TRY(const outbox::AcceptAnswer answer, parts_->outbox->accept({std::move(payload)}, "", std::nullopt, nullptr));
  const std::string id = answer.outcomes.front().id;
  for (int round = 0; round < rounds; ++round) {
    TRY(const outbox::ShownEmail shown, parts_->outbox->show(id, ""));
    const bool settled = shown.email.settled_at.has_value();
    if (!settled) {
      parts_->pause.wait(interval);
      continue;
    }
    out << "A sample e-mail was sent to the sandbox (see it with: postino mailbox show " << id << "):\n";
    for (const outbox::HistoryEntry& line : shown.history) {
      out << "  " << base::format_timestamp(line.at) << "  " << line.status;
      if (!line.reason.empty()) out << ": " << line.reason;
      out << "\n";
    }
    return {};
  }
  return base::fail(base::ErrorCode::exhausted, "the sample e-mail " + id + " was not sent in time");
}

void OutboxService::append_metrics(std::string& out) const {
  parts_->api->append_metrics(out);
  parts_->storage->append_metrics(out);
  // No request waits for a ledger that is known not to answer.
  parts_->pipelines->append_metrics(out, !problem());
  if (parts_->queue_intake) outbox::QueueIntake::append_metrics({parts_->queue_intake.get()}, out);
}

std::optional<std::string> OutboxService::problem() const { return parts_->storage->problem(); }

std::string OutboxService::describe_storage() const { return parts_->storage->describe(); }

std::string OutboxService::describe_transport() const {
  if (parts_->settings.relays.empty()) return "kept in the sandbox (read it with: postino mailbox)";
  std::string text = "sent through ";
  for (const RelayAddress& relay : parts_->settings.relays) {
    if (!text.ends_with("sent through ")) text += ", then ";
    text += relay.text();
  }
  return text;
}

}  // namespace postino::app
