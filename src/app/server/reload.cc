#include "app/server/reload.h"

#include <algorithm>

namespace postino::app {

namespace {

void take_keys_and_log(Settings& settings, const Settings& fresh) {
  settings.access_keys = fresh.access_keys;
  settings.access.policies = fresh.access.policies;
  settings.outbox.api_keys = fresh.outbox.api_keys;
  settings.outbox.users = fresh.outbox.users;
  settings.log_level = fresh.log_level;
  settings.log_file = fresh.log_file;
}

// A server that listens cannot begin or end to speak TLS, nor an outbox to sign: files are taken in place of files.
void take_files(Settings& settings, const Settings& fresh) {
  if (!settings.tls_certificate.empty() && !fresh.tls_certificate.empty()) {
    settings.tls_certificate = fresh.tls_certificate;
    settings.tls_key = fresh.tls_key;
  }
  OutboxSettings& outbox = settings.outbox;
  if (!outbox.http_tls_certificate.empty() && !fresh.outbox.http_tls_certificate.empty()) {
    outbox.http_tls_certificate = fresh.outbox.http_tls_certificate;
    outbox.http_tls_key = fresh.outbox.http_tls_key;
  }
  if (!outbox.dkim_key.empty() && !fresh.outbox.dkim_key.empty()) {
    outbox.dkim_domain = fresh.outbox.dkim_domain;
    outbox.dkim_selector = fresh.outbox.dkim_selector;
    outbox.dkim_key = fresh.outbox.dkim_key;
  }
}

// How this process shows itself to a broker, and how it knows the broker.
void take_identity(NamedConnection& connection, const NamedConnection& fresh) {
  connection.amqp.user = fresh.amqp.user;
  connection.amqp.password = fresh.amqp.password;
  connection.password_file = fresh.password_file;
  connection.password_variable = fresh.password_variable;
  connection.amqp.tls.authorities_file = fresh.amqp.tls.authorities_file;
  connection.amqp.tls.certificate_file = fresh.amqp.tls.certificate_file;
  connection.amqp.tls.key_file = fresh.amqp.tls.key_file;
}

// Of connections that are otherwise the same. What is read from a file or a variable is read again in any case.
void take_connections(NamedConnections& connections, const NamedConnections& fresh) {
  for (auto& [name, connection] : connections) {
    const auto found = fresh.find(name);
    if (found == fresh.end()) continue;
    NamedConnection taken = connection;
    take_identity(taken, found->second);
    if (show({{name, taken}}, "") == show({{name, found->second}}, "")) connection = std::move(taken);
  }
}

bool differs(const Setting& setting, const Settings& a, const Settings& b) {
  const std::string_view key = setting.key;
  if (key == "http.api_keys" || key == "http.users" || key == "dynamodb.access_keys") return false;  // they were taken
  if (key == "dynamodb.policies" || key == "dynamodb.principals") return false;
  if (key == "smtp.password") return a.outbox.smtp_password != b.outbox.smtp_password;
  if (key == "mysql.password") return a.outbox.mysql.server.password != b.outbox.mysql.server.password;
  if (key == "callback.secret") return a.outbox.callback_secret != b.outbox.callback_secret;
  if (key == "objects.secret") return a.objects.secret != b.objects.secret;
  if (key == "store.secret") return a.remote.secret != b.remote.secret;
  if (setting.show == nullptr) return show(a.messages.connections, "") != show(b.messages.connections, "");
  return setting.show(a) != setting.show(b);
}

// A settings file that is empty, because another program was writing it, must not open an API to everybody.
base::Result<void> check_keys_stay(const Settings& running, const Settings& next) {
  if (next.outbox.has_callers()) return {};
  if (running.outbox.has_callers())
    return base::fail(base::ErrorCode::invalid,
                      "the settings have no API key and no user any more, which needs a restart: without one, the REST"
                      " API and DynamoDB's API are open to every program of this machine");
  if (!running.access_keys.empty() && next.access_keys.empty())
    return base::fail(base::ErrorCode::invalid,
                      "the settings have no access key any more, which needs a restart: without one, DynamoDB's API is"
                      " open to every program of this machine");
  return {};
}

// Nor may it give a key all rights.
base::Result<void> check_policies_stay(const Settings& running, const Settings& next) {
  const auto has_policies = [](const Settings& settings, const std::string& id) {
    const auto& policies = settings.access.policies.policies;
    return std::ranges::find(policies, id, &PolicySettings::KeyPolicy::key_id) != policies.end();
  };
  for (const wire::AccessKey& key : next.access_keys)
    if (has_policies(running, key.id) && !has_policies(next, key.id))
      return base::fail(base::ErrorCode::invalid, "the settings have no policy of the access key " + key.id +
                                                      " any more, which needs a restart: without one, it may do"
                                                      " everything");
  return {};
}

}  // namespace

base::Result<Reload> plan_reload(const Settings& running, const Settings& fresh) {
  Reload reload{running, {}};
  take_keys_and_log(reload.settings, fresh);
  take_files(reload.settings, fresh);
  take_connections(reload.settings.messages.connections, fresh.messages.connections);
  TRY_VOID(check(reload.settings));
  TRY_VOID(check_keys_stay(running, reload.settings));
  TRY_VOID(check_policies_stay(running, reload.settings));
  for (const Setting& setting : all_settings())
    if (differs(setting, reload.settings, fresh)) reload.flags.emplace_back(setting.flag);
  return reload;
}

}  // namespace postino::app
