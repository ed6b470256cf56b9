#include "app/server/outbox_service.h"

#include <algorithm>
#include <iterator>
#include <ostream>

#include "api/service.h"
#include "app/access/session_storage.h"
#include "app/server/mysql_storage.h"
#include "app/server/outbox_storage.h"
#include "app/server/reminder_sample.h"
#include "app/server/server_lock.h"
#include "app/server/support_service.h"
#include "app/server/ticket_sample.h"
#include "base/this_thread.h"
#include "base/timestamp.h"
#include "mysql/open_sockets.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/outbox.h"
#include "outbox/store_ledger/store_tables.h"
#include "outbox/transport/sandbox_transport.h"
#include "outbox/transport/smtp_transport.h"
#include "outbox/transport/webhook.h"
#include "outbox/work/direct_dispatch.h"
#include "outbox/work/fresh_messages.h"
#include "outbox/work/pipelines.h"
#include "reminders/outbox_reminder_mailer.h"

namespace postino::app {

namespace {

outbox::SmtpTransportOptions smtp_options(const OutboxSettings& settings,
                                          const std::shared_ptr<net::ShutdownDeadline>& shutdown_deadline) {
  outbox::SmtpTransportOptions options;
  for (const RelayAddress& relay : settings.relays) {
    smtp::Options relay_options;
    relay_options.host = relay.host;
    relay_options.port = relay.port;
    relay_options.tls = settings.smtp_tls;
    relay_options.certificate_file = settings.smtp_ca;
    relay_options.user = settings.smtp_user;
    relay_options.password = settings.smtp_password;
    relay_options.password_to_anyone = settings.smtp_password_to_anyone;
    relay_options.local_name = settings.smtp_hello;
    relay_options.connect_timeout = std::min(relay_options.connect_timeout, settings.smtp_timeout);
    relay_options.greeting_timeout = settings.smtp_timeout;
    relay_options.command_timeout = settings.smtp_timeout;
    relay_options.data_timeout = settings.smtp_timeout;
    relay_options.end_timeout = settings.smtp_timeout * 5;  // the server may look into the message before it answers
    relay_options.shutdown_deadline = shutdown_deadline;
    options.relays.push_back(std::move(relay_options));
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
  options.domains = {settings.destination_concurrency, static_cast<double>(settings.destination_rate)};
  options.sends = !settings.no_sending;
  return options;
}

// The ledger counts e-mails itself: all of them, and those of each tenant.
metrics::CountedElsewhere email_counts(outbox::Outbox& outbox) {
  return [&outbox](const std::string& tenant) -> base::Result<std::map<std::string, metrics::Amount>> {
    std::map<std::string, metrics::Amount> figures;
    const bool is_everybody = tenant == metrics::everybody;
    if (!is_everybody && (tenant.empty() || tenant == metrics::all_tenants)) return figures;
    TRY(const auto counts, outbox.counts(is_everybody ? "" : tenant));
    for (const outbox::State state : outbox::all_states())
      figures["emails_by_state#" + std::string(outbox::name_of(state))].count = counts[static_cast<std::size_t>(state)];
    return figures;
  };
}

api::ApiOptions api_options(const Settings& all, const MemoryLimits& memory) {
  const OutboxSettings& settings = all.outbox;
  api::ApiOptions options;
  options.keys = settings.api_keys;
  options.users = settings.users;
  options.sign_ins.proxies = all.access.origin_policy.proxies;
  options.origin_policy = http::OriginPolicy(all.access.origin_policy);
  options.require_idempotency_key = settings.require_idempotency_key;
  options.log_requests = all.log_requests;
  options.reading = memory.reading;
  options.answers = memory.answers;
  return options;
}

}  // namespace

// In the order they are built; each may use those above it.
struct OutboxService::Parts {
  explicit Parts(const base::PlausibleClock& machine_clock) : own_clock(machine_clock) {}

