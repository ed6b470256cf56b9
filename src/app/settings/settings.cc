#include "app/settings/settings.h"

#include <algorithm>

#include "app/console/suggestion.h"
#include "app/settings/setting_values.h"
#include "net/address.h"
#include "objects/object_store.h"

namespace postino::app {

namespace {

base::Result<void> take_data(Settings& settings, const std::string& text) {
  if (text.empty()) return base::invalid("must name a directory");
  settings.data = text;
  return {};
}

base::Result<void> take_region(Settings& settings, const std::string& text) {
  if (!is_region(text)) return base::invalid("must be the name of a region, such as eu-west-1");
  settings.region = text;
  return {};
}

base::Result<void> take_account(Settings& settings, const std::string& text) {
  constexpr std::size_t digits = 12;
  if (text.size() != digits || !std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; }))
    return base::invalid("must have 12 digits");
  settings.account = text;
  return {};
}

base::Result<void> take_address(Settings& settings, const std::string& text) {
  TRY(net::Address address, net::Address::parse(text));
  settings.dynamodb_host = std::move(address.host);
  settings.dynamodb_port = address.port;
  return {};
}

base::Result<void> take_access_key(Settings& settings, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string::npos || colon + 1 == text.size())
    return base::invalid("must be ID:SECRET");  // what was given is a secret and is not repeated
  if (text.substr(colon + 1) == "...") return base::invalid("must have the secret itself, not ... in its place");
  settings.access_keys.push_back({text.substr(0, colon), text.substr(colon + 1)});
  return {};
}

// A duration, as other settings have it; or a number of seconds, as earlier versions wanted it.
base::Result<void> take_shutdown_grace(Settings& settings, const std::string& text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const auto grace = parse_duration(is_number ? text + "s" : text);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(grace.value_or(base::Milliseconds(0)));
  if (!grace || *grace != seconds || seconds > std::chrono::hours(1))
    return base::invalid("must be a duration of whole seconds, up to 1h, such as 10s");
  settings.shutdown_grace = seconds;
  return {};
}

base::Result<void> take_export_bucket(Settings& settings, const std::string& text) {
  TRY_VOID(objects::check_bucket_name(text));
  settings.export_buckets.push_back(text);
  return {};
}

std::string show_export_buckets(const Settings& settings) {
  std::string list;
  for (const std::string& bucket : settings.export_buckets)
    list.append(list.empty() ? "" : ", ").append(quoted(bucket));
  return "[" + list + "]";
}

base::Result<void> take_deletion_delay(Settings& settings, const std::string& text) {
  const auto delay = parse_duration(text);
  if (!delay || *delay > std::chrono::days(365)) return base::invalid("must be a duration up to 365d, such as 7d");
  settings.deletion_delay = *delay;
  return {};
}

base::Result<void> take_durability(Settings& settings, const std::string& text) {
  if (text != "synced" && text != "relaxed") return base::invalid("must be synced or relaxed");
  settings.durability = text == "synced" ? engine::Durability::synced : engine::Durability::relaxed;
  return {};
}

base::Result<void> take_log_level(Settings& settings, const std::string& text) {
  if (text == "info")
    settings.log_level = base::LogLevel::info;
  else if (text == "warning")
    settings.log_level = base::LogLevel::warning;
  else if (text == "error")
    settings.log_level = base::LogLevel::error;
  else
    return base::invalid("must be info, warning or error");
  return {};
}

base::Result<void> take_log_format(Settings& settings, const std::string& text) {
  if (text != "text" && text != "json") return base::invalid("must be text or json");
  settings.log_format = text == "text" ? base::LogFormat::text : base::LogFormat::json;
  return {};
}

base::Result<void> take_faults(Settings& settings, const std::string& text) {
  TRY(settings.faults, wire::FaultInjection::parse(text));
  return {};
}

std::string show_access_keys(const Settings& settings) {
  std::string list = "[";
  for (const wire::AccessKey& key : settings.access_keys) {
    if (list.size() > 1) list += ", ";
    list += quoted(key.id + ":" + std::string(secret_mark));
  }
  return list + "]";
}

std::string show_log_level(const Settings& settings) {
  if (settings.log_level == base::LogLevel::info) return quoted("info");
  return quoted(settings.log_level == base::LogLevel::warning ? "warning" : "error");
}

