#include "app/settings/messages_settings.h"

#include "app/settings/setting_values.h"
#include "messages/connections.h"
#include "messages/iso_duration.h"

namespace postino::app {

namespace {

using Keys = idempotency::GuardOptions;
using Messages = MessagesSettings;

constexpr base::Milliseconds least_record_life = std::chrono::minutes(1);
constexpr base::Milliseconds least_lease = std::chrono::seconds(1);

// As other settings have durations or, as the property of this name has always been written, as ISO 8601 does.
base::Result<void> take_record_life(Settings& settings, const std::string& text) {
  const auto life = text.starts_with('P') ? messages::parse_duration(text) : parse_duration(text);
  if (!life) return base::invalid("must be a duration such as 24h, 7d or PT24H");
  settings.idempotency.life = *life;
  return {};
}

base::Result<void> take_connection(Settings& settings, const std::string& text) {
  return add_url(settings.messages.connections, text);
}

base::Result<void> take_allowed_host(Settings& settings, const std::string& text) {
  if (text.empty() || text.size() > 260 || text.find_first_of(" \t\r\n/@") != std::string::npos)
    return base::invalid("must be a host, HOST:PORT, *.DOMAIN or *");
  settings.messages.allowed_hosts.push_back(text);
  return {};
}

std::string show_allowed_hosts(const Settings& settings) {
  std::string list = "[";
  for (const std::string& host : settings.messages.allowed_hosts) {
    if (list.size() > 1) list += ", ";
    list += quoted(host);
  }
  return list + "]";
}

// The connection's name ends at the first colon.
base::Result<void> take_tenant_queue(Settings& settings, const std::string& text) {
  const std::size_t equals = text.find('=');
  messages::QueueGrant grant;
  grant.tenant = text.substr(0, equals);
  grant.queue = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (const std::size_t colon = grant.queue.find(':'); colon != std::string::npos) {
    grant.connection = grant.queue.substr(0, colon);
    grant.queue.erase(0, colon + 1);
  }
  if (grant.tenant.empty() || grant.queue.empty() || grant.queue.size() > 255)
    return base::invalid("must be TENANT=QUEUE or TENANT=CONNECTION:QUEUE");
  settings.messages.tenant_queues.push_back(std::move(grant));
  return {};
}

std::string show_tenant_queues(const Settings& settings) {
  std::string list = "[";
  for (const messages::QueueGrant& grant : settings.messages.tenant_queues) {
    if (list.size() > 1) list += ", ";
    list += quoted(grant.tenant + "=" + (grant.connection.empty() ? "" : grant.connection + ":") + grant.queue);
  }
  return list + "]";
}

template <auto member>
base::Result<void> take_queue(Settings& settings, const std::string& text) {
  if (text.size() > 255) return base::invalid("must not be longer than 255 bytes");
  field(settings, member) = text;
  return {};
}

std::vector<Setting> record_settings() {
  using enum SettingKind;
  return {
      {"mqprobe.idempotency.record-ttl", "--record-ttl", "MQPROBE_IDEMPOTENCY_RECORD_TTL", "DURATION",
       "how long an idempotency key and its response are kept, except those of POST /emails", text, take_record_life,
       show_duration_of<&Keys::life>},
      {"messages.table", "--messages-table", "POSTINO_MESSAGES_TABLE", "NAME", "table of idempotency keys", text,
       take_table<&Keys::table>, show_text<&Keys::table>},
      {"messages.lease", "--messages-lease", "POSTINO_MESSAGES_LEASE", "DURATION",
       "how long a call keeps its idempotency key without renewing its lease", text, take_duration<&Keys::lease>,
       show_duration_of<&Keys::lease>},
      {"messages.queues", "--queues-table", "POSTINO_QUEUES_TABLE", "NAME", "table of the queues in the store", text,
       take_table<&Messages::queues>, show_text<&Messages::queues>},
      {"messages.queue_lease", "--queue-lease", "POSTINO_QUEUE_LEASE", "DURATION",
       "how long a message of a queue in the store stays with a receiver that does not settle it", text,
       take_duration<&Messages::queue_lease>, show_duration_of<&Messages::queue_lease>},
  };
}

std::vector<Setting> broker_settings() {
  using enum SettingKind;
  return {
      {"messages.connection", "--default-connection", "POSTINO_DEFAULT_CONNECTION", "NAME",
       "connection for requests that name none", text, take_text<&Messages::default_connection>,
       show_text<&Messages::default_connection>},
      {"messages.allowed_hosts", "--broker-host", "POSTINO_BROKER_HOSTS", "HOST[:PORT]",
       "host that the queueManager of a request may name; *.DOMAIN for all hosts of a domain, * for all hosts. Repeat "
       "the flag, or separate hosts by commas in the environment. Without any: this machine if the API is served on a "
       "loopback address, otherwise none",
       list, take_allowed_host, show_allowed_hosts, [](Settings& all) { all.messages.allowed_hosts.clear(); }},
      {"messages.tenant_queues", "--tenant-queue", "POSTINO_TENANT_QUEUES", "TENANT=[CONNECTION:]QUEUE",
       "queue that a tenant may use besides its own queues in the store; QUEUE* means all whose names begin so. Repeat "
       "the flag, or separate queues by commas in the environment",
       list, take_tenant_queue, show_tenant_queues, [](Settings& all) { all.messages.tenant_queues.clear(); }},
      {"messages.emails.connection", "--emails-connection", "POSTINO_EMAILS_CONNECTION", "NAME",
       "connection of --emails-queue; if not set, the default connection", text,
       take_text<&Messages::emails_connection>, show_text<&Messages::emails_connection>},
      {"messages.emails.queue", "--emails-queue", "POSTINO_EMAILS_QUEUE", "NAME",
       "also accept e-mails from this queue, each message once", text, take_queue<&Messages::emails_queue>,
       show_text<&Messages::emails_queue>},
      {"messages.emails.tenant", "--emails-tenant", "POSTINO_EMAILS_TENANT", "NAME",
       "tenant of the e-mails from --emails-queue, and the only one that may put messages into it; if not set, none",
       text, take_text<&Messages::emails_tenant>, show_text<&Messages::emails_tenant>},
      {"messages.answers.connection", "--answers-connection", "POSTINO_ANSWERS_CONNECTION", "NAME",
       "connection of --answers-queue; if not set, the default connection", text,
       take_text<&Messages::answers_connection>, show_text<&Messages::answers_connection>},
      {"messages.answers.queue", "--answers-queue", "POSTINO_ANSWERS_QUEUE", "NAME",
       "add customers' answers from this queue to their tickets, each once", text, take_queue<&Messages::answers_queue>,
       show_text<&Messages::answers_queue>},
      {"messages.answers.tenant", "--answers-tenant", "POSTINO_ANSWERS_TENANT", "NAME",
       "tenant whose tickets the answers from --answers-queue belong to, and the only one that may put messages into "
       "it; "
       "if not set, none",
       text, take_text<&Messages::answers_tenant>, show_text<&Messages::answers_tenant>},
      {"messages.connections", "--connection", "POSTINO_CONNECTIONS", "NAME=URL",
       "message broker, as amqp://USER:PASSWORD@HOST:PORT or amqps://...; repeat the flag with the same name for more "
       "endpoints. The configuration file has more settings for it",
       list, take_connection, nullptr, [](Settings& all) { all.messages.connections.clear(); }},
  };
}

bool is_connection(const MessagesSettings& settings, const std::string& name) {
  return name == messages::embedded_connection || settings.connections.contains(name);
}

}  // namespace

std::vector<Setting> messages_settings() {
  std::vector<Setting> all = record_settings();
  for (Setting& setting : broker_settings()) all.push_back(std::move(setting));
  return all;
}

base::Result<void> check(const idempotency::GuardOptions& keys) {
  SettingErrors errors;
  if (keys.life < least_record_life) errors.add("--record-ttl must be at least 1m");
  if (keys.lease < least_lease) errors.add("--messages-lease must be at least 1s");
  return errors.result();
}

base::Result<void> check(const MessagesSettings& settings) {
  SettingErrors errors;
  errors.add(check(settings.connections));
  if (settings.queue_lease < least_lease) errors.add("--queue-lease must be at least 1s");
  if (!is_connection(settings, settings.default_connection))
    errors.add("--default-connection: unknown connection " + settings.default_connection);
  if (!settings.emails_connection.empty() && !is_connection(settings, settings.emails_connection))
    errors.add("--emails-connection: unknown connection " + settings.emails_connection);
  for (const messages::QueueGrant& grant : settings.tenant_queues)
    if (!grant.connection.empty() && !is_connection(settings, grant.connection))
      errors.add("--tenant-queue: unknown connection " + grant.connection);
  if (!settings.answers_connection.empty() && !is_connection(settings, settings.answers_connection))
    errors.add("--answers-connection: unknown connection " + settings.answers_connection);
  if (settings.answers_queue.empty() && (!settings.answers_connection.empty() || !settings.answers_tenant.empty()))
    errors.add("--answers-connection and --answers-tenant require --answers-queue");
  if (!settings.answers_queue.empty() && settings.answers_queue == settings.emails_queue &&
      settings.answers_connection == settings.emails_connection)
    errors.add("--answers-queue and --emails-queue must differ");
  if (settings.emails_queue.empty() && (!settings.emails_connection.empty() || !settings.emails_tenant.empty()))
    errors.add("--emails-connection and --emails-tenant require --emails-queue");
  return errors.result();
}

}  // namespace postino::app