  OutboxSettings settings;
  std::filesystem::path data;                               // the data directory
  const base::PlausibleClock& own_clock;                    // of this machine
  std::shared_ptr<outbox::ForeignWriteLog> foreign_writes;  // null: the table is not watched
  std::shared_ptr<const capacity::Planner> planner;         // of capacity; may be null
  metrics::Metrics* metrics = nullptr;                      // may be null
  std::shared_ptr<signature::KeySource> keys;               // for buckets; may be null
  AuditAccess audit;
  backup::Backups* backups = nullptr;
  access::KeyRing* stored_keys = nullptr;  // may be null
  ObjectSettings objects;
  base::SystemRandom random;
  base::Pause pause;
  const std::shared_ptr<net::ShutdownDeadline> shutdown_deadline =
      std::make_shared<net::ShutdownDeadline>();  // for mail servers and receivers
  const std::shared_ptr<mysql::OpenSockets> database_sockets = std::make_shared<mysql::OpenSockets>();
  outbox::Policy policy;
  std::unique_ptr<outbox::MessageMemory> memory;
  std::unique_ptr<OutboxStorage> storage;
  std::unique_ptr<ServerLock> server_lock;          // on a database
  const base::Clock* clock = nullptr;               // that e-mails live by
  std::unique_ptr<outbox::SandboxMailbox> mailbox;  // without a relay
  std::unique_ptr<outbox::Transport> transport;
  outbox::SmtpTransport* smtp = nullptr;  // the transport, when it is one
  std::unique_ptr<mail::DkimSigner> signer;
  outbox::MissingContents missing_contents{own_clock};
  std::unique_ptr<outbox::Intake> intake;
  outbox::FreshMessages fresh;
  std::unique_ptr<outbox::Sender> sender;
  std::unique_ptr<outbox::CallbackSender> callback_sender;
  outbox::WorkSignal signal;
  std::unique_ptr<outbox::Pipelines> pipelines;
  std::unique_ptr<outbox::DirectDispatch> dispatch;  // when the ledger keeps contents itself
  std::unique_ptr<outbox::Outbox> outbox;
  std::unique_ptr<outbox::QueueIntake> queue_intake;  // when e-mails arrive by a queue
  std::unique_ptr<idempotency::Guard> request_keys;   // of calls of the API
  std::unique_ptr<idempotency::Guard> store_keys;     // of some of them, when those above are shared by servers
  std::unique_ptr<reminders::ReminderMailer> mailer;
  std::unique_ptr<reminders::Reminders> reminders;  // unless they are off
  std::unique_ptr<SupportService> support;          // the same of tickets
  std::unique_ptr<access::Sessions> sessions;
  std::unique_ptr<support::AnswerIntake> answers;  // when customers' answers arrive by a queue
  std::unique_ptr<api::Api> api;

