#include "app/settings/remote_settings.h"

#include "app/settings/setting_values.h"

namespace postino::app {

namespace {

using Remote = RemoteSettings;

constexpr Choices<StoreKind, 2> store_kinds = {
    {{{"embedded", StoreKind::embedded}, {"dynamodb", StoreKind::dynamodb}}}};

base::Result<void> take_store_kind(Settings& settings, const std::string& text) {
  const auto kind = store_kinds.parse(text);
  if (!kind && (text == "mysql" || text == "mariadb"))
    return base::invalid(kind.error().message + ": for e-mails in a database give --ledger mysql");
  TRY(settings.store, kind);
  return {};
}

template <auto member>
base::Result<void> take_server_url(Settings& settings, const std::string& text) {
  if (!text.empty()) {
    TRY(const net::Url url, net::Url::parse(text));
    if (url.target != "/") return base::invalid("must be the URL of a server, without a path");
  }
  field(settings, member) = text;
  return {};
}

base::Result<void> take_store_region(Settings& settings, const std::string& text) {
  if (!text.empty() && !is_region(text)) return base::invalid("must be the name of a region, such as eu-west-1");
  settings.remote.region = text;
  return {};
}

// "https://dynamodb.eu-west-1.amazonaws.com"
std::string url_in_region(const std::string& service, const std::string& region) {
  return "https://" + service + "." + region + (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

}  // namespace

std::vector<Setting> remote_settings() {
  using enum SettingKind;
  return {
      {"store.kind", "--store", "POSTINO_STORE", "WHERE",
       "where the data is: embedded (in the data directory of this server) or dynamodb (Amazon DynamoDB, or what "
       "speaks "
       "its protocol, which several servers can share)",
       text, take_store_kind, [](const Settings& all) { return store_kinds.show(all.store); }},
      {"store.region", "--store-region", "POSTINO_STORE_REGION", "NAME",
       "region of the DynamoDB that the data is in, such as eu-west-1", text, take_store_region,
       show_text<&Remote::region>},
      {"store.endpoint", "--store-endpoint", "POSTINO_STORE_ENDPOINT", "URL",
       "URL of the DynamoDB that the data is in; if not set, that of the region", text,
       take_server_url<&Remote::endpoint>, show_text<&Remote::endpoint>},
      {"store.streams_endpoint", "--store-streams-endpoint", "POSTINO_STORE_STREAMS_ENDPOINT", "URL",
       "URL of its change streams; if not set, --store-endpoint, or that of the region", text,
       take_server_url<&Remote::streams_endpoint>, show_text<&Remote::streams_endpoint>},
      {"store.key_id", "--store-key-id", "POSTINO_STORE_KEY_ID", "ID",
       "access key for it; if not set, keys are found as AWS's own programs find them: environment, profiles, roles",
       text, take_text<&Remote::key_id>, show_text<&Remote::key_id>},
      {"store.secret", "--store-secret", "POSTINO_STORE_SECRET", "SECRET",
       "secret of the access key; better given in the environment", text, take_text<&Remote::secret>,
       show_secret<&Remote::secret>},
      {"store.profile", "--store-profile", "POSTINO_STORE_PROFILE", "NAME",
       "profile of AWS's files whose access keys are used", text, take_text<&Remote::profile>,
       show_text<&Remote::profile>},
      {"store.ca", "--store-ca", "POSTINO_STORE_CA", "FILE",
       "certificate authorities (PEM) to trust instead of the system's", text, take_text<&Remote::ca>,
       show_text<&Remote::ca>},
      {"store.timeout", "--store-timeout", "POSTINO_STORE_TIMEOUT", "TIME",
       "longest time for a call of it, with all attempts, 1s to 1m", text, take_duration<&Remote::timeout>,
       show_duration_of<&Remote::timeout>},
  };
}

base::Result<RemoteEndpoints> endpoints_of(const RemoteSettings& settings) {
  const std::string data = settings.endpoint.empty() ? url_in_region("dynamodb", settings.region) : settings.endpoint;
  std::string streams = settings.streams_endpoint;
  if (streams.empty())
    streams = settings.endpoint.empty() ? url_in_region("streams.dynamodb", settings.region) : settings.endpoint;
  RemoteEndpoints endpoints;
  TRY(endpoints.data, net::Url::parse(data));
  TRY(endpoints.streams, net::Url::parse(streams));
  return endpoints;
}

base::Result<void> check(const RemoteSettings& settings) {
  SettingErrors errors;
  if (settings.endpoint.empty() && settings.region.empty())
    errors.add("--store dynamodb needs --store-region or --store-endpoint");
  if (settings.key_id.empty() != settings.secret.empty())
    errors.add("--store-key-id and --store-secret (in the environment: POSTINO_STORE_SECRET) must be given together");
  if (!settings.key_id.empty() && !settings.profile.empty())
    errors.add("--store-key-id and --store-profile must not be given together");
  if (settings.timeout < std::chrono::seconds(1) || settings.timeout > std::chrono::minutes(1))
    errors.add("--store-timeout must be from 1s to 1m");
  return errors.result();
}

}  // namespace postino::app
