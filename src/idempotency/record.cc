#include "idempotency/record.h"

#include "base/timestamp.h"
#include "item/attribute_text.h"

namespace postino::idempotency {

namespace {

constexpr std::int64_t most_response_parts = 1'000;  // many more than any answer has

std::string_view name_of(Status status) {
  if (status == Status::in_progress) return "IN_PROGRESS";
  return status == Status::completed ? "COMPLETED" : "FAILED";
}

std::optional<Status> parse_status(std::string_view name) {
  for (const Status status : {Status::in_progress, Status::completed, Status::failed})
    if (name == name_of(status)) return status;
  return std::nullopt;
}

base::TimePoint time_in(const item::Item& item, std::string_view name) {
  const auto time = base::parse_timestamp(item::attribute_text(item, name));
  return time ? *time : base::TimePoint();
}

// What is there must be what it should be: a record that is taken for an old one, or for one that has done nothing,
// lets a request be executed twice.
base::Result<void> check_attributes(const item::Item& item, Status status) {
  const auto damaged = [](std::string_view name, std::string_view rule) {
    return base::fail(base::ErrorCode::corrupt, std::string(name).append(" of an idempotency record ").append(rule));
  };
  for (const std::string_view name : {"expiresAt", "leaseUntil"})
    if ((item.contains(name) || name == "expiresAt") && !base::parse_timestamp(item::attribute_text(item, name)))
      return damaged(name, "is not a time");
  for (const std::string_view name : {"progress", "responsePayload", "responseId"})
    if (const item::AttributeValue* value = item.find(name))
      if (value->get_if<std::string>() == nullptr) return damaged(name, "is not a text");
  const item::AttributeValue* parts = item.find("responseParts");
  const item::Number* number = parts != nullptr ? parts->get_if<item::Number>() : nullptr;
  const std::int64_t count = number != nullptr ? number->to_int64().value_or(0) : 0;
  if (parts != nullptr && (count < 1 || count > most_response_parts))
    return damaged("responseParts", "is not a number of parts");
  if (status == Status::completed && parts == nullptr && !item.contains("responsePayload"))
    return damaged("responsePayload", "is missing");
  return {};
}

}  // namespace

std::string partition_key(const std::string& operation, const std::string& key) { return operation + "#" + key; }

item::Item to_item(const Record& record) {
  item::Item item{{"pk", partition_key(record.operation, record.key)},
                  {"operationType", record.operation},
                  {"idempotencyKey", record.key},
                  {"status", name_of(record.status)},
                  {"requestHash", record.request_hash},
                  {"createdAt", base::format_timestamp(record.created_at)},
                  {"updatedAt", base::format_timestamp(record.updated_at)},
                  {"expiresAt", base::format_timestamp(record.expires_at)},
                  {"ttl", base::epoch_seconds(record.expires_at)}};
  if (record.status == Status::completed && record.response_parts == 0) item.set("responsePayload", record.response);
  if (record.response_parts > 0) {
    item.set("responseParts", record.response_parts);
    item.set("responseId", record.response_id);
  }
  if (!record.progress.empty()) item.set("progress", record.progress);
  if (record.has_lease()) {
    item.set("leaseUntil", base::format_timestamp(record.lease_until));
    item.set("leaseOwner", record.owner);
  }
  return item;
}

base::Result<Record> from_item(const item::Item& item) {
  const auto status = parse_status(item::attribute_text(item, "status"));
  Record record;
  record.operation = item::attribute_text(item, "operationType");
  record.key = item::attribute_text(item, "idempotencyKey");
  record.request_hash = item::attribute_text(item, "requestHash");
  if (!status || record.operation.empty() || record.key.empty() || record.request_hash.empty())
    return base::fail(base::ErrorCode::corrupt, "an idempotency record lacks its status, key or request hash");
  TRY_VOID(check_attributes(item, *status));
  record.status = *status;
  record.response = item::attribute_text(item, "responsePayload");
  record.created_at = time_in(item, "createdAt");
  record.updated_at = time_in(item, "updatedAt");
  record.expires_at = time_in(item, "expiresAt");
  record.lease_until = time_in(item, "leaseUntil");
  record.owner = item::attribute_text(item, "leaseOwner");
  record.progress = item::attribute_text(item, "progress");
  record.response_id = item::attribute_text(item, "responseId");
  if (const item::AttributeValue* parts = item.find("responseParts"); parts != nullptr)
    if (const item::Number* number = parts->get_if<item::Number>())
      record.response_parts = number->to_int64().value_or(0);
  return record;
}

}  // namespace postino::idempotency
