#include "messages/request.h"

#include "base/hash.h"
#include "idempotency/key.h"
#include "json/canonical.h"
#include "messages/request_fields.h"

namespace postino::messages {

namespace {

using json::Document;
using json::FieldErrors;
using json::Fields;
using Need = json::Fields::Need;

std::string read_key(Fields& fields, const std::string& header_key) {
  const auto key = fields.text("idempotencyKey", header_key.empty() ? Need::required : Need::optional);
  if (!key) return header_key;
  if (!idempotency::is_key(*key)) fields.refuse("idempotencyKey", idempotency::key_rule());
  if (!header_key.empty() && *key != header_key)
    fields.refuse("idempotencyKey", "must be the same as the header Idempotency-Key");
  return std::string(*key);
}

std::string read_queue_name(Fields& fields, std::string_view name, Need need) {
  const auto queue = fields.text(name, need);
  if (queue && !broker::queue_address(*queue, broker::AddressStyle::bare, ""))
    fields.refuse(name,
                  "must have 1 to " + std::to_string(RequestLimits::queue_bytes) + " bytes, and no control characters");
  return std::string(queue.value_or(""));
}

struct Target {
  std::string queue;
  std::string reply_to;
};

Target read_target(Fields& parent) {
  Target target;
  const auto element = parent.any("target", Need::required);
  if (!element) return target;
  Fields fields(*element, "target", parent.errors());
  target.queue = read_queue_name(fields, "queueName", Need::required);
  target.reply_to = read_queue_name(fields, "replyToQueue", Need::optional);
  fields.refuse_others();
  return target;
}

void read_settings(Fields& parent, ProduceRequest& request) {
  const auto element = parent.any("settings", Need::optional);
  if (!element) return;
  using base::Milliseconds;
  Fields fields(*element, "settings", parent.errors());
  const auto total = fields.integer("totalMessages", Need::optional, 1, RequestLimits::total_messages);
  if (total) request.total = static_cast<std::size_t>(*total);
  const auto batch = fields.integer("batchSize", Need::optional, 1, RequestLimits::batch_size);
  if (batch) request.batch_size = static_cast<std::size_t>(*batch);
  const auto concurrency = fields.integer("concurrency", Need::optional, 1, RequestLimits::concurrency);
  if (concurrency) request.concurrency = static_cast<int>(*concurrency);
  request.delay = read_duration(fields, "deliveryDelay", Milliseconds(0), RequestLimits::delay);
  request.time_to_live = read_duration(fields, "timeToLive", Milliseconds(1), RequestLimits::time_to_live);
  request.persistent = fields.boolean("persistent", Need::optional).value_or(true);
  fields.refuse_others();
}

void read_settings(Fields& parent, ConsumeRequest& request) {
  const auto element = parent.any("settings", Need::optional);
  if (!element) return;
  Fields fields(*element, "settings", parent.errors());
  const auto most = fields.integer("maxMessages", Need::optional, 1, RequestLimits::max_messages);
  if (most) request.max_messages = static_cast<std::size_t>(*most);
  request.wait =
      read_duration(fields, "waitTimeout", base::Milliseconds(0), RequestLimits::wait).value_or(request.wait);
  request.auto_acknowledge = fields.boolean("autoAcknowledge", Need::optional).value_or(true);
  fields.refuse_others();
}

// What both have in common.
Target read_request(const Document& document, Fields& fields, const std::string& header_key, Request& request) {
  request.key = read_key(fields, header_key);
  request.hash = base::to_hex(base::sha256(json::canonical_with(document.root(), "idempotencyKey", request.key)));
  request.place = read_place(fields);
  Target target = read_target(fields);
  request.queue = target.queue;
  return target;
}

}  // namespace

std::optional<ProduceRequest> read_produce(std::string_view body, const std::string& header_key, FieldErrors& errors) {
  Document document;
  if (!document.parse(body, errors)) return std::nullopt;
  Fields fields(document.root(), "", errors);
  ProduceRequest request;
  request.reply_to = read_request(document, fields, header_key, request).reply_to;
  request.messages = read_messages(fields);
  request.total = request.messages.size();
  read_settings(fields, request);
  fields.refuse_others();
  if (!errors.empty()) return std::nullopt;
  return request;
}

std::optional<ConsumeRequest> read_consume(std::string_view body, const std::string& header_key, FieldErrors& errors) {
  Document document;
  if (!document.parse(body, errors)) return std::nullopt;
  Fields fields(document.root(), "", errors);
  ConsumeRequest request;
  read_request(document, fields, header_key, request);
  read_settings(fields, request);
  fields.refuse_others();
  if (!errors.empty()) return std::nullopt;
  return request;
}

std::optional<Place> peek_place(std::string_view body) {
  FieldErrors errors;
  Document document;
  if (!document.parse(body, errors)) return std::nullopt;
  Fields fields(document.root(), "", errors);
  Place place = read_place(fields);
  if (!errors.empty()) return std::nullopt;
  return place;
}

std::optional<Place> read_place(std::string_view body, FieldErrors& errors) {
  Document document;
  if (!document.parse(body, errors)) return std::nullopt;
  Fields fields(document.root(), "", errors);
  Place place = read_place(fields);
  fields.refuse_others();
  if (!errors.empty()) return std::nullopt;
  return place;
}

}  // namespace postino::messages
