#include "broker/connection/connection_settings.h"

#include <algorithm>

#include "net/address.h"

namespace postino::broker {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_time_limit = std::chrono::hours(1);

bool has_nul(const std::string& text) { return text.find('\0') != text.npos; }

Result<void> check_endpoints(const std::vector<Endpoint>& endpoints) {
  if (endpoints.empty()) return refuse_invalid("there must be at least one endpoint");
  if (endpoints.size() > most_endpoints)
    return refuse_invalid("there must be no more than " + std::to_string(most_endpoints) + " endpoints");
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.host.empty() || endpoint.host.size() > longest_host || has_nul(endpoint.host))
      return refuse_invalid("the host of an endpoint must be a name or an IP address");
    if (endpoint.port == 0) return refuse_invalid("the port of an endpoint must be from 1 to 65535");
  }
  return {};
}

Result<void> check_identity(const ConnectionSettings& settings) {
  for (const std::string* text : {&settings.user, &settings.password, &settings.virtual_host})
    if (has_nul(*text) || text->size() > longest_credential)
      return refuse_invalid("user, password and virtual host must have at most " + std::to_string(longest_credential) +
                            " bytes, and no NUL characters");
  if (settings.mechanism == Mechanism::plain && settings.user.empty())
    return refuse_invalid("the mechanism PLAIN needs a user");
  if (settings.mechanism == Mechanism::external && (!settings.tls.enabled || settings.tls.certificate_file.empty()))
    return refuse_invalid("the mechanism EXTERNAL needs TLS and a certificate");
  if (settings.tls.certificate_file.empty() != settings.tls.key_file.empty())
    return refuse_invalid("a certificate and its key must be given together");
  return {};
}

}  // namespace

std::string Endpoint::text() const {
  return (net::is_ipv6(host) ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string door_of(const std::string& endpoint, bool has_tls) { return endpoint + (has_tls ? "/tls" : ""); }

std::vector<std::string> doors_of(const std::vector<Endpoint>& endpoints, bool has_tls) {
  std::vector<std::string> doors;
  for (const Endpoint& endpoint : endpoints) doors.push_back(door_of(endpoint.text(), has_tls));
  return doors;
}

Result<void> ConnectionSettings::check() const {
  TRY_VOID(check_endpoints(endpoints));
  TRY_VOID(check_identity(*this));
  for (const milliseconds time : {connect_timeout, answer_timeout, idle_timeout})
    if (time < milliseconds(10) || time > longest_time_limit)
      return refuse_invalid("time limits must be from 10 ms to 1 h");
  if (max_message_bytes < 1024 || max_message_bytes > 1 << 30)
    return refuse_invalid("the limit of messages must be from 1 KiB to 1 GiB");
  if (!address_prefix.empty() && address_style != AddressStyle::bare)
    return refuse_invalid("an address prefix requires bare addresses");
  return {};
}

}  // namespace postino::broker