std::vector<Setting> store_settings() {
  return {
      {"data", "--data", "POSTINO_DATA", "DIRECTORY", "directory of the data; serve creates it", SettingKind::text,
       take_data, show_text<&Settings::data>},
      {"region", "--region", "POSTINO_REGION", "NAME", "region shown in ARNs", SettingKind::text, take_region,
       show_text<&Settings::region>},
      {"account", "--account", "POSTINO_ACCOUNT", "DIGITS", "account shown in ARNs, 12 digits", SettingKind::text,
       take_account, show_text<&Settings::account>},
      {"shutdown_grace", "--shutdown-grace", "POSTINO_SHUTDOWN_GRACE", "DURATION",
       "how long the end takes at most; after three quarters of it, requests and mail servers are left",
       SettingKind::text, take_shutdown_grace, show_duration_of<&Settings::shutdown_grace>},
      {"server.threads", "--threads", "POSTINO_THREADS", "COUNT",
       "I/O threads of each server (DynamoDB API and REST API); 0: one per core", SettingKind::text,
       take_integer<&Settings::threads, 0, 1'024>, show_number<&Settings::threads>, nullptr, "dynamodb.threads"},
      {"server.max_connections", "--max-connections", "POSTINO_MAX_CONNECTIONS", "COUNT",
       "connections to each server (DynamoDB API and REST API) at a time", SettingKind::text,
       take_integer<&Settings::max_connections, 1, 1'000'000>, show_number<&Settings::max_connections>, nullptr,
       "dynamodb.max_connections"},
      {"dynamodb.address", "--dynamodb", "POSTINO_DYNAMODB", "HOST:PORT",
       "address of DynamoDB's API; port 0 takes any free port", SettingKind::text, take_address,
       [](const Settings& all) {
         return quoted(net::Address{all.dynamodb_host, all.dynamodb_port}.text());
       }},
      {"dynamodb.access_keys", "--access-key", "POSTINO_ACCESS_KEYS", "ID:SECRET",
       "access key that requests must be signed with: make up an ID and a SECRET, and give both to the AWS client "
       "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY). Repeat the flag, or separate keys by commas in the environment. "
       "Without any, every well-formed key is accepted, on loopback addresses only; and none if there is an --api-key",
       SettingKind::list, take_access_key, show_access_keys, [](Settings& all) { all.access_keys.clear(); }},
      {"dynamodb.tls_certificate", "--tls-certificate", "POSTINO_TLS_CERTIFICATE", "FILE",
       "certificate chain (PEM) of DynamoDB's API; turns TLS on", SettingKind::text,
       take_text<&Settings::tls_certificate>, show_text<&Settings::tls_certificate>},
      {"dynamodb.tls_key", "--tls-key", "POSTINO_TLS_KEY", "FILE", "private key of the certificate (PEM)",
       SettingKind::text, take_text<&Settings::tls_key>, show_text<&Settings::tls_key>},
      {"dynamodb.realistic_timing", "--realistic-timing", "POSTINO_REALISTIC_TIMING", "",
       "tables and indexes take about as long to change as on AWS", SettingKind::flag,
       take_boolean<&Settings::realistic_timing>, show_boolean<&Settings::realistic_timing>},
      {"dynamodb.enforce_throughput", "--enforce-throughput", "POSTINO_ENFORCE_THROUGHPUT", "",
       "throttle requests beyond a table's provisioned throughput", SettingKind::flag,
       take_boolean<&Settings::enforce_throughput>, show_boolean<&Settings::enforce_throughput>},
      {"dynamodb.inject", "--inject", "POSTINO_INJECT", "FAULTS",
       "inject faults, to test clients: throttle=0.01,error=0.001,latency=20ms", SettingKind::text, take_faults,
       [](const Settings& all) { return quoted(all.faults.text()); }},
      {"store.durability", "--durability", "POSTINO_DURABILITY", "MODE",
       "synced: a write is answered when it is on disk; relaxed: the last writes can be lost if the machine fails",
       SettingKind::text, take_durability,
       [](const Settings& all) { return quoted(all.durability == engine::Durability::synced ? "synced" : "relaxed"); }},
      {"store.cache_mb", "--cache-mb", "POSTINO_CACHE_MB", "COUNT",
       "megabytes of memory for data read from disk or written last", SettingKind::text,
       take_integer<&Settings::cache_megabytes, 1, 1'048'576>, show_number<&Settings::cache_megabytes>},
      {"store.reserve_mb", "--reserve-mb", "POSTINO_RESERVE_MB", "COUNT",
       "megabytes that must be free on the disk of the data, at least: a large store needs more", SettingKind::text,
       take_integer<&Settings::reserve_megabytes, 1, 1'000'000'000>, show_number<&Settings::reserve_megabytes>},
      {"store.deletion_delay", "--deletion-delay", "POSTINO_DELETION_DELAY", "DURATION",
       "how long tables and backups that were deleted can be restored, up to 365d", SettingKind::text,
       take_deletion_delay, show_duration_of<&Settings::deletion_delay>},
      {"store.export_directory", "--export-directory", "POSTINO_EXPORT_DIRECTORY", "DIRECTORY",
       "directory for exports and imports of tables: each directory in it is a bucket", SettingKind::text,
       take_text<&Settings::export_directory>, show_text<&Settings::export_directory>},
      {"store.export_buckets", "--export-bucket", "POSTINO_EXPORT_BUCKETS", "NAME",
       "bucket of the object store --objects-endpoint that tables may be exported to and imported from. Repeat the "
       "flag, or separate buckets by commas in the environment",
       SettingKind::list, take_export_bucket, show_export_buckets, [](Settings& all) { all.export_buckets.clear(); }},
      {"log.level", "--log-level", "POSTINO_LOG_LEVEL", "LEVEL", "info, warning or error", SettingKind::text,
       take_log_level, show_log_level},
      {"log.format", "--log-format", "POSTINO_LOG_FORMAT", "FORMAT", "text or json", SettingKind::text, take_log_format,
       [](const Settings& all) { return quoted(all.log_format == base::LogFormat::text ? "text" : "json"); }},
      {"log.file", "--log-file", "POSTINO_LOG_FILE", "FILE",
       "file that the log is appended to; if not set, standard error. SIGHUP reopens it", SettingKind::text,
       take_text<&Settings::log_file>, show_text<&Settings::log_file>},
      {"log.requests", "--log-requests", "POSTINO_LOG_REQUESTS", "", "log every request, without its contents",
       SettingKind::flag, take_boolean<&Settings::log_requests>, show_boolean<&Settings::log_requests>},
  };
}

// What a server keeps on its own disk, the others cannot read.
base::Result<void> check_shared_store(const Settings& settings) {
  SettingErrors errors;
  errors.add(check(settings.remote));
  const bool has_objects = !settings.objects.bucket.empty() || !settings.objects.directory.empty();
  if (!settings.outbox.off && !settings.tickets.off && !has_objects)
    errors.add(
        "--store dynamodb needs a place for attachments that all servers share: --objects-bucket, or --objects with a "
        "shared directory; or give --no-tickets");
  return errors.result();
}

}  // namespace

void SettingErrors::add(const base::Error& error) {
  if (all_)
    all_->message += "\n" + error.message;
  else
    all_ = error;
}

base::Result<void> SettingErrors::result() const {
  if (all_) return tl::unexpected<base::Error>(*all_);
  return {};
}

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> settings = [] {
    std::vector<Setting> all = store_settings();
    // They are in the section [server], which must be in one piece.
    const std::vector<Setting> access = access_settings();
    all.insert(std::ranges::find(all, "server.threads", &Setting::key) + 1, access.begin(), access.end());
    // The same of [dynamodb],
    const std::vector<Setting> policies = policy_settings();
    all.insert(std::ranges::find(all, "dynamodb.access_keys", &Setting::key) + 1, policies.begin(), policies.end());
    // and of [store].
    const std::vector<Setting> remote = remote_settings();
    all.insert(std::ranges::find(all, "store.durability", &Setting::key), remote.begin(), remote.end());
    for (Setting& setting : outbox_settings()) all.push_back(std::move(setting));
    for (Setting& setting : reminder_settings()) all.push_back(std::move(setting));
    for (Setting& setting : ticket_settings()) all.push_back(std::move(setting));
    for (Setting& setting : capacity_settings()) all.push_back(std::move(setting));
    for (Setting& setting : metrics_settings()) all.push_back(std::move(setting));
    for (Setting& setting : audit_settings()) all.push_back(std::move(setting));
    for (Setting& setting : backup_settings()) all.push_back(std::move(setting));
    for (Setting& setting : key_settings()) all.push_back(std::move(setting));
    for (Setting& setting : messages_settings()) all.push_back(std::move(setting));
    return all;
  }();
  return settings;
}

