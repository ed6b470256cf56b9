#include "metrics/sinks/webhook_sink.h"

#include "json/string.h"
#include "metrics/sinks/change_json.h"

namespace postino::metrics {

base::Result<std::unique_ptr<WebhookSink>> WebhookSink::create(std::string table, const base::Clock& clock,
                                                               WebhookSinkOptions options) {
  std::unique_ptr<WebhookSink> sink(new WebhookSink(std::move(table), clock, std::move(options)));
  auto url = net::Url::parse(sink->options_.url);
  if (!url) return base::invalid("url " + url.error().message);
  sink->url_ = *std::move(url);
  http::ClientOptions client = sink->options_.client;
  client.max_response_bytes = 64 << 10;  // it is not read
  TRY(sink->client_, http::Client::create(client));
  return sink;
}

Outcome<void> WebhookSink::post(const std::string& id, const std::string& body, const store::SequenceNumber& first) {
  http::ClientRequest request;
  request.method = "POST";
  request.url = url_;
  request.body = body;
  if (options_.sign) request.headers = options_.sign(id, clock().now(), body);
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("User-Agent", "postino");
  const auto response = client_->send(request, std::chrono::steady_clock::now() + options_.timeout);
  if (!response) return trouble(Trouble::temporary, response.error().message);
  const int status = response->status;
  const std::string answer = "the receiver answered HTTP " + std::to_string(status);
  if (status == 500) {
    errors_ = failing_ == first ? errors_ + 1 : 1;
    failing_ = first;
    return trouble(errors_ >= options_.most_errors ? Trouble::record : Trouble::temporary, answer);
  }
  if (status == 400 || status == 413 || status == 422) return trouble(Trouble::record, answer);
  if (status < 200 || status >= 300) return trouble(Trouble::temporary, answer);
  return {};
}

Outcome<void> WebhookSink::deliver(std::span<const store::StreamRecord> records, Checkpoint&) {
  while (!records.empty()) {
    std::string body = R"({"table":)";
    json::append_string(body, table());
    body += R"(,"changes":[)";
    std::size_t count = 0;
    for (; count < records.size() && (count == 0 || body.size() < options_.body_bytes); ++count) {
      if (count > 0) body += ',';
      append_change(body, table(), records[count]);
    }
    body += "]}";
    const store::SequenceNumber first = records.front().sequence_number;
    const std::string id = table() + "-" + store::name_of(records.front()) + "-" + std::to_string(count);
    TRY_VOID(post(id, body, first));
    records = records.subspan(count);
  }
  return {};
}

}  // namespace postino::metrics
