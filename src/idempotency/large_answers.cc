#include "idempotency/large_answers.h"

namespace postino::idempotency {

namespace {

constexpr std::size_t part_bytes = 300 << 10;
constexpr base::Milliseconds outlives_record = std::chrono::hours(24);  // so that no reader finds a part gone

std::string name_of_answer(const Record& record) {
  return partition_key(record.operation, record.key) + "#" + record.response_id;
}

}  // namespace

store::Answer<void> LargeAnswers::put(Record& record, const std::string& name) {
  record.response_id = name;
  record.response_parts = static_cast<std::int64_t>((record.response.size() + part_bytes - 1) / part_bytes);
  for (std::int64_t part = 0; part < record.response_parts; ++part)
    TRY_VOID(records_.put_part(name_of_answer(record), part,
                               record.response.substr(static_cast<std::size_t>(part) * part_bytes, part_bytes),
                               record.expires_at + outlives_record));
  return {};
}

std::size_t LargeAnswers::largest_size_of(const Record& record) {
  return static_cast<std::size_t>(record.response_parts) * part_bytes;
}

store::Answer<bool> LargeAnswers::load(Record& record) const {
  record.response.clear();
  record.response.reserve(largest_size_of(record));
  for (std::int64_t part = 0; part < record.response_parts; ++part) {
    TRY(const std::optional<std::string> bytes, records_.find_part(name_of_answer(record), part));
    if (!bytes) return false;
    record.response += *bytes;
  }
  return true;
}

}  // namespace postino::idempotency