base::Result<void> apply(Settings& settings, const Setting& setting, const std::vector<std::string>& values,
                         const std::string& origin) {
  if (setting.clear != nullptr) setting.clear(settings);
  SettingErrors errors;
  for (const std::string& value : values) {
    const auto taken = value.find(secret_mark) == std::string::npos ? setting.take(settings, value) : mark_refused();
    if (!taken) errors.add(origin + ": " + taken.error().message);
  }
  return errors.result();
}

base::Result<void> apply_environment(Settings& settings,
                                     const std::function<const char*(const std::string& name)>& variable) {
  SettingErrors errors;
  for (const Setting& setting : all_settings()) {
    const std::string name(setting.variable);
    const char* text = variable(name);
    if (text == nullptr) continue;
    std::vector<std::string> values = {text};
    if (setting.kind == SettingKind::list) {
      values.clear();
      std::string_view rest = text;
      while (!rest.empty()) {
        values.emplace_back(rest.substr(0, rest.find(setting.separator)));
        rest.remove_prefix(std::min(rest.size(), values.back().size() + 1));
      }
    }
    errors.add(apply(settings, setting, values, name));
  }
  return errors.result();
}

std::vector<std::string> misspelt_variables(const std::vector<std::string>& names) {
  constexpr std::string_view begin = "POSTINO_";
  std::vector<std::string> known = {"URL", "API_KEY", "CA", "CONFIG"};  // of the command line
  for (const Setting& setting : all_settings())
    if (setting.variable.starts_with(begin)) known.emplace_back(setting.variable.substr(begin.size()));
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (!name.starts_with(begin)) continue;
    const std::string own = name.substr(begin.size());
    const std::string meant = std::ranges::find(known, own) == known.end() ? closest(own, known) : "";
    if (!meant.empty()) found.push_back(name + " is no setting; did you mean " + std::string(begin) + meant + "?");
  }
  return found;
}

