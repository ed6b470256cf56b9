// Who may call a server that asks for no keys, and which web pages may call any. Without keys the machine is the limit:
// programs on it may call, and no others by way of them, neither a web page in a browser nor a proxy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace postino::http {

struct OriginPolicyOptions {
  std::vector<std::string> hosts;    // of this server, besides localhost and loopback addresses: "mail.example[:8080]"
  std::vector<std::string> origins;  // of web pages that may call: "https://app.example"
  std::vector<std::string> proxies;  // IP addresses of proxies that let only those through who may call
};

enum class OriginPolicyRule { loopback, host, origin, forwarded };

struct OriginPolicyRefusal {
  OriginPolicyRule rule;
  std::string message;
};

// Safe to use from any thread.
class OriginPolicy {
 public:
  OriginPolicy() = default;
  explicit OriginPolicy(OriginPolicyOptions options) : options_(std::move(options)) {}

  // For a server without keys: nullopt when the caller is on this machine and calls for itself.
  std::optional<OriginPolicyRefusal> check(const Request& request) const;

  // Where the caller is: behind a proxy that was named, the last address of X-Forwarded-For.
  std::string address_of(const Request& request) const;

  // What a browser asks before it lets a page of another origin call, and the answer to it.
  static bool is_preflight(const Request& request);
  Response answer_preflight(const Request& request) const;
  // Lets the page that asked read the response, if its origin is one that was named: the body, and the headers that are
  // exposed.
  void add_origin(const Request& request, Response& response, std::string_view exposed = "*") const;

 private:
  bool is_named_origin(std::string_view origin) const;
  bool is_named_host(std::string_view host) const;
  bool is_trusted_proxy(std::string_view address) const;

  OriginPolicyOptions options_;
};

}  // namespace postino::http
