#include "broker/managed_broker.h"

#include "base/base64.h"
#include "base/text.h"
#include "json/fields.h"
#include "net/address.h"

namespace postino::broker {

namespace {

bool is_letter_or_digit(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
}

// That this name alone fits.
std::string pattern_of(const std::string& name) {
  std::string pattern = "^";
  for (const char letter : name) {
    const bool is_ascii = static_cast<unsigned char>(letter) < 0x80;
    if (is_ascii && !is_letter_or_digit(letter)) pattern += '\\';
    pattern += letter;
  }
  return pattern + "$";
}

bool is_this_machine(const std::string& host) {
  const auto address = net::Address::parse((net::is_ipv6(host) ? "[" + host + "]" : host) + ":1");
  return address && address->is_loopback();
}

Result<Depth> read_depth(std::string_view body) {
  using Need = json::Fields::Need;
  constexpr std::int64_t most = std::int64_t{1} << 62;
  json::FieldErrors errors;
  json::Document document;
  if (document.parse(body, errors)) {
    json::Fields page(document.root(), "", errors);
    const auto items = page.list("items", Need::required, 100);
    if (items && items->empty()) return refuse(FailureKind::no_such_queue, "there is no such queue");
    if (items) {
      json::Fields queue(items->front(), "", errors);
      const auto ready = queue.integer("messages_ready", Need::required, 0, most);
      if (ready) return Depth{static_cast<std::uint64_t>(*ready)};
    }
  }
  return refuse(FailureKind::unsupported, "its management API does not report how many messages a queue has");
}

}  // namespace

Result<std::unique_ptr<Broker>> ManagedBroker::create(std::unique_ptr<Broker> broker,
                                                      const ManagementSettings& settings) {
  auto url = net::Url::parse(settings.url);
  if (!url) return refuse(FailureKind::invalid, "the URL of the management API " + url.error().message);
  if (!url->secure && !settings.password.empty() && !settings.allow_password_in_clear && !is_this_machine(url->host))
    return refuse(FailureKind::invalid, "the URL of the management API must begin with https, because of the password");
  http::ClientOptions options;
  options.allow_private_addresses = true;  // it is the configuration that says where
  options.tls.certificate_file = settings.authorities_file;
  auto client = http::Client::create(std::move(options));
  if (!client) return refuse(FailureKind::invalid, client.error().message);
  return std::unique_ptr<Broker>(new ManagedBroker(std::move(broker), *std::move(client), *std::move(url), settings));
}

ManagedBroker::ManagedBroker(std::unique_ptr<Broker> broker, std::unique_ptr<http::Client> client, net::Url url,
                             const ManagementSettings& settings)
    : broker_(std::move(broker)),
      client_(std::move(client)),
      url_([&] {
        while (url.target.ends_with('/')) url.target.pop_back();
        url.target += "/api/queues/" + base::encode_percent(settings.virtual_host);
        return std::move(url);
      }()),
      authorization_("Basic " + base::to_base64(settings.user + ":" + settings.password)),
      timeout_(settings.timeout),
      health_("broker", "the management API", url_.authority()) {}

tl::unexpected<Failure> ManagedBroker::out_of_use(Failure failure) {
  health_.fails(failure.endpoints.empty() ? failure.message : failure.endpoints.front().reason,
                std::chrono::steady_clock::now());
  failure.is_told = true;
  return tl::unexpected<Failure>(std::move(failure));
}

// The page of one queue lags behind by seconds. The list hardly does, if it is asked for nothing else.
Result<Depth> ManagedBroker::depth(const std::string& queue) {
  http::ClientRequest request;
  request.url = url_;
  request.url.target += "?disable_stats=true&enable_queue_totals=true&page=1&page_size=1&use_regex=true&name=" +
                        base::encode_percent(pattern_of(queue));
  request.headers.emplace_back("Authorization", authorization_);
  const auto response = client_->send(request, std::chrono::steady_clock::now() + timeout_);
  if (!response)
    return out_of_use({FailureKind::unreachable,
                       "its management API cannot be reached",
                       {{url_.authority(), response.error().message}}});
  if (response->status != 200)
    return out_of_use({FailureKind::refused, "its management API answered " + std::to_string(response->status), {}});
  health_.works();
  return read_depth(response->body);
}

}  // namespace postino::broker
