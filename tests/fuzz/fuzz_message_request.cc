// Requests to produce and to consume messages, as callers hand them in: what is accepted keeps to the limits.
#include "base/check.h"
#include "idempotency/key.h"
#include "messages/request.h"
#include "targets.h"

namespace postino::fuzz {

namespace {

using messages::RequestLimits;

void check_common(const messages::Request& request) {
  CHECK(idempotency::is_key(request.key));
  CHECK(!request.queue.empty() && request.queue.size() <= RequestLimits::queue_bytes);
  CHECK(request.hash.size() == 64);
  CHECK(request.place.connection.empty() || !request.place.queue_manager);
}

}  // namespace

void fuzz_message_request(std::string_view input) {
  json::FieldErrors errors;
  if (const auto request = messages::read_produce(input, "", errors)) {
    check_common(*request);
    CHECK(!request->messages.empty() && request->messages.size() <= RequestLimits::templates);
    CHECK(request->total >= 1 && request->total <= static_cast<std::size_t>(RequestLimits::total_messages));
    CHECK(request->concurrency >= 1 && request->concurrency <= RequestLimits::concurrency);
  } else {
    CHECK(!errors.list().empty());
  }
  json::FieldErrors others;
  if (const auto request = messages::read_consume(input, "", others)) {
    check_common(*request);
    CHECK(request->max_messages >= 1 && request->max_messages <= static_cast<std::size_t>(RequestLimits::max_messages));
    CHECK(request->wait >= base::Milliseconds(0) && request->wait <= RequestLimits::wait);
  } else {
    CHECK(!others.list().empty());
  }
}

}  // namespace postino::fuzz