  base::Result<void> build(store::Store& store, MessageGateway& gateway, const Settings& all,
                           const MemoryLimits& limits_of_memory);
  base::Result<void> build_storage(store::Store& store);
  base::Result<void> build_transport(store::Store& store);
  base::Result<void> build_workers();
  base::Result<void> build_reminders(store::Store& store, const Settings& all);
  void tick();
  // With the ledger: it does not answer, or cannot be written.
  std::optional<std::string> ledger_problem() const;
};

base::Result<void> OutboxService::Parts::build_storage(store::Store& store) {
  const StorageContext context{policy,   own_clock, own_clock.past(), random, pause, data, memory.get(), foreign_writes,
                               &objects, keys,      shutdown_deadline};
  settings.mysql.server.sockets = database_sockets;
  if (settings.ledger == LedgerKind::mysql) {
    TRY(storage, open_mysql_storage(settings, context));
    TRY(server_lock,
        ServerLock::take(settings.mysql.server, settings.mysql.several_servers ? Sharing::several : Sharing::alone));
  } else {
    TRY(storage, open_store_storage(store, settings, context));
  }
  clock = &storage->clock();
  return {};
}

base::Result<void> OutboxService::Parts::build_transport(store::Store& store) {
  if (settings.relays.empty()) {
    // The sandbox is on this machine, wherever the e-mails are.
    const outbox::StoreTables tables{settings.table};
    TRY_VOID(outbox::prepare_mailbox(store, tables));
    const store::Retry retry(random, [this](base::Milliseconds delay) { pause.wait(delay); });
    mailbox = std::make_unique<outbox::SandboxMailbox>(store, tables.mailbox(), storage->ledger().spool(), retry);
    transport = std::make_unique<outbox::SandboxTransport>(*mailbox, *clock, settings.keep);
    return {};
  }
  TRY(auto relays, outbox::SmtpTransport::create(smtp_options(settings, shutdown_deadline)));
  smtp = relays.get();
  transport = std::move(relays);
  return {};
}

base::Result<void> OutboxService::Parts::build_workers() {
  if (!settings.dkim_key.empty()) {
    TRY(signer, mail::DkimSigner::create({settings.dkim_domain, settings.dkim_selector, settings.dkim_key}));
  }
  outbox::IntakeOptions options;
  options.attachment_path = settings.attachments;
  options.message_id_domain = settings.message_id_domain;
  TRY(intake, outbox::Intake::create(storage->ledger().spool(), signer.get(), std::move(options), &missing_contents));
  sender = std::make_unique<outbox::Sender>(
      storage->ledger(), storage->suppressions(), *transport, policy, *clock, settings.smtp_from, &fresh,
      shutdown_deadline.get(),
      [this](const outbox::Email& email) {
        return reminders && reminders::is_reminder(email) ? reminders->why_not_send(email) : std::nullopt;
      },
      &missing_contents);
  TRY(outbox::WebhookSigner webhook_signer, outbox::WebhookSigner::create(settings.callback_secret));
  outbox::CallbackSenderOptions callback_options;
  callback_options.timeout = settings.callback_timeout;
  callback_options.allow_private_addresses = settings.callback_allow_private;
  callback_options.certificate_file = settings.callback_ca;
  callback_options.shutdown_deadline = shutdown_deadline;
  TRY(callback_sender,
      outbox::CallbackSender::create(policy, *clock, std::move(webhook_signer), std::move(callback_options)));
  return {};
}

base::Result<void> OutboxService::Parts::build(store::Store& store, MessageGateway& gateway, const Settings& all,
                                               const MemoryLimits& limits_of_memory) {
  memory = std::make_unique<outbox::MessageMemory>(limits_of_memory.messages);
  TRY_VOID(build_storage(store));
  TRY_VOID(build_transport(store));
  TRY_VOID(build_workers());
  const std::string owner = base::make_uuid(random);
  const outbox::Pipelines::Context context{storage->ledger(), policy, *clock, random, signal, owner, memory.get()};
  outbox::PipelinesOptions options = pipelines_options(settings);
  options.on_change = [this](const outbox::Email& email) {
    if (reminders && reminders::is_reminder(email)) reminders->note_email(email.id);
  };
  pipelines = std::make_unique<outbox::Pipelines>(
      context, outbox::Pipelines::Workers{*intake, *sender, *callback_sender}, std::move(options), [this] { tick(); });
  if (storage->keeps_contents() && !settings.no_sending)
    dispatch =
        std::make_unique<outbox::DirectDispatch>(*intake, pipelines->senders(), fresh, policy, owner, memory.get());
  outbox::OutboxOptions outbox_options;
  outbox_options.memory = memory.get();
  outbox_options.is_worked_on = [this](const outbox::Email& email) { return pipelines->has(email); };
  outbox = std::make_unique<outbox::Outbox>(storage->ledger(), storage->suppressions(), policy, *clock, random, signal,
                                            outbox_options, dispatch.get());
  TRY(queue_intake, gateway.make_intake(*outbox));
  TRY_VOID(idempotency::prepare_tables(store, all.idempotency.table));
  request_keys = std::make_unique<idempotency::Guard>(store, own_clock, random, all.idempotency);
  if (all.idempotency.shared_records) {
    idempotency::GuardOptions own = all.idempotency;
    own.shared_records = nullptr;
    own.shared_clock = nullptr;
    store_keys = std::make_unique<idempotency::Guard>(store, own_clock, random, std::move(own));
  }
  if (!all.reminders.off) TRY_VOID(build_reminders(store, all));
  if (!all.tickets.off) {
    TRY(support, SupportService::create(store, *outbox, all, *clock, keys, shutdown_deadline));
    TRY(answers, gateway.make_answer_intake(support->desk().correspondence()));
  }
  api::ApiOptions options_of_api = api_options(all, limits_of_memory);
  if (support) options_of_api.tickets = &support->desk();
  options_of_api.reminders = reminders.get();
  options_of_api.planner = planner;
  options_of_api.metrics = metrics;
  options_of_api.audit = audit.audit;
  options_of_api.audit_reader = audit.reader;
  options_of_api.backups = backups;
  options_of_api.store_keys = store_keys.get();
  options_of_api.stored_keys = stored_keys;
  const store::Retry retry(random, [this](base::Milliseconds delay) { pause.wait(delay); });
  sessions = make_sessions(store, all.tickets.table, own_clock, random, retry);
  options_of_api.sessions = sessions.get();
  if (metrics != nullptr && !all.metrics.emails) metrics->dashboard().add(email_counts(*outbox));
  api = std::make_unique<api::Api>(*outbox, mailbox.get(), gateway.service(), *request_keys, *clock, random,
                                   std::move(options_of_api));
  return {};
}

base::Result<void> OutboxService::Parts::build_reminders(store::Store& store, const Settings& all) {
  const ReminderSettings& wanted = all.reminders;
  mailer = std::make_unique<reminders::OutboxReminderMailer>(*outbox, store, settings.message_id_domain);
  TRY(reminders::Rules rules, reminders::Rules::make(wanted.rules));
  reminders::ReminderOptions options{.rules = std::move(rules)};
  options.tables.tracking = wanted.table;
  options.tables.marks_audit = all.store == StoreKind::embedded;
  options.tables.shards = wanted.shards;
  options.tables.currency = wanted.currency;
  options.approval.other_person = wanted.other_person;
  options.approval.from = wanted.from;
  options.approval.is_clock_contradicted = [this] { return own_clock.is_suspicious(); };
  const store::Retry retry(random, [this](base::Milliseconds delay) { pause.wait(delay); });
  reminders = std::make_unique<reminders::Reminders>(store, *mailer, std::move(options), *clock, random, retry);
  return reminders->prepare();
}

void OutboxService::Parts::tick() {
  if (smtp != nullptr) smtp->close_idle_sessions();
  storage->tick();
  if (server_lock && !storage->problem()) server_lock->keep(std::chrono::steady_clock::now());
}

std::optional<std::string> OutboxService::Parts::ledger_problem() const {
  if (auto problem = storage->problem()) return problem;
  if (pipelines->is_refused()) return "the outbox cannot be written";
  return std::nullopt;
}

OutboxService::OutboxService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
OutboxService::~OutboxService() {
  parts_->pipelines->stop(outbox::PipelineLoop::Instant());  // they tell reminders of e-mails
  if (parts_->foreign_writes) parts_->foreign_writes->listen({});
}

base::Result<std::unique_ptr<OutboxService>> OutboxService::create(
    store::Store& store, MessageGateway& gateway, const Settings& settings, const MemoryLimits& memory,
    const base::PlausibleClock& clock, std::shared_ptr<outbox::ForeignWriteLog> log,
    std::shared_ptr<const capacity::Planner> planner, metrics::Metrics* metrics,
    std::shared_ptr<signature::KeySource> keys, AuditAccess audit, backup::Backups* backups,
    access::KeyRing* stored_keys) {
  auto parts = std::make_unique<Parts>(clock);
  parts->foreign_writes = std::move(log);
  parts->planner = std::move(planner);
  parts->metrics = metrics;
  parts->keys = std::move(keys);
  parts->audit = audit;
  parts->backups = backups;
  parts->stored_keys = stored_keys;
  parts->settings = settings.outbox;
  parts->objects = settings.objects;
  parts->data = settings.data;
  parts->policy = outbox_policy(settings.outbox);
  TRY_VOID(parts->build(store, gateway, settings, memory));
  return std::unique_ptr<OutboxService>(new OutboxService(std::move(parts)));
}

void OutboxService::start() {
  parts_->pipelines->start();
  // Whichever workers look first adopt what was written; what it waits for is known then.
  if (parts_->foreign_writes)
    parts_->foreign_writes->listen([&signal = parts_->signal] {
      using enum outbox::Pipeline;
      for (const outbox::Pipeline pipeline : {intake, send, callback}) signal.announce(pipeline);
    });
  if (parts_->queue_intake) parts_->queue_intake->start();
  if (parts_->reminders) parts_->reminders->start();
  if (parts_->support) parts_->support->start();
  if (parts_->answers) parts_->answers->start();
}

std::optional<http::Response> OutboxService::refuse_early(const http::Request& request) {
  return parts_->api->refuse_early(request);
}

void OutboxService::handle(const http::Request& request, http::Responder respond) {
  parts_->api->handle(request, std::move(respond));
}

void OutboxService::begin_stop(std::chrono::steady_clock::time_point leave_at,
                               std::chrono::steady_clock::time_point give_up_at) {
  // Workers leave a server that hangs in time to write down what is known.
  parts_->shutdown_deadline->begin_at(leave_at);
  parts_->storage->give_up_at(give_up_at);
  parts_->pipelines->begin_stop(give_up_at);
}

void OutboxService::stop(std::chrono::steady_clock::time_point give_up_at) {
  const base::Alarm database(give_up_at, [this] { parts_->database_sockets->break_off(); });
  if (parts_->queue_intake) parts_->queue_intake->stop();
  if (parts_->answers) parts_->answers->stop();
  parts_->api->stop();
  if (parts_->reminders) parts_->reminders->stop();
  if (parts_->support) parts_->support->stop();
  parts_->pipelines->stop(give_up_at);
  // Nothing is left to be written. Threads that only look at the database are not waited for.
  parts_->database_sockets->break_off();
}

void OutboxService::set_callers(const std::vector<api::ApiKey>& keys, const std::vector<api::User>& users) {
  parts_->api->set_keys(keys, users);
}

void OutboxService::set_stored_keys(const access::KnownKeys& known) { parts_->api->set_stored_keys(known); }

void OutboxService::set_dkim_signer(const mail::DkimSigner& signer) { parts_->signer->sign_as(signer); }

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
    if (parts_->reminders) TRY_VOID(show_reminder_sample(*parts_->reminders, *parts_->clock, parts_->pause, out));
    if (parts_->support) TRY_VOID(show_ticket_sample(parts_->support->desk(), out));
    return {};
  }
  return base::fail(base::ErrorCode::exhausted, "the sample e-mail " + id + " was not sent in time");
}

