#include "app/server/serve.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iterator>
#include <optional>
#include <ostream>
#include <set>
#include <thread>

#include "api/protocol/limits.h"
#include "api/service.h"
#include "app/access/audit_service.h"
#include "app/access/key_service.h"
#include "app/backups/backup_files.h"
#include "app/backups/backup_service.h"
#include "app/console/signals.h"
#include "app/server/caller_updates.h"
#include "app/server/memory_limits.h"
#include "app/server/message_gateway.h"
#include "app/server/metrics_service.h"
#include "app/server/monitor.h"
#include "app/server/mysql_storage.h"
#include "app/server/outbox_service.h"
#include "app/server/program_pages.h"
#include "app/server/read_only_tables.h"
#include "app/server/reload.h"
#include "app/server/server_metrics.h"
#include "app/server/shutdown_plan.h"
#include "app/server/start_traces.h"
#include "app/server/support_service.h"
#include "app/server/table_exchange.h"
#include "app/server/version.h"
#include "app/store/open_store.h"
#include "app/store/service_tables.h"
#include "app/store/table_uses.h"
#include "base/log.h"
#include "base/log_file.h"
#include "base/metrics_text.h"
#include "base/this_thread.h"
#include "http/server.h"
#include "net/address.h"
#include "net/descriptor_limit.h"
#include "net/service_notification.h"
#include "net/tls.h"
#include "outbox/store_ledger/foreign_writes.h"
#include "outbox/store_ledger/store_layout.h"
#include "outbox/store_ledger/store_tables.h"
#include "store/table_setup.h"

