// Settings that would be ignored beside the others. The operator who gave them believes that they do something, so the
// server does not start with them.
#include <algorithm>

#include "app/settings/settings.h"
#include "net/address.h"
#include "smtp/client.h"

namespace postino::app {

namespace {

struct EffectRule {
  std::vector<std::string_view> keys;  // what the keys of settings begin with: "mysql."
  bool (*ignored)(const Settings& settings);
  std::string_view because;  // what it is beside: "with --no-outbox"
};

bool all_callers_need_keys(const Settings& settings) {
  return settings.outbox.has_callers() || (settings.outbox.off && !settings.access_keys.empty());
}

bool verifies_mail_servers(const OutboxSettings& outbox) {
  smtp::Options options;
  options.tls = outbox.smtp_tls;
  options.user = outbox.smtp_user;
  options.password_to_anyone = outbox.smtp_password_to_anyone;
  const smtp::TlsPolicy policy = smtp::followed_policy(options);
  return policy == smtp::TlsPolicy::required || policy == smtp::TlsPolicy::implicit;
}

const std::vector<EffectRule>& effect_rules() {
  static const std::vector<EffectRule> rules = {
      // But not http.api_keys and http.users: where there are any, DynamoDB's API and the metrics ask for keys too.
      {{"http.address", "http.tls_", "http.require_", "outbox.", "mysql.", "smtp.", "dkim.", "callback.", "mqprobe.",
        "messages.", "reminders.", "tickets.", "objects.", "capacity.", "metrics.", "keys."},
       [](const Settings& all) { return all.outbox.off; },
       "with --no-outbox"},
      {{"store.region", "store.endpoint", "store.streams_endpoint", "store.key_id", "store.secret", "store.profile",
        "store.ca", "store.timeout"},
       [](const Settings& all) { return all.store == StoreKind::embedded; },
       "without --store dynamodb"},
      {{"store.durability", "store.cache_mb", "store.reserve_mb", "store.deletion_delay", "store.export_directory",
        "store.export_buckets", "dynamodb.realistic_timing", "dynamodb.enforce_throughput"},
       [](const Settings& all) { return all.store == StoreKind::dynamodb; },
       "with --store dynamodb: it is about the embedded store"},
      {{"reminders.table", "reminders.shards", "reminders.rules", "reminders.other_person", "reminders.currency",
        "reminders.from"},
       [](const Settings& all) { return all.reminders.off; },
       "with --no-reminders"},
      {{"tickets.table", "tickets.data", "tickets.shards", "tickets.from", "tickets.reply_to", "tickets.acknowledge",
        "tickets.engineers", "tickets.no_adoption", "tickets.attachment_mb", "objects.directory", "objects.bucket",
        "messages.answers."},
       [](const Settings& all) { return all.tickets.off; },
       "with --no-tickets"},
      {{"objects.endpoint", "objects.region", "objects.key_id", "objects.secret", "objects.ca", "objects.timeout"},
       [](const Settings& all) {
         return all.tickets.off && !bucket_of_spool(all.outbox) && !bucket_of_backups(all.backups) &&
                all.export_buckets.empty();
       },
       "with --no-tickets, and without a --spool or --backup-to in a bucket or an --export-bucket"},
      {{"objects.endpoint", "objects.region", "objects.key_id", "objects.secret", "objects.ca", "objects.timeout"},
       [](const Settings& all) {
         return !all.tickets.off && all.objects.bucket.empty() && !bucket_of_spool(all.outbox) &&
                !bucket_of_backups(all.backups) && all.export_buckets.empty();
       },
       "without --objects-bucket or --export-bucket, and without a --spool or --backup-to in a bucket"},
      {{"tickets.reply_to"}, [](const Settings& all) { return all.tickets.from.empty(); }, "without --tickets-from"},
      {{"metrics.table", "metrics.with_emails", "metrics.batch", "metrics.window", "metrics.retries",
        "metrics.subscribers"},
       [](const Settings& all) { return all.metrics.off; },
       "with --no-metrics"},
      {{"audit.table", "audit.keep"}, [](const Settings& all) { return all.audit.off; }, "with --no-audit"},
      {{"backup.every", "backup.keep", "backup.key"},
       [](const Settings& all) { return all.backups.place.empty(); },
       "without --backup-to"},
      {{"keys.table", "keys.sealing_key", "keys.tenant_quotas"},
       [](const Settings& all) { return all.keys.off; },
       "with --no-stored-keys"},
      {{"keys.table", "keys.tenant_quotas"},
       [](const Settings& all) { return !keeps_keys(all); },
       "with --store dynamodb and without --sealing-key: then no key is in the store"},
      {{"mysql."},
       [](const Settings& all) { return all.outbox.ledger != LedgerKind::mysql; },
       "without --ledger mysql"},
      {{"outbox.table", "outbox.shards", "outbox.no_status_index"},
       [](const Settings& all) { return all.outbox.ledger == LedgerKind::mysql; },
       "with --ledger mysql: the tables there have fixed names, in the database that --mysql-database names"},
      {{"mysql.host", "mysql.port", "mysql.tls", "mysql.ca", "mysql.certificate", "mysql.key"},
       [](const Settings& all) { return !all.outbox.mysql.server.socket.empty(); },
       "with --mysql-socket"},
      {{"mysql.ca"},
       [](const Settings& all) { return all.outbox.mysql.server.tls.mode != mysql::TlsMode::verified; },
       "without --mysql-tls verified"},
      {{"mysql.certificate", "mysql.key"},
       [](const Settings& all) { return all.outbox.mysql.server.tls.mode == mysql::TlsMode::off; },
       "with --mysql-tls off"},
      {{"smtp.tls", "smtp.ca", "smtp.user", "smtp.password", "smtp.hello", "smtp.timeout"},
       [](const Settings& all) { return all.outbox.relays.empty(); },
       "without --smtp: mail goes to the sandbox"},
      {{"smtp.ca"},
       [](const Settings& all) { return all.outbox.smtp_tls == smtp::TlsPolicy::off; },
       "with --smtp-tls off"},
      {{"smtp.ca"},
       [](const Settings& all) { return !verifies_mail_servers(all.outbox); },
       "with --smtp-tls opportunistic, which does not verify certificates unless there is an --smtp-password to "
       "protect: "
       "give --smtp-tls required"},
      {{"smtp.password_to_anyone"},
       [](const Settings& all) { return all.outbox.smtp_password.empty(); },
       "without --smtp-password"},
      {{"server.allowed_hosts"},
       [](const Settings& all) { return all.outbox.has_callers(); },
       "with --api-key or --user: with keys, every name of this server is allowed"},
      {{"server.allowed_hosts"},
       all_callers_need_keys,
       "with --access-key and --no-outbox: with keys, every name of this server is allowed"},
  };
  return rules;
}

bool is_default(const Setting& setting, const Settings& settings) {
  static const Settings defaults;
  return setting.show == nullptr || setting.show(settings) == setting.show(defaults);
}

// Whole words of the key: "store.ca" is not the beginning of "store.cache_mb".
bool begins(std::string_view key, std::string_view with) {
  if (!key.starts_with(with)) return false;
  return key.size() == with.size() || with.ends_with('.') || with.ends_with('_') || key[with.size()] == '_';
}

bool concerns(const EffectRule& rule, const Setting& setting) {
  return setting.key != "outbox.off" &&
         std::ranges::any_of(rule.keys, [&](std::string_view key) { return begins(setting.key, key); });
}

// A proxy on this machine counts where callers need no keys; one on another machine where it can connect to.
void add_ignored_proxies(std::vector<std::string>& found, const Settings& settings) {
  const net::Address dynamodb{settings.dynamodb_host, settings.dynamodb_port};
  const net::Address rest{settings.outbox.http_host, settings.outbox.http_port};
  const bool on_loopback = dynamodb.is_loopback() && (settings.outbox.off || rest.is_loopback());
  for (const std::string& proxy : settings.access.origin_policy.proxies) {
    const bool here = net::Address{proxy, 0}.is_loopback();
    const std::string setting = "--trusted-proxy " + proxy + " has no effect ";
    // Of the REST API it says where those who sign in are.
    if (here && all_callers_need_keys(settings) && settings.outbox.off)
      found.push_back(setting + "with --access-key: requests with keys are accepted from every proxy");
    if (!here && on_loopback)
      found.push_back(setting + "with --dynamodb " + dynamodb.text() +
                      (settings.outbox.off ? "" : " and --http " + rest.text()) +
                      ", which only this machine can reach");
  }
}

void add_ignored_grants(std::vector<std::string>& found, const Settings& settings) {
  for (const messages::QueueGrant& grant : settings.messages.tenant_queues) {
    const auto is_of_tenant = [&](const auto& each) { return each.caller.tenant == grant.tenant; };
    if (std::ranges::none_of(settings.outbox.api_keys, is_of_tenant) &&
        std::ranges::none_of(settings.outbox.users, is_of_tenant))
      found.push_back("--tenant-queue " + grant.tenant +
                      "=... has no effect without an --api-key or a --user of the tenant " + grant.tenant);
  }
}

}  // namespace

std::vector<std::string> settings_without_effect(const Settings& settings) {
  std::vector<std::string> found;
  for (const Setting& setting : all_settings()) {
    if (is_default(setting, settings)) continue;
    const auto rule = std::ranges::find_if(
        effect_rules(), [&](const EffectRule& each) { return concerns(each, setting) && each.ignored(settings); });
    if (rule != effect_rules().end())
      found.push_back(std::string(setting.flag) + " has no effect " + std::string(rule->because));
  }
  add_ignored_proxies(found, settings);
  if (settings.outbox.off) {
    if (!settings.messages.connections.empty()) found.emplace_back("--connection has no effect with --no-outbox");
    return found;
  }
  add_ignored_grants(found, settings);
  for (std::string& each : settings_without_effect(settings.messages.connections)) found.push_back(std::move(each));
  return found;
}

}  // namespace postino::app
