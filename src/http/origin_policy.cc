#include "http/origin_policy.h"

#include <algorithm>

#include "base/text.h"
#include "net/address.h"

namespace postino::http {

namespace {

bool contains_ignoring_case(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::any_of(list, [text](const std::string& each) { return base::equal_ignoring_case(each, text); });
}

bool has_port(std::string_view host) { return !host.ends_with(']') && host.find(':') != std::string_view::npos; }

// A name that leads here may belong to an attacker, who pointed it at this machine to make a browser call. An address
// that is not the machine's own loopback is one that a proxy or a forwarded port was called by.
bool is_own_host(std::string_view host) {
  if (host.empty()) return true;  // HTTP/1.0, which no browser speaks
  std::string text = base::lower_case(host);
  if (!has_port(text)) text += ":80";
  const auto address = net::Address::parse(text);
  return address && address->is_loopback();
}

bool is_own_origin(const Request& request, std::string_view origin) {
  const std::string own = (request.secure ? "https://" : "http://") + std::string(request.header("host"));
  return base::equal_ignoring_case(origin, own);
}

// What proxies add to requests that they pass on.
bool is_forwarded(const Request& request) {
  static constexpr std::string_view family = "x-forwarded-";
  return std::ranges::any_of(request.headers, [](const auto& header) {
    const std::string_view name = header.first;
    if (base::equal_ignoring_case(name.substr(0, family.size()), family)) return true;
    for (const std::string_view known :
         {"forwarded", "x-forwarded", "x_forwarded_for", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip",
          "x-original-forwarded-for", "true-client-ip", "cf-connecting-ip"})
      if (base::equal_ignoring_case(name, known)) return true;
    return false;
  });
}

}  // namespace

std::optional<OriginPolicyRefusal> OriginPolicy::check(const Request& request) const {
  if (!request.from_loopback)
    return OriginPolicyRefusal{OriginPolicyRule::loopback,
                               "No keys are configured: only requests from this machine are allowed."};
  if (is_forwarded(request) && !is_trusted_proxy(request.peer))
    return OriginPolicyRefusal{
        OriginPolicyRule::forwarded,
        "Without keys, requests passed on by a proxy are refused. Configure keys, or trust the proxy "
        "(--trusted-proxy)."};
  const std::string_view host = request.header("host");
  if (!is_own_host(host) && !is_named_host(host))
    return OriginPolicyRefusal{OriginPolicyRule::host,
                               "Without keys, the header Host must be localhost, a loopback address or an allowed host "
                               "(--allowed-host)."};
  // A request may have the header more than once.
  const bool foreign = std::ranges::any_of(request.headers, [&](const auto& header) {
    return base::equal_ignoring_case(header.first, "origin") && !is_own_origin(request, header.second) &&
           !is_named_origin(header.second);
  });
  if (foreign)
    return OriginPolicyRefusal{
        OriginPolicyRule::origin,
        "Without keys, requests from other origins are refused unless they are allowed (--allowed-origin)."};
  return std::nullopt;
}

std::string OriginPolicy::address_of(const Request& request) const {
  std::string peer(request.peer);
  if (!is_trusted_proxy(peer)) return peer;
  std::string_view last = request.header("x-forwarded-for");
  last.remove_prefix(std::min(last.find_last_of(", ") + 1, last.size()));
  const std::string address(last);
  return net::is_ip_address(address) ? net::usual_form(address) : peer;
}

bool OriginPolicy::is_preflight(const Request& request) {
  return request.method == "OPTIONS" && request.has_header("origin") &&
         request.has_header("access-control-request-method");
}

Response OriginPolicy::answer_preflight(const Request& request) const {
  Response response;
  if (!is_named_origin(request.header("origin"))) {
    response.status = 403;
    return response;
  }
  add_origin(request, response);
  response.headers.emplace_back("Access-Control-Allow-Methods", request.header("access-control-request-method"));
  if (const auto headers = request.header("access-control-request-headers"); !headers.empty())
    response.headers.emplace_back("Access-Control-Allow-Headers", headers);
  response.headers.emplace_back("Access-Control-Max-Age", "172800");
  return response;
}

void OriginPolicy::add_origin(const Request& request, Response& response, std::string_view exposed) const {
  if (options_.origins.empty()) return;
  response.headers.emplace_back("Vary", "Origin");  // a cache must not give one page the answer to another
  const std::string_view origin = request.header("origin");
  if (!is_named_origin(origin)) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  response.headers.emplace_back("Access-Control-Expose-Headers", exposed);
}

bool OriginPolicy::is_named_origin(std::string_view origin) const {
  return !origin.empty() && contains_ignoring_case(options_.origins, origin);
}

bool OriginPolicy::is_named_host(std::string_view host) const {
  if (contains_ignoring_case(options_.hosts, host)) return true;
  return has_port(host) && contains_ignoring_case(options_.hosts, host.substr(0, host.rfind(':')));
}

bool OriginPolicy::is_trusted_proxy(std::string_view address) const {
  return contains_ignoring_case(options_.proxies, address);
}

}  // namespace postino::http
