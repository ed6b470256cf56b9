// Changes as POST requests to a receiver: {"table":"...","changes":[...]}, signed as callbacks are, one after the
// other.
//
// 2xx: the receiver has them. 400, 413 and 422: it does not want one of them, so that the batch is halved until it is
// known which; that one is set aside. Everything else is the receiver's trouble, and tried again until it is over: the
// order stays, and nothing is left out. A 500 for the same batch again and again is taken for a refusal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/client.h"
#include "metrics/sinks/delivery.h"
#include "net/url.h"

namespace postino::metrics {

struct WebhookSinkOptions {
  // webhook-id, webhook-timestamp and, with a secret, webhook-signature of a body: as callbacks have them.
  using Sign = std::function<std::vector<std::pair<std::string, std::string>>(
      const std::string& id, base::TimePoint now, const std::string& body)>;
  std::string url;
  Sign sign;
  base::Milliseconds timeout = std::chrono::seconds(10);
  std::size_t body_bytes = 1 << 20;  // about: a body has one change more than fit
  int most_errors = 50;              // answers 500 in a row, to the same change
  http::ClientOptions client = {};
};

class WebhookSink final : public Delivery {
 public:
  // invalid when the URL is none.
  static base::Result<std::unique_ptr<WebhookSink>> create(std::string table, const base::Clock& clock,
                                                           WebhookSinkOptions options);

 protected:
  Outcome<void> deliver(std::span<const store::StreamRecord> records, Checkpoint& checkpoint) override;

 private:
  WebhookSink(std::string table, const base::Clock& clock, WebhookSinkOptions options)
      : Delivery(std::move(table), clock), options_(std::move(options)) {}

  Outcome<void> post(const std::string& id, const std::string& body, const store::SequenceNumber& first);

  const WebhookSinkOptions options_;
  net::Url url_;
  std::unique_ptr<http::Client> client_;
  store::SequenceNumber failing_;  // the first change of a body that was answered 500
  int errors_ = 0;                 // how often
};

}  // namespace postino::metrics
