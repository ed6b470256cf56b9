#include "outbox/work/callback_sender.h"

#include <algorithm>
#include <charconv>
#include <ctime>

#include "base/text.h"

namespace postino::outbox {

base::Result<std::unique_ptr<CallbackSender>> CallbackSender::create(const Policy& policy, const base::Clock& clock,
                                                                     WebhookSigner signer,
                                                                     CallbackSenderOptions options) {
  std::unique_ptr<CallbackSender> sender(new CallbackSender(policy, clock, std::move(signer), std::move(options)));
  http::ClientOptions client;
  client.tls.certificate_file = sender->options_.certificate_file;
  client.max_response_bytes = 64 << 10;  // it is not read
  client.shutdown_deadline = sender->options_.shutdown_deadline;
  client.allow_private_addresses = sender->options_.allow_private_addresses;
  TRY(sender->guarded_, http::Client::create(client));
  client.allow_private_addresses = true;
  TRY(sender->trusting_, http::Client::create(client));
  return sender;
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

DestinationNames callback_host_of(const Email& email, const Policy& policy) {
  const auto url = net::Url::parse(callback_url_of(email, policy));
  if (!url) return {};
  return {base::lower_case(url->host) + ":" + std::to_string(url->port)};
}

Event CallbackSender::work(const Email& email) const {
  const std::string& where = callback_url_of(email, policy_);
  auto url = net::Url::parse(where);
  if (!url) return event::CallbackFailed{"the callback URL " + url.error().message, std::nullopt, true};
  http::ClientRequest request;
  request.method = "POST";
  request.url = std::move(*url);
  request.body = webhook_body(email);
  request.headers = signer_.headers(webhook_id(email), clock_.now(), request.body);
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("User-Agent", "postino");
  const bool configured = where == policy_.default_callback_url;
  const auto response =
      (configured ? trusting_ : guarded_)->send(request, std::chrono::steady_clock::now() + options_.timeout);
  if (!response) {
    const bool permanent = response.error().code == base::ErrorCode::invalid;
    // Broken off because this process ends: the next one calls.
    if (!permanent && options_.shutdown_deadline != nullptr && options_.shutdown_deadline->is_over())
      return event::GivenBack{};
    return event::CallbackFailed{response.error().message, std::nullopt, permanent};
  }
  if (response->status >= 200 && response->status < 300) return event::CallbackAcknowledged{};
  return event::CallbackFailed{"HTTP " + std::to_string(response->status),
                               parse_retry_after(response->header("Retry-After"), clock_.now()),
                               response->status == 410};
}

}  // namespace postino::outbox
