#include "idempotency/guard.h"

#include "base/log.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "store/table_setup.h"

namespace postino::idempotency {

namespace {

// A lease that ends later than any that is granted now was granted by a clock that was ahead.
bool is_lease_over(const Record& record, base::TimePoint now, base::Milliseconds lease) {
  return record.lease_until <= now || record.lease_until > now + 2 * lease;
}

// May a request with this hash have the key?
bool can_be_taken(const Record& record, const std::string& request_hash, base::TimePoint now,
                  base::Milliseconds lease) {
  if (record.expires_at <= now) return true;
  if (record.status == Status::in_progress)
    return is_lease_over(record, now, lease) && record.request_hash == request_hash;
  // What failed without having done anything leaves the key to any request.
  return record.status == Status::failed && (record.progress.empty() || record.request_hash == request_hash);
}

// A request executes it. It must not expire meanwhile, nor before a client that repeats it finds the answer or how far
// it came.
void prolong(Record& record, base::TimePoint now, base::Milliseconds lease) {
  record.updated_at = now;
  record.lease_until = now + lease;
  record.expires_at = std::max(record.expires_at, now + 2 * lease);
}

store::TransactPut put_of(const std::string& table, const Record& record) {
  store::TransactPut put;
  put.table_name = table;
  put.item = to_item(record);
  return put;
}

store::TransactPut put_if_absent(const std::string& table, const Record& record) {
  store::TransactPut put = put_of(table, record);
  put.condition = store::ConditionExpression("attribute_not_exists(pk)");
  put.return_item_on_failure = true;
  return put;
}

// Writes the record if no other execution has the key. The same rule as can_be_taken, for the store.
store::TransactPut put_if_free(const std::string& table, const Record& record, base::TimePoint now) {
  store::TransactPut put = put_of(table, record);
  put.condition = store::ConditionExpression(
      "attribute_not_exists(pk) OR expiresAt <= :now OR "
      "(#status = :failed AND (attribute_not_exists(progress) OR requestHash = :hash)) OR "
      "(#status = :in_progress AND leaseUntil <= :now AND requestHash = :hash)");
  put.placeholders.names = expr::Names{{"#status", "status"}};
  put.placeholders.values = item::Map{{":now", base::format_timestamp(now)},
                                      {":failed", "FAILED"},
                                      {":in_progress", "IN_PROGRESS"},
                                      {":hash", record.request_hash}};
  return put;
}

// Writes the record if it is still the owner's.
store::TransactPut put_if_owned(const std::string& table, const Record& record) {
  store::TransactPut put = put_of(table, record);
  put.condition = store::ConditionExpression("leaseOwner = :owner AND #status = :in_progress");
  put.placeholders.names = expr::Names{{"#status", "status"}};
  put.placeholders.values = item::Map{{":owner", record.owner}, {":in_progress", "IN_PROGRESS"}};
  return put;
}

// Writes the record if the one that is there is still the one that was seen.
store::TransactPut put_instead_of(const item::Item& seen, const std::string& table, const Record& record) {
  store::TransactPut put = put_of(table, record);
  std::string condition;
  expr::Names names;
  item::Map values;
  for (const std::string name : {"status", "requestHash", "updatedAt", "expiresAt", "leaseOwner", "progress"}) {
    condition += condition.empty() ? "" : " AND ";
    names.emplace("#" + name, name);
    const item::AttributeValue* value = seen.find(name);
    if (value == nullptr) {
      condition.append("attribute_not_exists(#").append(name).append(")");
      continue;
    }
    condition.append("#").append(name).append(" = :").append(name);
    values.set(":" + name, *value);
  }
  put.condition = store::ConditionExpression(std::move(condition));
  put.placeholders.names = std::move(names);
  put.placeholders.values = std::move(values);
  return put;
}

// What was there when the condition of a write failed, if the store tells.
std::optional<item::Item> seen_by(const store::Error& error) {
  return error.details != nullptr ? error.details->item : std::nullopt;
}

bool is_refused(const store::Error& error) { return error.type == store::ErrorType::conditional_check_failed; }

}  // namespace

base::Result<void> prepare_tables(store::Store& store, const std::string& table) {
  using item::Type;
  TRY_VOID(store::prepare_table(store, store::table_request(table, {{"pk", Type::string}}), "ttl"));
  return store::prepare_table(
      store, store::table_request(table + "-answers", {{"pk", Type::string}, {"part", Type::number}}), "ttl");
}

store::Answer<std::optional<item::Item>> Guard::find(const std::string& operation, const std::string& key) {
  store::GetItemRequest get;
  get.table_name = options_.table;
  get.key = {{"pk", partition_key(operation, key)}};
  get.consistent_read = true;
  TRY(store::GetItemResponse answer, store_.get_item(get));
  return std::move(answer.item);
}

Begun Guard::unreadable(const item::Item& found, const std::string& fault) {
  constexpr std::size_t most_told = 1'000;
  const std::string key = item::attribute_text(found, "pk");
  {
    const std::lock_guard lock(mutex_);
    if (unreadable_.size() >= most_told || !unreadable_.insert(key).second) return {Verdict::unreadable, {}, fault};
  }
  base::log_error(
      "idempotency",
      "the record of a key cannot be read: requests with this key are refused until it is mended or deleted",
      {{"table", options_.table}, {"pk", key}, {"fault", fault}});
  return {Verdict::unreadable, {}, fault};
}

store::Answer<Begun> Guard::judge(const item::Item& found, const std::string& request_hash) {
  auto record = from_item(found);
  if (!record) return unreadable(found, record.error().message);
  TRY(Begun begun, judge(*std::move(record), request_hash));
  return begun.verdict == Verdict::unreadable ? unreadable(found, begun.fault) : std::move(begun);
}

store::Answer<Begun> Guard::judge(Record record, const std::string& request_hash) {
  base::TimePoint now = clock_.now();
  // By a clock that may be wrong no record is too old.
  if (clock_.is_doubtful()) now = std::min(now, record.expires_at - base::Milliseconds(1));
  if (can_be_taken(record, request_hash, now, options_.lease)) return Begun{Verdict::execute, std::move(record)};
  if (record.request_hash != request_hash) return Begun{Verdict::other_request, std::move(record)};
  if (record.status != Status::completed) return Begun{Verdict::in_progress, std::move(record)};
  Begun begun{Verdict::replay, std::move(record)};
  if (begun.record.response_parts == 0) return begun;
  if (options_.answers) begun.memory = options_.answers->take(LargeAnswers::largest_size_of(begun.record));
  if (options_.answers && !begun.memory) return Begun{Verdict::no_room, {}};
  TRY(const bool is_complete, large_answers_.load(begun.record));
  if (!is_complete) return Begun{Verdict::unreadable, {}, "a part of the answer is missing"};
  return begun;
}

store::Answer<void> Guard::put(const store::TransactPut& put) {
  store::PutItemRequest request;
  request.table_name = put.table_name;
  request.item = put.item;
  request.condition = put.condition;
  request.placeholders = put.placeholders;
  request.return_item_on_failure = put.return_item_on_failure;
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
  TRY(const std::optional<item::Item> found, find(operation, key));
  if (!found) return Begun{};
  return judge(*found, request_hash);
}

store::Answer<Begun> Guard::begin(const std::string& operation, const std::string& key, const std::string& request_hash,
                                  std::optional<base::Milliseconds> life) {
  constexpr int rounds = 3;  // a record can vanish, or be taken, between the refused write and the next
  for (int round = 0; round < rounds; ++round) {
    Record record = new_record(operation, key, request_hash, life);
    record.life_ends = record.expires_at;
    prolong(record, record.created_at, options_.lease);
    record.owner = base::make_uuid(random_);
    const auto taken = put(put_if_absent(options_.table, record));
    if (taken) return Begun{Verdict::execute, std::move(record)};
    if (!is_refused(taken.error())) return base::propagate(taken.error());

    std::optional<item::Item> seen = seen_by(taken.error());
    if (!seen) {
      TRY(seen, find(operation, key));
    }
    if (!seen) continue;
    TRY(Begun begun, judge(*seen, request_hash));
    if (begun.verdict != Verdict::execute) return begun;

    if (begun.record.request_hash == request_hash && begun.record.expires_at > clock_.now()) {
      record.created_at = begun.record.created_at;
      record.progress = std::move(begun.record.progress);
    }
    const auto taken_over = put(put_instead_of(*seen, options_.table, record));
    if (taken_over) return Begun{Verdict::execute, std::move(record)};
    if (!is_refused(taken_over.error())) return base::propagate(taken_over.error());
  }
  return Begun{Verdict::in_progress, {}};
}

store::TransactPut Guard::completion(Record record, std::string response) const {
  const base::TimePoint now = clock_.now();
  record.status = Status::completed;
  record.response = std::move(response);
  record.updated_at = now;
  record.progress.clear();
  return record.owner.empty() ? put_if_free(options_.table, record, now) : put_if_owned(options_.table, record);
}

store::Answer<void> Guard::complete(const Record& record, std::string response, std::string remains) {
  Record completed = record;
  completed.status = Status::completed;
  completed.response = std::move(response);
  prolong(completed, clock_.now(), options_.lease);
  completed.progress = std::move(remains);
  // The answer has the life that was wished for, unless that is over already.
  if (completed.progress.empty() && completed.life_ends > completed.updated_at)
    completed.expires_at = completed.life_ends;
  if (completed.response.size() > largest_answer_in_item)
    TRY_VOID(large_answers_.put(completed, base::make_uuid(random_)));
  return put(put_if_owned(options_.table, completed));
}

store::Answer<void> Guard::settle(const Record& record) {
  const base::TimePoint now = clock_.now();
  std::string update = "REMOVE progress, leaseUntil, leaseOwner SET updatedAt = :updated";
  expr::Names names;
  item::Map values{{":updated", base::format_timestamp(now)}};
  // Until now it was kept for as long as the settlement might take.
  if (record.life_ends > now) {
    update += ", expiresAt = :expires, #ttl = :ttl";
    names.emplace("#ttl", "ttl");
    values.set(":expires", base::format_timestamp(record.life_ends));
    values.set(":ttl", base::epoch_seconds(record.life_ends));
  }
  return update_owned(record, std::move(update), std::move(names), std::move(values), Status::completed);
}

store::Answer<void> Guard::fail(const Record& record) {
  Record failed = record;
  failed.status = Status::failed;
  failed.updated_at = clock_.now();
  return put(put_if_owned(options_.table, failed));
}

store::Answer<void> Guard::renew(Record& record) { return hold(record, "", {}); }

store::Answer<void> Guard::note_progress(Record& record) {
  return hold(record, ", progress = :progress", {{":progress", record.progress}});
}

store::Answer<void> Guard::hold(Record& record, std::string_view besides, item::Map values) {
  prolong(record, clock_.now(), options_.lease);
  values.set(":updated", base::format_timestamp(record.updated_at));
  values.set(":until", base::format_timestamp(record.lease_until));
  values.set(":expires", base::format_timestamp(record.expires_at));
  values.set(":ttl", base::epoch_seconds(record.expires_at));
  std::string update = "SET updatedAt = :updated, leaseUntil = :until, expiresAt = :expires, #ttl = :ttl";
  return update_owned(record, update.append(besides), {{"#ttl", "ttl"}}, std::move(values), Status::in_progress);
}

// Changes attributes of a record if it is still the owner's.
store::Answer<void> Guard::update_owned(const Record& record, std::string update, expr::Names names, item::Map values,
                                        Status status) {
  store::UpdateItemRequest request;
  request.table_name = options_.table;
  request.key = {{"pk", partition_key(record.operation, record.key)}};
  request.update = store::UpdateExpression(std::move(update));
  request.condition = store::ConditionExpression("leaseOwner = :owner AND #status = :status");
  names.emplace("#status", "status");
  request.placeholders.names = std::move(names);
  values.set(":owner", record.owner);
  values.set(":status", status == Status::completed ? "COMPLETED" : "IN_PROGRESS");
  request.placeholders.values = std::move(values);
  TRY_VOID(store_.update_item(request));
  return {};
}

}  // namespace postino::idempotency
