#include "app/client/rest_client.h"

#include <algorithm>

#include "api/protocol/problem.h"
#include "api/protocol/schemas.h"
#include "app/client/answer.h"
#include "app/console/terminal_text.h"
#include "base/this_thread.h"

namespace postino::app {

namespace {

constexpr std::chrono::seconds request_timeout{60};
constexpr std::size_t max_response_bytes = 256
                                           << 20;  // a page of e-mails with many recipients; a message with all in it
constexpr base::Milliseconds first_pause{250};     // before the second attempt; it doubles with each
constexpr base::Milliseconds longest_pause{2'000};
constexpr std::chrono::seconds longest_silence{60};  // of an answer that goes on: four times the server's pulse
constexpr std::chrono::seconds patience{10};
constexpr std::chrono::seconds patience_with_key{90};  // a server that crashed holds a key until the lease is over

// Only these leave the secret as it is on its way in a header.
bool is_secret(std::string_view text) {
  return std::ranges::all_of(text, [](char character) { return character > ' ' && character < 0x7F; });
}

bool is_in_progress(const http::ClientResponse& response) {
  if (response.status != 409) return false;
  const auto problem = Answer::parse(api::schema_named("Problem"), response.body);
  return problem && problem->root().raw_text("code") == api::problems::idempotency_key_in_progress.code;
}

// How long the same request is worth repeating after this.
std::chrono::seconds patience_after(const base::Result<http::ClientResponse>& response) {
  if (!response) return response.error().code == base::ErrorCode::io ? patience : std::chrono::seconds(0);
  if (is_in_progress(*response)) return patience_with_key;
  return response->status == 503 ? patience : std::chrono::seconds(0);
}

}  // namespace

std::string unreachable_text(const std::string& url, const base::Error& problem) {
  const std::string reason = problem.rule == base::Rule::listening
                                 ? "connection refused. Is it running? Start it with: postino serve"
                                 : printable(problem.message);
  return "cannot reach " + printable(url) + ": " + reason;
}

RestClient::RestClient(std::unique_ptr<http::Client> client, net::Url base, std::string key)
    : client_(std::move(client)), base_(std::move(base)), key_(std::move(key)) {
  while (base_.target.ends_with('/')) base_.target.pop_back();
  name_ = base_.text();
}

base::Result<RestClient> RestClient::create(const ClientOptions& options) {
  auto base = net::Url::parse(options.url);
  if (!base) return base::invalid("--url " + printable(options.url) + ": " + base.error().message);
  if (base->target.find('?') != std::string::npos)
    return base::invalid("--url " + printable(options.url) + ": must not have a query");
  if (!is_secret(options.key)) return base::invalid("--key: must be printable ASCII without spaces");
  http::ClientOptions client_options;
  client_options.allow_private_addresses = true;  // it is the user who says where
  client_options.tls.certificate_file = options.certificate_file;
  client_options.max_response_bytes = max_response_bytes;
  auto client = http::Client::create(std::move(client_options));
  if (!client) return base::invalid("--ca " + printable(options.certificate_file) + ": " + client.error().message);
  return RestClient(*std::move(client), *std::move(base), options.key);
}

http::ClientRequest RestClient::request(const OperationCall& call) const {
  http::ClientRequest request;
  request.method = call.operation().method;
  request.url = base_;
  request.url.target += call.target();
  request.headers = call.headers();
  request.headers.emplace_back("Accept", "application/json, message/rfc822");
  if (!key_.empty()) request.headers.emplace_back("Authorization", "Bearer " + key_);
  request.body = call.body_text();
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", call.content_type());
  return request;
}

base::Result<http::ClientResponse> RestClient::exchange(const http::ClientRequest& request, std::chrono::seconds wait) {
  auto response = client_->send(request, std::chrono::steady_clock::now() + wait);
  if (response) return *std::move(response);
  if (response.error().code != base::ErrorCode::io) return base::propagate(std::move(response).error());
  response.error().message = unreachable_text(name_, response.error());
  return base::propagate(std::move(response).error());
}

base::Result<http::ClientResponse> RestClient::send(const OperationCall& call) {
  return exchange(request(call), request_timeout);
}

base::Result<http::ClientResponse> RestClient::send_with_key(OperationCall call, const std::string& key,
                                                             std::chrono::seconds wait_for_answer) {
  const http::ClientRequest request = this->request(call.set("Idempotency-Key", key));
  const auto start = std::chrono::steady_clock::now();
  for (base::Milliseconds wait = first_pause;; wait = std::min(2 * wait, longest_pause)) {
    auto response = exchange(request, wait_for_answer);
    const bool first = wait == first_pause;
    if (first && !response && response.error().rule == base::Rule::listening)
      return base::fail(base::ErrorCode::not_found, std::move(response).error().message);
    if (std::chrono::steady_clock::now() - start >= patience_after(response)) return response;
    base::Pause().wait(wait);
  }
}

base::Result<std::string> RestClient::fetch(const OperationCall& call) {
  TRY(http::ClientResponse response, send(call));
  if (response.status >= 200 && response.status < 300) return std::move(response.body);
  return base::propagate(describe(response));
}

base::Result<http::ClientResponse> RestClient::page(std::string_view path) {
  http::ClientRequest request;
  request.method = "GET";
  request.url = base_;
  request.url.target += path;
  return exchange(request, request_timeout);
}

base::Result<void> RestClient::follow(const OperationCall& call,
                                      const std::function<bool(std::string_view part)>& take) {
  http::ClientRequest request = this->request(call);
  request.headers.emplace_back("Accept", "text/event-stream");
  bool is_enough = false;
  auto response = client_->follow(request, longest_silence, [&](std::string_view part) {
    is_enough = !take(part);
    return !is_enough;
  });
  if (!response) {
    if (response.error().code == base::ErrorCode::io)
      response.error().message = unreachable_text(name_, response.error());
    return base::propagate(std::move(response).error());
  }
  if (response->status < 200 || response->status >= 300) return base::propagate(describe(*response));
  if (is_enough) return {};
  return base::fail(base::ErrorCode::io, "the server has ended the answer");
}

}  // namespace postino::app
