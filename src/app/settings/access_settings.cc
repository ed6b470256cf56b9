#include "app/settings/access_settings.h"

#include "app/settings/setting_values.h"
#include "net/address.h"

namespace postino::app {

namespace {

using OriginPolicy = http::OriginPolicyOptions;

base::Result<void> take_own_host(Settings& settings, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool named = colon == std::string::npos ? is_host(text) : parse_host_and_port(text).has_value();
  if (!named) return base::invalid("must be a host name or HOST:PORT");
  settings.access.origin_policy.hosts.push_back(text);
  return {};
}

// As browsers send it: without a path, and not "*" or "null", which would be anybody.
base::Result<void> take_origin(Settings& settings, const std::string& text) {
  constexpr const char* rule = "must be an origin such as https://app.example or http://localhost:3000";
  std::string_view rest = text;
  if (rest.starts_with("https://"))
    rest.remove_prefix(8);
  else if (rest.starts_with("http://"))
    rest.remove_prefix(7);
  else
    return base::invalid(rule);
  const std::string host(rest);
  const bool has_port = !host.ends_with(']') && host.find(':') != std::string::npos;
  if (!(has_port || host.starts_with('[') ? parse_host_and_port(has_port ? host : host + ":80").has_value()
                                          : is_host(host)))
    return base::invalid(rule);
  settings.access.origin_policy.origins.push_back(text);
  return {};
}

base::Result<void> take_proxy(Settings& settings, const std::string& text) {
  if (!net::is_ip_address(text)) return base::invalid("must be an IP address");
  settings.access.origin_policy.proxies.push_back(net::usual_form(text));
  return {};
}

template <auto member>
std::string show_list(const Settings& settings) {
  std::string list = "[";
  for (const std::string& each : field(settings, member)) {
    if (list.size() > 1) list += ", ";
    list += quoted(each);
  }
  return list + "]";
}

template <auto member>
void clear_list(Settings& settings) {
  field(settings, member).clear();
}

}  // namespace

std::vector<Setting> access_settings() {
  using enum SettingKind;
  return {
      {"server.allowed_hosts", "--allowed-host", "POSTINO_ALLOWED_HOSTS", "HOST[:PORT]",
       "name of this server that is allowed in the header Host if there are no keys, besides loopback addresses and "
       "localhost. "
       "Repeat the flag, or separate names by commas in the environment",
       list, take_own_host, show_list<&OriginPolicy::hosts>, clear_list<&OriginPolicy::hosts>},
      {"server.allowed_origins", "--allowed-origin", "POSTINO_ALLOWED_ORIGINS", "ORIGIN",
       "origin whose web pages may call both APIs, such as http://localhost:3000; without keys, they may do "
       "everything. "
       "Repeat the flag, or separate origins by commas in the environment",
       list, take_origin, show_list<&OriginPolicy::origins>, clear_list<&OriginPolicy::origins>},
      {"server.trusted_proxies", "--trusted-proxy", "POSTINO_TRUSTED_PROXIES", "ADDRESS",
       "IP address of a proxy whose requests are accepted if there are no keys; the proxy must refuse all callers who "
       "have no access. Repeat the flag, or separate addresses by commas in the environment",
       list, take_proxy, show_list<&OriginPolicy::proxies>, clear_list<&OriginPolicy::proxies>},
      {"server.metrics_require_key", "--metrics-require-key", "POSTINO_METRICS_REQUIRE_KEY", "",
       "require an API key that belongs to no tenant for /metrics", flag,
       take_boolean<&AccessSettings::metrics_require_key>, show_boolean<&AccessSettings::metrics_require_key>},
  };
}

}  // namespace postino::app