void OutboxService::append_metrics(std::string& out) const {
  parts_->api->append_metrics(out);
  parts_->storage->append_metrics(out);
  // A ledger that is known not to answer is not asked.
  parts_->pipelines->append_metrics(out, !parts_->ledger_problem());
  if (parts_->smtp != nullptr) parts_->smtp->append_metrics(out);
  if (parts_->reminders) parts_->reminders->append_metrics(out);
  if (parts_->queue_intake) outbox::QueueIntake::append_metrics({parts_->queue_intake.get()}, out);
  if (parts_->support) parts_->support->append_metrics(out);
  if (parts_->answers) parts_->answers->append_metrics(out);
}

std::optional<std::string> OutboxService::problem() const {
  if (auto problem = parts_->ledger_problem()) return problem;
  if (auto problem = parts_->storage->spool_problem()) return problem;
  return parts_->server_lock ? parts_->server_lock->problem() : std::nullopt;
}

std::vector<std::string> OutboxService::troubles() const {
  std::vector<std::string> found;
  if (parts_->smtp != nullptr) found = parts_->smtp->problems();
  std::ranges::move(parts_->storage->troubles(), std::back_inserter(found));
  if (const auto problem = parts_->missing_contents.problem()) found.push_back(*problem);
  if (parts_->settings.no_sending) found.emplace_back("nothing is sent, because of --no-sending");
  if (const auto problem = parts_->queue_intake ? parts_->queue_intake->problem() : std::nullopt)
    found.push_back(*problem);
  if (const auto problem = parts_->answers ? parts_->answers->problem() : std::nullopt) found.push_back(*problem);
  if (const auto trouble = parts_->support ? parts_->support->trouble() : std::nullopt) found.push_back(*trouble);
  return found;
}

std::string OutboxService::describe_storage() const { return parts_->storage->describe(); }

std::string OutboxService::describe_transport() const {
  if (parts_->settings.no_sending) return "not sent, because of --no-sending";
  if (parts_->settings.relays.empty()) return "kept in the sandbox (read it with: postino mailbox)";
  std::string text = "sent through ";
  for (const RelayAddress& relay : parts_->settings.relays) {
    if (!text.ends_with("sent through ")) text += ", then ";
    text += relay.text();
  }
  return text;
}

}  // namespace postino::app