base::Result<void> check(const Settings& settings) {
  const net::Address address{settings.dynamodb_host, settings.dynamodb_port};
  SettingErrors errors;
  if (!address.is_loopback() && settings.access_keys.empty() && !keeps_keys(settings))
    errors.add("--dynamodb " + address.text() +
               " can be reached from other machines, so requests must be signed: give an --access-key, or "
               "listen on 127.0.0.1");
  if (settings.tls_certificate.empty() != settings.tls_key.empty())
    errors.add("--tls-certificate and --tls-key must be given together");
  if (settings.access.metrics_require_key && settings.outbox.api_keys.empty())
    errors.add("--metrics-require-key needs an --api-key, which /metrics can then be read with");
  if (settings.store == StoreKind::dynamodb) errors.add(check_shared_store(settings));
  errors.add(check_policies(settings));
  errors.add(check(settings.outbox));
  const net::Address rest{settings.outbox.http_host, settings.outbox.http_port};
  if (!settings.outbox.off && !rest.is_loopback() && !settings.outbox.has_callers() && !keeps_keys(settings))
    errors.add("--http " + rest.text() +
               " can be reached from other machines, so callers need an API key: give an --api-key or a --user, or "
               "listen on 127.0.0.1");
  errors.add(check(settings.idempotency));
  errors.add(check(settings.messages));
  errors.add(check(settings.reminders));
  errors.add(check(settings.capacity));
  errors.add(check(settings.tickets));
  errors.add(check(settings.objects));
  const bool finds_keys = settings.store == StoreKind::dynamodb;
  if (!settings.objects.bucket.empty()) errors.add(check_bucket(settings.objects, "--objects-bucket", finds_keys));
  if (!settings.export_buckets.empty()) errors.add(check_bucket(settings.objects, "--export-bucket", finds_keys));
  if (!settings.export_buckets.empty() && !settings.export_directory.empty())
    errors.add("--export-directory and --export-bucket must not be given together");
  if (bucket_of_spool(settings.outbox))
    errors.add(check_bucket(settings.objects, "--spool " + settings.outbox.spool, finds_keys));
  if (!settings.outbox.off) errors.add(check_metrics(settings));
  if (!settings.outbox.off) errors.add(check_audit(settings));
  errors.add(check_backups(settings));
  errors.add(check_keys(settings));
  for (const auto& [flag, table] :
       {std::pair("--outbox-table", settings.outbox.table), std::pair("--messages-table", settings.idempotency.table),
        std::pair("--queues-table", settings.messages.queues),
        std::pair("--tickets-table", settings.tickets.off ? "" : settings.tickets.table)}) {
    if (table == settings.reminders.table && !settings.reminders.off)
      errors.add("--reminders-table and " + std::string(flag) + " must differ");
    if (table == settings.tickets.table && !settings.tickets.off && flag != std::string_view("--tickets-table"))
      errors.add("--tickets-table and " + std::string(flag) + " must differ");
  }
  return errors.result();
}

std::string show(const Settings& settings) {
  std::string text;
  std::string_view section;
  for (const Setting& setting : all_settings()) {
    if (setting.show == nullptr) continue;
    const std::size_t dot = setting.key.find('.');
    const std::string_view own = dot == std::string_view::npos ? std::string_view() : setting.key.substr(0, dot);
    if (own != section) text.append("\n[").append(own).append("]\n");
    section = own;
    text.append(dot == std::string_view::npos ? setting.key : setting.key.substr(dot + 1));
    text.append(" = ").append(setting.show(settings)).append("\n");
  }
  return text + show(settings.messages.connections, "connections.");  // in the last section, [messages]
}

}  // namespace postino::app
