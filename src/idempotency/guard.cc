#include "idempotency/guard.h"

#include <algorithm>

#include "base/log.h"
#include "item/attribute_text.h"
#include "item/end_of_life.h"

namespace postino::idempotency {

namespace {

// By which clocks may differ that processes who share records go by.
constexpr base::Milliseconds largest_difference = std::chrono::minutes(15);
constexpr base::Milliseconds longest_lease = std::chrono::hours(24);  // that a record is believed to have

// For how long the lease was granted, by a process that may be set otherwise than this one.
base::Milliseconds granted_lease(const Record& record) {
  return std::clamp<base::Milliseconds>(record.lease_until - record.updated_at, base::Milliseconds(0), longest_lease);
}

// How long leases last that are granted now, and by how much clocks may differ.
struct LeaseRule {
  base::Milliseconds lease;
  base::Milliseconds difference;
};

// A lease that ends later than any that is granted now was granted by a clock that was ahead.
bool is_lease_over(const Record& record, base::TimePoint now, const LeaseRule& rule) {
  const base::Milliseconds longest = 2 * std::max(rule.lease, granted_lease(record)) + rule.difference;
  return record.lease_until <= now || record.lease_until > now + longest;
}

// May a request with this hash have the key, as far as the record says?
bool can_be_taken(const Record& record, const std::string& request_hash, base::TimePoint now, const LeaseRule& rule) {
  if (record.expires_at <= now) return true;
  if (record.status == Status::in_progress)
    return is_lease_over(record, now, rule) && record.request_hash == request_hash;
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

// What was there when the condition of a write failed, if the store tells.
std::optional<item::Item> seen_by(const store::Error& error) {
  return error.details != nullptr ? error.details->item : std::nullopt;
}

bool is_refused(const store::Error& error) { return error.type == store::ErrorType::conditional_check_failed; }
bool is_unknown(const store::Error& error) { return error.type == store::ErrorType::internal_server_error; }

// Does the record that is there say the same of the end of an execution? Times differ from attempt to attempt.
bool has_ended_so(const Record& found, const Record& ended) {
  return found.status == ended.status && found.request_hash == ended.request_hash &&
         found.created_at == ended.created_at && found.progress == ended.progress &&
         found.response_parts == ended.response_parts &&
         (ended.response_parts > 0 ? found.response_id == ended.response_id
                                   : ended.status != Status::completed || found.response == ended.response);
}

// What a process says that executes the request itself: its lease may have ended, or the record be gone, because the
// clock has jumped or the store has taken no writes.
Begun while_executing(Begun begun) {
  if (begun.state == KeyState::execute) begun.state = KeyState::in_progress;
  return begun;
}

}  // namespace

std::unique_ptr<Executions::Mark> Executions::mark(const std::string& key, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  if (!owners_.emplace(key, owner).second) return nullptr;
  return std::make_unique<Mark>(*this, key, owner);
}

bool Executions::contain(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return owners_.contains(key);
}

void Executions::remove(const std::string& key, const std::string& owner) {
  const std::lock_guard lock(mutex_);
  if (const auto found = owners_.find(key); found != owners_.end() && found->second == owner) owners_.erase(found);
}

std::vector<store::TableSetup> table_setups(const std::string& table) {
  using item::Type;
  return {{store::table_request(table, {{"pk", Type::string}}), "ttl"},
          {store::table_request(table + "-answers", {{"pk", Type::string}, {"part", Type::number}}), "ttl"}};
}

base::Result<void> prepare_tables(store::Store& store, const std::string& table) {
  for (const store::TableSetup& setup : table_setups(table))
    TRY_VOID(store::prepare_table(store, setup.request, setup.expiry));
  return {};
}

Begun Guard::unreadable(const item::Item& found, const std::string& fault) {
  constexpr std::size_t most_told = 1'000;
  const std::string key = item::attribute_text(found, "pk");
  {
    const std::lock_guard lock(mutex_);
    if (unreadable_.size() >= most_told || !unreadable_.insert(key).second) return {KeyState::unreadable, {}, fault};
  }
  base::log_error(
      "idempotency",
      "the record of a key cannot be read: requests with this key are refused until it is repaired or deleted",
      {{"table", records_.place()}, {"pk", key}, {"fault", fault}});
  return {KeyState::unreadable, {}, fault};
}

store::Answer<Begun> Guard::judge(const item::Item& found, const std::string& request_hash) {
  auto record = from_item(found);
  if (!record) return unreadable(found, record.error().message);
  TRY(Begun begun, judge(*std::move(record), request_hash));
  return begun.state == KeyState::unreadable ? unreadable(found, begun.fault) : std::move(begun);
}

store::Answer<Begun> Guard::judge(Record record, const std::string& request_hash) {
  base::TimePoint now = clock_.now();
  // By a clock that may be wrong no record is too old.
  if (clock_.is_doubtful()) now = std::min(now, record.expires_at - base::Milliseconds(1));
  const LeaseRule rule{options_.lease, is_shared_ ? largest_difference : base::Milliseconds(0)};
  if (can_be_taken(record, request_hash, now, rule)) return Begun{KeyState::execute, std::move(record)};
  if (record.request_hash != request_hash) return Begun{KeyState::other_request, std::move(record)};
  if (record.status != Status::completed) return Begun{KeyState::in_progress, std::move(record)};
  Begun begun{KeyState::replay, std::move(record)};
  if (begun.record.response_parts == 0) return begun;
  if (options_.answers) begun.memory = options_.answers->take(LargeAnswers::largest_size_of(begun.record));
  if (options_.answers && !begun.memory) return Begun{KeyState::no_room, {}};
  TRY(const bool is_complete, large_answers_.load(begun.record));
  if (!is_complete) return Begun{KeyState::unreadable, {}, "a part of the answer is missing"};
  return begun;
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
  record.expires_at = item::end_of_life(now, life.value_or(options_.life));
  return record;
}

store::Answer<Begun> Guard::look(const std::string& operation, const std::string& key,
                                 const std::string& request_hash) {
  const std::string pk = partition_key(operation, key);
  TRY(Begun begun, look_at_record(pk, request_hash));
  return executions_.contain(pk) ? while_executing(std::move(begun)) : std::move(begun);
}

store::Answer<Begun> Guard::look_at_record(const std::string& partition_key, const std::string& request_hash) {
  TRY(const std::optional<item::Item> found, records_.find(partition_key));
  if (!found) return Begun{};
  return judge(*found, request_hash);
}

store::Answer<Begun> Guard::begin(const std::string& operation, const std::string& key, const std::string& request_hash,
                                  std::optional<base::Milliseconds> life, const std::string& given_owner) {
  const std::string pk = partition_key(operation, key);
  const std::string owner = given_owner.empty() ? new_owner() : given_owner;
  auto mark = executions_.mark(pk, owner);
  if (!mark) {
    TRY(Begun begun, look_at_record(pk, request_hash));
    return while_executing(std::move(begun));
  }
  TRY(Begun begun, take(operation, key, request_hash, life, owner));
  if (begun.state == KeyState::execute) begun.mark = std::move(mark);
  return begun;
}

store::Answer<Begun> Guard::take(const std::string& operation, const std::string& key, const std::string& request_hash,
                                 std::optional<base::Milliseconds> life, const std::string& owner) {
  constexpr int rounds = 3;  // a record can vanish, or be taken, between the refused write and the next
  for (int round = 0; round < rounds; ++round) {
    Record record = new_record(operation, key, request_hash, life);
    record.life_ends = record.expires_at;
    prolong(record, record.created_at, options_.lease);
    record.owner = owner;
    const auto taken = records_.insert(record);
    if (taken) return Begun{KeyState::execute, std::move(record)};
    const bool may_be_done = is_shared_ && is_unknown(taken.error());
    if (!is_refused(taken.error()) && !may_be_done) return base::propagate(taken.error());

    std::optional<item::Item> seen = seen_by(taken.error());
    if (!seen) {
      TRY(seen, records_.find(partition_key(operation, key)));
    }
    if (!seen && may_be_done) return base::propagate(taken.error());
    if (!seen) continue;
    if (auto own = own_execution(*seen, record)) return *std::move(own);
    TRY(Begun begun, judge(*seen, request_hash));
    if (begun.state != KeyState::execute) return begun;

    if (begun.record.request_hash == request_hash && begun.record.expires_at > clock_.now()) {
      record.created_at = begun.record.created_at;
      record.progress = std::move(begun.record.progress);
    }
    const auto taken_over = records_.replace(*seen, record);
    if (taken_over) return Begun{KeyState::execute, std::move(record)};
    // The next round finds out whether it was done.
    const bool is_looked_at = is_shared_ && is_unknown(taken_over.error()) && round + 1 < rounds;
    if (!is_refused(taken_over.error()) && !is_looked_at) return base::propagate(taken_over.error());
  }
  return Begun{KeyState::in_progress, {}};
}

std::optional<Begun> Guard::own_execution(const item::Item& found, const Record& tried) const {
  if (item::attribute_text(found, "leaseOwner") != tried.owner) return std::nullopt;
  auto record = from_item(found);
  if (!record || record->status != Status::in_progress || record->request_hash != tried.request_hash)
    return std::nullopt;
  record->life_ends = tried.life_ends;
  return Begun{KeyState::execute, *std::move(record)};
}

store::TransactPut Guard::completion(Record record, std::string response) const {
  const base::TimePoint now = clock_.now();
  record.status = Status::completed;
  record.response = std::move(response);
  record.updated_at = now;
  record.progress.clear();
  // As with complete().
  if (record.life_ends > now) record.expires_at = record.life_ends;
  return record.owner.empty() ? own_records_.put_if_free(record, now) : own_records_.put_if_owned(record);
}

store::Answer<void> Guard::amend(Record record, const std::string& noted, std::string response) {
  record.response = std::move(response);
  return own_records_.replace_response(record, noted);
}

store::TransactUpdate Guard::progress_note(Record record) const {
  prolong(record, clock_.now(), options_.lease);
  return own_records_.hold_if_owned(record);
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
    TRY_VOID(large_answers_.put(completed, completed.owner.empty() ? new_owner() : completed.owner));
  TRY_VOID(end(completed));
  executions_.remove(partition_key(record.operation, record.key), record.owner);
  return {};
}

store::Answer<void> Guard::end(const Record& record) {
  auto written = records_.replace_owned(record);
  if (written || !is_shared_ || !is_refused(written.error())) return written;
  TRY(const std::optional<item::Item> found, records_.find(partition_key(record.operation, record.key)));
  const auto there = from_item(found.value_or(item::Item()));
  if (there && has_ended_so(*there, record)) return {};
  return written;
}

store::Answer<void> Guard::settle(const Record& record) {
  Record settled;  // what is needed, and no more: the rest may be large
  settled.operation = record.operation;
  settled.key = record.key;
  settled.owner = record.owner;
  settled.updated_at = clock_.now();
  settled.life_ends = record.life_ends;
  return records_.settle(settled);
}

store::Answer<void> Guard::fail(const Record& record) {
  Record failed = record;
  failed.status = Status::failed;
  failed.updated_at = clock_.now();
  auto written = end(failed);
  executions_.remove(partition_key(record.operation, record.key), record.owner);
  return written;
}

store::Answer<void> Guard::renew(Record& record) { return hold(record, false); }

store::Answer<void> Guard::note_progress(Record& record) { return hold(record, true); }

store::Answer<void> Guard::hold(Record& record, bool notes_progress) {
  prolong(record, clock_.now(), options_.lease);
  return records_.hold(record, notes_progress);
}

}  // namespace postino::idempotency
