#include "outbox/work/caller.h"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace postino::outbox {

base::Result<std::unique_ptr<Caller>> Caller::create(const Course& course, const base::Clock& clock,
                                                     WebhookSigner signer, CallerOptions options) {
  std::unique_ptr<Caller> caller(new Caller(course, clock, std::move(signer), std::move(options)));
  net::HttpClientOptions client;
  client.tls.certificate_file = caller->options_.certificate_file;
  client.max_response_bytes = 64 << 10;  // nobody reads it
  client.allow_private_addresses = caller->options_.allow_private_addresses;
  TRY(caller->guarded_, net::HttpClient::create(client));
  client.allow_private_addresses = true;
  TRY(caller->trusting_, net::HttpClient::create(client));
  return caller;
}

std::optional<base::Milliseconds> parse_retry_after(std::string_view text, base::TimePoint now) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= 0)
    return std::chrono::seconds(std::min<std::int64_t>(seconds, 1'000'000));
  std::tm date{};
  const std::string copy(text);
  const char* rest = strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  const base::TimePoint then = base::from_epoch_milliseconds(std::int64_t{timegm(&date)} * 1'000);
  return std::max(then - now, base::Milliseconds(0));
}

Move Caller::work(const Email& email) const {
  const std::string& where = course_.callback_url(email);
  auto url = net::Url::parse(where);
  if (!url)
    return course_.callback_failed(email, "the callback URL " + url.error().message, std::nullopt, true, clock_.now());
  net::HttpRequest request;
  request.method = "POST";
  request.url = std::move(*url);
  request.body = webhook_body(email);
  request.headers = signer_.headers(webhook_id(email), clock_.now(), request.body);
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("User-Agent", "postino");
  const bool configured = where == course_.rules().default_callback_url;
  const auto response =
      (configured ? trusting_ : guarded_)->send(request, std::chrono::steady_clock::now() + options_.timeout);
  const base::TimePoint now = clock_.now();
  if (!response)
    return course_.callback_failed(email, response.error().message, std::nullopt,
                                   response.error().code == base::ErrorCode::invalid, now);
  if (response->status >= 200 && response->status < 300) return course_.called_back(email, now);
  return course_.callback_failed(email, "HTTP " + std::to_string(response->status),
                                 parse_retry_after(response->header("Retry-After"), now), response->status == 410, now);
}

}  // namespace postino::outbox
