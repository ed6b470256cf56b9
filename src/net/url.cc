#include "net/url.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "net/address.h"

namespace postino::net {

namespace {

constexpr std::size_t max_host_bytes = 253;

bool is_visible(char letter) { return letter > 0x20 && letter < 0x7F; }
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_name_letter(char letter) {
  const char lower = base::lower(letter);
  return (lower >= 'a' && lower <= 'z') || is_digit(letter) || letter == '-' || letter == '_' || letter == '.';
}

// 2130706433, 0x7f.1 and 127.1 are no names: some resolvers take them for IPv4 addresses.
bool ends_in_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return std::ranges::all_of(last, is_digit) || last.starts_with("0x");
}

bool is_name(std::string_view host) {
  return host.size() <= max_host_bytes && std::ranges::all_of(host, is_name_letter) && !host.starts_with('.') &&
         host.find("..") == host.npos && !ends_in_number(host);
}

base::Result<void> take_scheme(std::string_view& text, Url& url) {
  for (const bool secure : {false, true}) {
    const std::string_view scheme = secure ? "https://" : "http://";
    if (!base::equal_ignoring_case(text.substr(0, scheme.size()), scheme)) continue;
    text.remove_prefix(scheme.size());
    url.secure = secure;
    url.port = secure ? 443 : 80;
    return {};
  }
  return base::invalid("must begin with http:// or https://");
}

base::Result<void> parse_host(std::string_view text, Url& url) {
  if (text.empty()) return base::invalid("must have a host");
  const bool bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
  url.host = base::lower_case(bracketed ? text.substr(1, text.size() - 2) : text);
  if (bracketed ? is_ipv6(url.host) : is_ipv4(url.host) || is_name(url.host)) return {};
  return base::invalid("must have a host that is a name or an IP address (IPv6 in brackets)");
}

base::Result<void> parse_port(std::string_view text, Url& url) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), url.port);
  if (error != std::errc() || end != text.data() + text.size() || url.port == 0 || text.size() > 5)
    return base::invalid("must have a port from 1 to 65535, or none");
  return {};
}

base::Result<void> parse_authority(std::string_view text, Url& url) {
  if (text.find('@') != text.npos) return base::invalid("must not have a user or password");
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.find(':', bracket == text.npos ? 0 : bracket);
  TRY_VOID(parse_host(text.substr(0, colon), url));
  return colon == text.npos ? base::Result<void>() : parse_port(text.substr(colon + 1), url);
}

}  // namespace

base::Result<Url> Url::parse(std::string_view text) {
  if (text.size() > Url::most_bytes)
    return base::invalid("must not have more than " + std::to_string(most_bytes) + " bytes");
  if (!std::ranges::all_of(text, is_visible))
    return base::invalid("must not have spaces, control characters or characters beyond ASCII");
  Url url;
  TRY_VOID(take_scheme(text, url));
  text = text.substr(0, text.find('#'));
  const std::size_t authority_end = std::min(text.find_first_of("/?"), text.size());
  TRY_VOID(parse_authority(text.substr(0, authority_end), url));
  text.remove_prefix(authority_end);
  url.target = text.starts_with('/') ? "" : "/";
  url.target += text;
  return url;
}

std::string Url::authority() const {
  const std::string shown = host.find(':') == host.npos ? host : "[" + host + "]";
  return port == (secure ? 443 : 80) ? shown : shown + ":" + std::to_string(port);
}

std::string without_credentials(std::string_view url) {
  const std::size_t scheme_end = url.find("//");
  const std::size_t begin = scheme_end == url.npos ? 0 : scheme_end + 2;
  const std::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const std::size_t at = authority.rfind('@');
  if (at == authority.npos) return std::string(url);
  return std::string(url.substr(0, begin)).append(url.substr(begin + at + 1));
}

std::string Url::text() const { return (secure ? "https://" : "http://") + authority() + target; }

}  // namespace postino::net
