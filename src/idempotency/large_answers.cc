#include "idempotency/large_answers.h"

namespace postino::idempotency {

namespace {

constexpr std::size_t part_bytes = 300 << 10;
constexpr base::Milliseconds outlives_record = std::chrono::hours(24);  // so that no reader finds a part gone

}  // namespace

item::Key LargeAnswers::key(const Record& record, std::int64_t part) const {
  return {{"pk", partition_key(record.operation, record.key) + "#" + record.response_id}, {"part", part}};
}

store::Answer<void> LargeAnswers::put(Record& record, const std::string& name) {
  record.response_id = name;
  record.response_parts = static_cast<std::int64_t>((record.response.size() + part_bytes - 1) / part_bytes);
  for (std::int64_t part = 0; part < record.response_parts; ++part) {
    store::PutItemRequest request;
    request.table_name = table_;
    request.item = key(record, part);
    request.item.set("content",
                     item::Binary{record.response.substr(static_cast<std::size_t>(part) * part_bytes, part_bytes)});
    request.item.set("ttl", base::epoch_seconds(record.expires_at + outlives_record));
    TRY_VOID(store_.put_item(request));
  }
  return {};
}

std::size_t LargeAnswers::largest_size_of(const Record& record) {
  return static_cast<std::size_t>(record.response_parts) * part_bytes;
}

store::Answer<bool> LargeAnswers::load(Record& record) const {
  record.response.clear();
  record.response.reserve(largest_size_of(record));
  for (std::int64_t part = 0; part < record.response_parts; ++part) {
    store::GetItemRequest request;
    request.table_name = table_;
    request.key = key(record, part);
    request.consistent_read = true;
    TRY(const store::GetItemResponse answer, store_.get_item(request));
    const item::AttributeValue* content = answer.item ? answer.item->find("content") : nullptr;
    const item::Binary* bytes = content != nullptr ? content->get_if<item::Binary>() : nullptr;
    if (bytes == nullptr) return false;
    record.response += bytes->bytes;
  }
  return true;
}

}  // namespace postino::idempotency