namespace postino::app {

namespace {

constexpr int remote_call_threads = 32;  // calls of DynamoDB's API that wait for a store on other machines

std::optional<net::TlsFiles> dynamodb_files(const Settings& settings) {
  if (settings.tls_certificate.empty()) return std::nullopt;
  return net::TlsFiles{settings.tls_certificate, settings.tls_key};
}

std::optional<net::TlsFiles> rest_files(const OutboxSettings& settings) {
  if (settings.off || settings.http_tls_certificate.empty()) return std::nullopt;
  return net::TlsFiles{settings.http_tls_certificate, settings.http_tls_key};
}

// nullptr without files.
base::Result<std::shared_ptr<const net::TlsContext>> load(const std::optional<net::TlsFiles>& files) {
  if (!files) return nullptr;
  TRY(std::shared_ptr<const net::TlsContext> loaded, net::TlsContext::load(*files));
  return loaded;
}

http::ServerOptions server_options(const Settings& settings, const MemoryLimits& memory) {
  http::ServerOptions options;
  options.address = settings.dynamodb_host;
  options.port = settings.dynamodb_port;
  options.answers = memory.answers;
  options.threads = settings.threads;
  options.max_connections = static_cast<std::size_t>(settings.max_connections);
  options.shared_addresses = settings.access.origin_policy.proxies;
  options.tls = dynamodb_files(settings);
  return options;
}

wire::EndpointOptions endpoint_options(const Settings& settings, const access::KnownKeys& known,
                                       const MemoryLimits& memory) {
  wire::EndpointOptions options;
  if (settings.store == StoreKind::dynamodb) {
    options.all_calls_are_long = true;
    options.long_call_threads = remote_call_threads;
  }
  options.region = settings.region;
  options.account = settings.account;
  options.answers = memory.answers;
  options.reading = memory.reading;
  options.access_keys = all_access_keys(settings, known);
  options.keys_only = needs_access_key(settings, known);
  options.origin_policy = http::OriginPolicy(settings.access.origin_policy);
  options.faults = settings.faults;
  options.log_requests = settings.log_requests;
  return options;
}

http::ServerOptions rest_options(const Settings& settings, const MemoryLimits& memory) {
  const OutboxSettings& outbox = settings.outbox;
  http::ServerOptions options;
  options.address = outbox.http_host;
  options.port = outbox.http_port;
  options.answers = memory.answers;
  options.threads = settings.threads;
  options.max_connections = static_cast<std::size_t>(settings.max_connections);
  options.shared_addresses = settings.access.origin_policy.proxies;
  options.max_body_bytes = api::Limits::body_bytes;
  options.refusal = [](int status) {
    base::SystemRandom random;
    return api::refusal(status, random);
  };
  options.tls = rest_files(outbox);
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

void announce_reminders(std::ostream& out, const ReminderSettings& reminders) {
  if (reminders.off) return;
  out << "Reminders: in table " << reminders.table
      << (reminders.from.empty() ? "; without --reminders-from only templates with a branding can be sent\n" : "\n");
}

void announce_tickets(std::ostream& out, const TicketSettings& tickets) {
  if (tickets.off) return;
  out << "Tickets: in table " << tickets.table
      << (tickets.from.empty() ? "; without --tickets-from they send no e-mails\n" : "\n");
}

void announce(std::ostream& out, const Settings& settings, const access::KnownKeys& known, const net::Address& address,
              const OpenStore& store) {
  const std::string url = url_of(address, settings.tls_certificate);
  const bool has_access_keys = !settings.access_keys.empty() || known.closes_dynamodb;
  const bool closed = !has_access_keys && needs_access_key(settings, known);
  out << "DynamoDB API: " << url << (closed ? "  (closed: there are API keys or users, but no access key)" : "") << "\n"
      << "Data: " << store.describe() << "\n"
      << "Health: " << url << "/healthz  Metrics: " << url << "/metrics\n";
  if (!has_access_keys && !closed && settings.tls_certificate.empty())
    out << "Try: AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws dynamodb list-tables --region "
        << settings.region << " --endpoint-url " << url << "\n";
  out << std::flush;
}

// Tables of the services that have indexes.
std::set<std::string> indexed_tables(const Settings& settings) {
  const outbox::StoreTables tables{settings.outbox.table};
  std::set<std::string> names{settings.reminders.table, audit_table(settings), settings.tickets.table,
                              settings.metrics.table};
  for (const store::TableSetup& setup : outbox::table_setups(tables)) names.insert(setup.request.table_name);
  return names;
}

capacity::ServiceNames service_names(const Settings& settings) {
  capacity::ServiceNames names;
  for (const auto& [table, use] : table_uses(settings)) names.emplace(table, use.service);
  return names;
}

// A server that cannot listen names the flag of its address.
base::Result<std::unique_ptr<http::Server>> named(const std::string& flag,
                                                  base::Result<std::unique_ptr<http::Server>> started) {
  if (!started && started.error().code == base::ErrorCode::io)
    started.error().message = flag + ": " + started.error().message;
  return started;
}

// The listening servers. Requests come before start() has returned, so what they need must be there.
class Servers {
 public:
  Servers(const Settings& settings, const MemoryLimits& memory, Monitor& monitor, wire::Endpoint& endpoint,
          OutboxService* outbox)
      : settings_(settings), memory_(memory), monitor_(monitor), endpoint_(endpoint), outbox_(outbox) {}

  base::Result<void> start() {
    http::ServerOptions dynamodb_options = server_options(settings_, memory_);
    dynamodb_options.refuse_early = [this](const http::Request& request) { return endpoint_.refuse_early(request); };
    const http::Handler dynamodb = [this](const http::Request& request, http::Responder respond) {
      if (!monitor_.handle(request, respond)) endpoint_.handle(request, std::move(respond));
    };
    TRY(dynamodb_, named("--dynamodb", http::Server::start(std::move(dynamodb_options), dynamodb)));
    if (outbox_ == nullptr) return {};
    http::ServerOptions options = rest_options(settings_, memory_);
    options.refuse_early = [this](const http::Request& request) { return outbox_->refuse_early(request); };
    const http::Handler rest = [this](const http::Request& request, http::Responder respond) {
      if (!monitor_.handle(request, respond)) outbox_->handle(request, std::move(respond));
    };
    TRY(rest_, named("--http", http::Server::start(std::move(options), rest)));
    return {};
  }
  // Requests that have begun may finish until then. Both at once: neither takes new requests while the other finishes
  // what it has.
  void stop(std::chrono::steady_clock::time_point end) {
    const auto time_left = [end] {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      return std::max(left, std::chrono::milliseconds(0));
    };
    std::thread rest([&] {
      if (rest_) rest_->stop(time_left());
    });
    dynamodb_->stop(time_left());
    rest.join();
  }

  // Each may be null: then nothing changes.
  void set_tls(std::shared_ptr<const net::TlsContext> dynamodb, std::shared_ptr<const net::TlsContext> rest) {
    if (dynamodb) dynamodb_->set_tls(std::move(dynamodb));
    if (rest) rest_->set_tls(std::move(rest));
  }

  // Has any connected? One server may have begun to listen before the other could not.
  bool has_clients() const { return dynamodb_ && dynamodb_->counts().accepted > 0; }

  net::Address dynamodb() const { return {settings_.dynamodb_host, dynamodb_->port()}; }
  net::Address rest() const { return {settings_.outbox.http_host, rest_->port()}; }
  std::vector<NamedServerCounts> counts() const {
    std::vector<NamedServerCounts> counts = {{"dynamodb", dynamodb_->counts()}};
    if (rest_) counts.push_back({"rest", rest_->counts()});
    return counts;
  }

 private:
  const Settings& settings_;
  const MemoryLimits& memory_;
  Monitor& monitor_;
  wire::Endpoint& endpoint_;
  OutboxService* const outbox_;
  std::unique_ptr<http::Server> dynamodb_;
  std::unique_ptr<http::Server> rest_;
};

// What takes new keys and files while the server runs.
struct Running {
  Servers& servers;
  OutboxService* outbox;
  MessageGateway* gateway;
  CallerUpdates& callers;
  AuditService* audit;
};

// First everything that can fail, so that a failure changes nothing. Returns the settings that count now.
base::Result<Settings> reload(const Running& running, const Settings& settings, const ReadSettings& read_settings) {
  TRY(const Settings fresh, read_settings());
  TRY(Reload planned, plan_reload(settings, fresh));
  const Settings& next = planned.settings;
  TRY(auto dynamodb_tls, load(dynamodb_files(next)));
  TRY(auto rest_tls, load(rest_files(next.outbox)));
  std::unique_ptr<mail::DkimSigner> signer;
  if (running.outbox != nullptr && !next.outbox.dkim_key.empty()) {
    TRY(signer, mail::DkimSigner::create({next.outbox.dkim_domain, next.outbox.dkim_selector, next.outbox.dkim_key}));
  }
  TRY(net::ClientTls::Renewal authorities, net::ClientTls::prepare_renewal());
  messages::Connections::Renewal connections;
  if (running.gateway != nullptr) {
    TRY(connections, running.gateway->prepare_renewal(next.messages));
  }
  TRY_VOID(base::open_log(next.log_file));

  base::set_log_level(next.log_level);
  running.servers.set_tls(std::move(dynamodb_tls), std::move(rest_tls));
  authorities.take();
  if (running.gateway != nullptr) running.gateway->renew(std::move(connections));
  running.callers.take(next);
  if (signer) running.outbox->set_dkim_signer(*signer);
  std::string waiting;
  for (const std::string& flag : planned.flags) waiting.append(waiting.empty() ? "" : ", ").append(flag);
  base::log_info("serve", "reloaded");
  if (running.audit != nullptr)
    running.audit->log().note({.kind = access::AuditEvent::server, .action = "settings.reloaded"});
  if (!waiting.empty()) base::log_warning("serve", "some changes wait for a restart", {{"settings", waiting}});
  return std::move(planned.settings);
}

// Until the process is told to end.
void wait_and_reload(const Signals& signals, const Running& running, Settings settings,
                     const ReadSettings& read_settings) {
  while (signals.wait() == Signals::Order::reload) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    net::notify_service_manager("RELOADING=1\nMONOTONIC_USEC=" +
                                std::to_string(std::chrono::floor<std::chrono::microseconds>(now).count()));
    auto reloaded = reload(running, settings, read_settings);
    if (reloaded)
      settings = *std::move(reloaded);
    else
      base::log_error("serve", "nothing was reloaded, and everything stays as it was",
                      {{"error", reloaded.error().message}});
    net::notify_service_manager("READY=1");
  }
}

// nullptr when the settings want none.
base::Result<std::unique_ptr<BackupService>> make_backups(const Settings& settings, OpenStore& store,
                                                          AuditService* audit) {
  if (settings.backups.place.empty()) return std::unique_ptr<BackupService>();
  BackupContext context{.make_checkpoint = [&store](const auto& directory) { return store.make_checkpoint(directory); },
                        .tell_audit = {},
                        .clock = *store.clock(),
                        .program = std::string(program_version())};
  if (audit != nullptr)
    context.tell_audit = [audit](const std::string& action, const std::string& subject) {
      audit->log().note({.kind = access::AuditEvent::server, .action = action, .subject = subject});
    };
  return BackupService::create(settings, std::move(context));
}

// A restore could not tell the audit itself.
void tell_of_restore(const std::filesystem::path& data, AuditService& audit) {
  const auto id = take_restored_note(data);
  if (!id) return;
  base::log_warning("serve", "the store was restored from a backup", {{"backup", *id}});
  audit.log().note({.kind = access::AuditEvent::server, .action = "store.restored", .subject = *id});
}

// How far a start has come.
struct StartProgress {
  bool is_store_new = false;
  bool is_open = false;  // clients may have written something
};

base::Result<void> start_and_serve(const Settings& settings, const ReadSettings& read_settings, std::ostream& out,
                                   StartProgress& progress) {
  Signals signals;
  net::raise_descriptor_limit();
  const base::SystemClock machine_clock;
  TRY(capacity::PriceBook prices, read_prices(settings.capacity));
  TRY(std::unique_ptr<OpenStore> opened,
      open_store(settings, machine_clock, [&signals](std::chrono::milliseconds time) { return signals.pause(time); }));
  store::Store& store = opened->store();
  const std::shared_ptr<base::PlausibleClock> clock = opened->clock();
  progress.is_store_new = opened->is_new();
  const auto planner = std::make_shared<const capacity::Planner>(std::move(prices), store, opened->traffic(),
                                                                 indexed_tables(settings), service_names(settings));
  const MemoryLimits memory;
  // Other programs may write to the table of e-mails: the outbox adopts what they write, now or later.
  base::SystemRandom random;
  const bool is_watched = !settings.outbox.off && settings.outbox.ledger == LedgerKind::store;
  using enum outbox::ForeignWrites::Watch;
  outbox::ForeignWrites watched(store, settings.outbox.table, *clock, random, is_watched ? marks : note);
  // What people have decided about reminders stays as it was written down.
  TRY(std::set<std::string> audits, opened->read_only_tables());
  if (!settings.outbox.off) audits.insert(audit_table(settings));
  std::unique_ptr<AuditService> audit;
  if (const auto options = audit_options(settings)) {
    audits.insert(options->table);
    TRY(audit, AuditService::create(store, *options, *clock));
  }
  if (audit) tell_of_restore(settings.data, *audit);
  TRY(const std::unique_ptr<BackupService> backups, make_backups(settings, *opened, audit.get()));
  std::unique_ptr<KeyService> stored_keys;
  if (const auto table = key_table(settings)) {
    audits.insert(table->name);
    TRY(stored_keys, KeyService::create(store, settings, *clock, audit ? &audit->log() : nullptr));
  }
  access::KeyRing* const key_ring = stored_keys ? &stored_keys->ring() : nullptr;
  const auto known = key_ring != nullptr ? key_ring->known() : std::make_shared<const access::KnownKeys>();
  if (key_ring != nullptr) TRY_VOID(check_addresses(settings, *known));
  ReadOnlyItems own_items;
  if (!settings.outbox.off) own_items.emplace(settings.tickets.table, access::session_partitions);
  ReadOnlyTables closed(watched, std::move(audits), std::move(own_items));
  wire::EndpointOptions options_of_endpoint = endpoint_options(settings, *known, memory);
  if (audit) options_of_endpoint.audit = &audit->log();
  TRY(const std::unique_ptr<TableExchange> exchange, TableExchange::open(store, settings, *clock, opened->keys()));
  if (exchange) options_of_endpoint.exchange = &exchange->exchange();
  if (key_ring != nullptr)
    options_of_endpoint.open_token = [key_ring](std::string_view token) { return key_ring->open_token(token); };
  auto endpoint = std::make_unique<wire::Endpoint>(closed, std::move(options_of_endpoint));
  std::unique_ptr<MessageGateway> gateway;
  std::unique_ptr<MetricsService> figures;
  std::unique_ptr<OutboxService> outbox;
  std::shared_ptr<SharedKeys> keys;  // of all servers on one database
  if (!settings.outbox.off) {
    Settings shared = settings;
    if (settings.outbox.ledger == LedgerKind::mysql && settings.outbox.mysql.several_servers) {
      TRY(keys, open_shared_keys(settings.outbox, *clock));
      shared.idempotency = with_shared_keys(settings.idempotency, keys);
    }
    TRY(gateway, MessageGateway::create(store, settings.messages, shared.idempotency,
                                        net::Address{settings.outbox.http_host, 0}.is_loopback(), memory, *clock));
    if (!settings.metrics.off) {
      TRY(figures, MetricsService::create(store, *gateway, settings, *clock));
    }
    TRY(outbox, OutboxService::create(store, *gateway, shared, memory, *clock, is_watched ? watched.log() : nullptr,
                                      planner, figures ? &figures->metrics() : nullptr, opened->keys(),
                                      audit ? audit->access() : AuditAccess(), backups.get(), key_ring));
  }
  std::atomic<const Servers*> listening = nullptr;  // requests come before start() has returned
  Monitor monitor(metrics_readers(settings, *known, *clock));
  auto callers = std::make_unique<CallerUpdates>(settings, *endpoint, monitor, outbox.get(), key_ring, *clock);
  monitor.add_source([&](std::string& text) { endpoint->statistics().append_to(text); });
  monitor.add_source([&](std::string& text) { endpoint->long_calls().append_to(text); });
  monitor.add_source([&](std::string& text) { opened->append_metrics(text, planner->prices()); });
  monitor.add_check([&] { return opened->problem(); });
  monitor.add_source([&](std::string& text) {
    if (const Servers* servers = listening) append_server_metrics(text, servers->counts());
  });
  if (outbox) monitor.add_source([&](std::string& text) { outbox->append_metrics(text); });
  if (gateway) monitor.add_source([&](std::string& text) { gateway->append_metrics(text); });
  if (figures) monitor.add_source([&](std::string& text) { figures->append_metrics(text); });
  if (audit) monitor.add_source([&](std::string& text) { audit->log().append_metrics(text); });
  if (key_ring != nullptr) monitor.add_source([&](std::string& text) { key_ring->append_metrics(text); });
  if (outbox) monitor.add_check([&] { return outbox->problem(); });
  if (backups) monitor.add_source([&](std::string& text) { backups->append_metrics(text); });
  if (outbox || backups)
    monitor.set_troubles([&] {
      std::vector<std::string> found = opened->troubles();
      if (outbox) std::ranges::move(outbox->troubles(), std::back_inserter(found));
      if (backups) std::ranges::move(backups->troubles(), std::back_inserter(found));
      if (figures) std::ranges::move(figures->troubles(), std::back_inserter(found));
      if (const auto trouble = audit ? audit->log().problem() : std::nullopt) found.push_back(*trouble);
      if (const auto trouble = key_ring != nullptr ? key_ring->problem() : std::nullopt) found.push_back(*trouble);
      return found;
    });
  monitor.add_source([&](std::string& text) {
    base::append_memory_metrics(
        text,
        {{"answers", memory.answers.get()}, {"messages", memory.messages.get()}, {"reading", memory.reading.get()}});
  });
  monitor.add_source([&](std::string& text) { clock->append_metrics(text); });
  monitor.add_source(append_process_metrics);
  Servers servers(settings, memory, monitor, *endpoint, outbox.get());
  const auto started = servers.start();
  progress.is_open = servers.has_clients();
  if (!started) return base::propagate(started.error());
  progress.is_open = true;
  const net::Address address = servers.dynamodb();
  endpoint->set_address(address.text());
  listening = &servers;
  if (outbox) outbox->start();
  if (figures) figures->start();
  if (backups) backups->start();
  if (key_ring != nullptr) key_ring->start();
  monitor.set_ready(true);
  if (outbox) announce_outbox(out, settings, *outbox, servers.rest());
  if (gateway) out << "Messages: " << gateway->describe() << "\n";
  if (outbox) announce_reminders(out, settings.reminders);
  if (outbox) announce_tickets(out, settings.tickets);
  if (figures) out << "Metrics: counted in table " << settings.metrics.table << " (see them with: postino metrics)\n";
  announce(out, settings, *known, address, *opened);
  if (outbox && settings.outbox.sample) {
    TRY_VOID(outbox->show_sample(out));
    TRY_VOID(gateway->show_sample(out));
    out << std::flush;
  }
  // What is announced above is for a terminal; this is for those who read the log later.
  if (outbox)
    base::log_info("serve", "ready",
                   {{"http", servers.rest().text()},
                    {"dynamodb", address.text()},
                    {"data", opened->describe()},
                    {"ledger", outbox->describe_storage()},
                    {"mail", outbox->describe_transport()}});
  else
    base::log_info("serve", "ready", {{"dynamodb", address.text()}, {"data", opened->describe()}});
  net::notify_service_manager("READY=1");
  give_back_program_pages();

  wait_and_reload(signals, {servers, outbox.get(), gateway.get(), *callers, audit.get()}, settings, read_settings);
  signals.release();
  monitor.set_ready(false);
  net::notify_service_manager("STOPPING=1");
  base::log_info("serve", "ending");
  if (backups) backups->begin_stop();
  if (gateway) gateway->service().stop();  // so that those who wait for messages get an answer
  {
    const ShutdownPlan plan(std::chrono::steady_clock::now(), settings.shutdown_grace);
    const base::Alarm brokers(plan.break_off_brokers_at, [&] {
      if (gateway) gateway->break_off();
    });
    // Requests may take their time: meanwhile workers begin nothing that they could not finish.
    if (outbox) outbox->begin_stop(plan.leave_at, plan.give_up_at);
    if (keys) keys->give_up_at(plan.give_up_at);
    opened->leave_at(plan.give_up_at);
    const base::Alarm shared_keys(plan.give_up_at, [&] {
      if (keys) keys->break_off();
    });
    servers.stop(plan.leave_at);
    monitor.stop();
    if (outbox) outbox->stop(plan.give_up_at);
    if (figures) figures->stop();
    if (key_ring != nullptr) key_ring->stop();
  }
  if (backups) backups->stop();
  endpoint->stop();
  if (exchange) exchange->stop();
  if (audit) audit->log().stop();
  listening = nullptr;
  callers.reset();
  outbox.reset();
  figures.reset();
  gateway.reset();
  stored_keys.reset();
  audit.reset();
  opened.reset();  // answers what it has taken
  endpoint.reset();
  base::log_info("serve", "ended");
  return {};
}

}  // namespace

base::Result<void> serve(const Settings& settings, const ReadSettings& read_settings, std::ostream& out) {
  std::signal(SIGPIPE, SIG_IGN);  // the reader of our output may go away
  const StartTraces traces(settings.data,
                           settings.outbox.off || bucket_of_spool(settings.outbox) ? "" : settings.outbox.spool);
  StartProgress progress;
  auto ended = start_and_serve(settings, read_settings, out, progress);
  // An operator who mends the settings begins as if nothing had happened.
  if (!ended && !progress.is_open) {
    remove_empty_objects(settings);
    if (progress.is_store_new) traces.remove_new_store();
    traces.remove_new_spool();
  }
  return ended;
}

}  // namespace postino::app
