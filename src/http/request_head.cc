#include "http/request_head.h"

#include <algorithm>

#include "base/text.h"
#include "http/message.h"

namespace postino::http {

namespace {

constexpr std::string_view own_headers[] = {"Connection", "Content-Length",    "Expect", "Host",
                                            "Trailer",    "Transfer-Encoding", "Upgrade"};

bool is_token_letter(char letter) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  const char lower = base::lower(letter);
  return (lower >= 'a' && lower <= 'z') || (letter >= '0' && letter <= '9') || others.find(letter) != others.npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_letter); }

bool is_own(std::string_view name) {
  return std::ranges::any_of(own_headers, [&](std::string_view own) { return base::equal_ignoring_case(own, name); });
}

// A URL may have been put together by hand.
bool is_sound(const net::Url& url) {
  const auto parsed = net::Url::parse(url.text());
  return parsed && base::equal_ignoring_case(parsed->host, url.host) && parsed->port == url.port &&
         parsed->target == url.target;
}

// Servers may wait for the length where these methods have no body.
bool needs_length(const ClientRequest& request) {
  const std::string& method = request.method;
  return !request.body.empty() || method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace

base::Result<void> check_request(const ClientRequest& request) {
  // What follows a response to CONNECT is not HTTP.
  if (!is_token(request.method) || request.method == "CONNECT") return base::invalid("the method is not a valid one");
  if (!is_sound(request.url)) return base::invalid("the URL is not a valid one");
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name)) return base::invalid("a header's name is not a valid one");
    if (is_own(name)) return base::invalid("the header " + name + " cannot be set");
    if (std::ranges::any_of(value, is_control))
      return base::invalid("the header " + name + " must not have line ends or control characters");
  }
  return {};
}

std::string request_head(const ClientRequest& request) {
  std::string head = request.method + " " + request.url.target + " HTTP/1.1\r\n";
  const auto append = [&head](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  append("Host", request.url.authority());
  if (needs_length(request)) append("Content-Length", std::to_string(request.body.size()));
  for (const auto& [name, value] : request.headers) append(name, value);
  return head + "\r\n";
}

}  // namespace postino::http
