#include "idempotency/guard.h"

#include "base/timestamp.h"

namespace postino::idempotency {

namespace {

// May somebody else have the key?
bool can_be_taken(const Record& record, base::TimePoint now) {
  return record.expires_at <= now || record.status == Status::failed ||
         (record.status == Status::in_progress && record.lease_until <= now);
}

Begun judge(Record record, const std::string& request_hash, base::TimePoint now) {
  if (can_be_taken(record, now)) return {Verdict::execute, std::move(record)};
  if (record.request_hash != request_hash) return {Verdict::other_request, std::move(record)};
  const Verdict verdict = record.status == Status::completed ? Verdict::replay : Verdict::in_progress;
  return {verdict, std::move(record)};
}

// Writes the record if nobody has the key. The same rule as can_be_taken, for the store.
store::TransactPut put_if_free(const std::string& table, const Record& record, base::TimePoint now) {
  store::TransactPut put;
  put.table_name = table;
  put.item = to_item(record);
  put.condition = store::ConditionExpression(
      "attribute_not_exists(pk) OR expiresAt <= :now OR #status = :failed OR "
      "(#status = :in_progress AND leaseUntil <= :now)");
  put.placeholders.names = expr::Names{{"#status", "status"}};
  put.placeholders.values =
      item::Map{{":now", base::format_timestamp(now)}, {":failed", "FAILED"}, {":in_progress", "IN_PROGRESS"}};
  return put;
}

// Writes the record if it is still the owner's.
store::TransactPut put_if_owned(const std::string& table, const Record& record) {
  store::TransactPut put;
  put.table_name = table;
  put.item = to_item(record);
  put.condition = store::ConditionExpression("leaseOwner = :owner AND #status = :in_progress");
  put.placeholders.names = expr::Names{{"#status", "status"}};
  put.placeholders.values = item::Map{{":owner", record.owner}, {":in_progress", "IN_PROGRESS"}};
  return put;
}

}  // namespace

store::Answer<std::optional<Record>> Guard::find(const std::string& operation, const std::string& key) {
  store::GetItemRequest get;
  get.table_name = options_.table;
  get.key = {{"pk", partition_key(operation, key)}};
  get.consistent_read = true;
  TRY(const store::GetItemResponse answer, store_.get_item(get));
  if (!answer.item) return std::nullopt;
  TRY(Record record, from_item(*answer.item));
  return std::optional<Record>(std::move(record));
}

store::Answer<void> Guard::put(const store::TransactPut& put) {
  store::PutItemRequest request;
  request.table_name = put.table_name;
  request.item = put.item;
  request.condition = put.condition;
  request.placeholders = put.placeholders;
  TRY_VOID(store_.put_item(request));
  return {};
}

Record Guard::new_record(const std::string& operation, const std::string& key, const std::string& request_hash,
                         std::optional<base::Milliseconds> life) const {
  const base::TimePoint now = clock_.now();
  Record record;
  record.operation = operation;
  record.key = key;
  record.request_hash = request_hash;
  record.created_at = now;
  record.updated_at = now;
  record.expires_at = now + life.value_or(options_.life);
  return record;
}

store::Answer<Begun> Guard::look(const std::string& operation, const std::string& key,
                                 const std::string& request_hash) {
  TRY(std::optional<Record> found, find(operation, key));
  if (!found) return Begun{Verdict::execute, {}};
  return judge(std::move(*found), request_hash, clock_.now());
}

store::Answer<Begun> Guard::begin(const std::string& operation, const std::string& key, const std::string& request_hash,
                                  std::optional<base::Milliseconds> life) {
  constexpr int rounds = 3;  // a record can vanish between the refused write and the look at it
  for (int round = 0; round < rounds; ++round) {
    Record record = new_record(operation, key, request_hash, life);
    record.lease_until = record.created_at + options_.lease;
    record.owner = base::make_uuid(random_);
    const auto taken = put(put_if_free(options_.table, record, record.created_at));
    if (taken) return Begun{Verdict::execute, std::move(record)};
    if (taken.error().type != store::ErrorType::conditional_check_failed) return base::propagate(taken.error());
    TRY(Begun begun, look(operation, key, request_hash));
    if (begun.verdict != Verdict::execute) return begun;
  }
  return Begun{Verdict::in_progress, {}};
}

store::TransactPut Guard::completion(Record record, std::string response) const {
  const base::TimePoint now = clock_.now();
  record.status = Status::completed;
  record.response = std::move(response);
  record.updated_at = now;
  return record.owner.empty() ? put_if_free(options_.table, record, now) : put_if_owned(options_.table, record);
}

store::Answer<void> Guard::complete(const Record& record, std::string response) {
  return put(completion(record, std::move(response)));
}

store::Answer<void> Guard::fail(const Record& record) {
  Record failed = record;
  failed.status = Status::failed;
  failed.updated_at = clock_.now();
  return put(put_if_owned(options_.table, failed));
}

store::Answer<void> Guard::renew(Record& record) {
  record.updated_at = clock_.now();
  record.lease_until = record.updated_at + options_.lease;
  return put(put_if_owned(options_.table, record));
}

}  // namespace postino::idempotency
