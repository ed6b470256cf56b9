#include "outbox/ledger/memory_ledger_testing.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace postino::outbox {

namespace {

constexpr std::chrono::seconds longest_wait{120};  // only a test that fails waits so long

tl::unexpected<base::Error> out_of_order() { return base::fail(base::ErrorCode::io, "the ledger is out of order"); }
tl::unexpected<base::Error> not_for_workers() { return base::invalid("workers do not ask this of a ledger"); }

// Is it one of the next calls that shall fail?
bool take_failure(int& left) {
  if (left == 0) return false;
  --left;
  return true;
}

}  // namespace

void MemorySpool::spoil(const std::string& path, base::Error error) {
  const std::lock_guard lock(mutex_);
  spoiled_.insert_or_assign(path, std::move(error));
}

int MemorySpool::reads() const {
  const std::lock_guard lock(mutex_);
  return reads_;
}

base::Result<std::string> MemorySpool::write(const SpoolObject& object) {
  const std::lock_guard lock(mutex_);
  std::string path = spool_path(object, std::to_string(objects_.size()));
  objects_.emplace(path, object.bytes);
  return path;
}

base::Result<std::string> MemorySpool::read_if(const std::string& path, const Admit& admit) {
  const std::lock_guard lock(mutex_);
  ++reads_;
  if (const auto damaged = spoiled_.find(path); damaged != spoiled_.end()) return base::propagate(damaged->second);
  const auto found = objects_.find(path);
  if (found == objects_.end()) return base::fail(base::ErrorCode::not_found, "there is no " + path);
  if (!admit(found->second.size())) return not_admitted(path);
  return found->second;
}

base::Result<void> MemorySpool::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  objects_.erase(path);
  return {};
}

Email MemoryLedger::put(Change change, const std::string& payload) {
  const std::lock_guard lock(mutex_);
  const Email& email = change.after;
  change.after.payload_path = *spool_.write({SpoolKind::payload, email.id, email.created_at, payload, {}});
  const std::string id = email.id;
  store(std::move(change));
  return emails_.at(id);
}

void MemoryLedger::take_over(const std::string& id) {
  const std::lock_guard lock(mutex_);
  ++emails_.at(id).version;
}

void MemoryLedger::fail_claims(int count) {
  const std::lock_guard lock(mutex_);
  failing_claims_ = count;
}

void MemoryLedger::fail_moves(int count) {
  const std::lock_guard lock(mutex_);
  failing_moves_ = count;
}

void MemoryLedger::fail_amendments(int count) {
  const std::lock_guard lock(mutex_);
  failing_amendments_ = count;
}

void MemoryLedger::fail_moves_of(const std::string& id) {
  const std::lock_guard lock(mutex_);
  unwritable_.insert(id);
}

void MemoryLedger::refuse_writes(bool refuse) {
  const std::lock_guard lock(mutex_);
  refuses_writes_ = refuse;
}

void MemoryLedger::share(bool has_one_clock) {
  const std::lock_guard lock(mutex_);
  is_shared_ = true;
  has_one_clock_ = has_one_clock;
}

void MemoryLedger::lock(const std::string& id) {
  const std::lock_guard lock(mutex_);
  locked_.insert(id);
}

void MemoryLedger::unlock(const std::string& id) {
  const std::lock_guard lock(mutex_);
  locked_.erase(id);
}

bool MemoryLedger::is_shared() const {
  const std::lock_guard lock(mutex_);
  return is_shared_;
}

bool MemoryLedger::has_one_clock() const {
  const std::lock_guard lock(mutex_);
  return has_one_clock_;
}

Email MemoryLedger::email(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  return emails_.at(id);
}

std::vector<std::vector<std::string>> MemoryLedger::commits() const {
  const std::lock_guard lock(mutex_);
  return commits_;
}

int MemoryLedger::refused_moves() const {
  const std::lock_guard lock(mutex_);
  return refused_moves_;
}

std::vector<Change> MemoryLedger::amendments() const {
  const std::lock_guard lock(mutex_);
  return amendments_;
}

std::vector<int> MemoryLedger::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

std::set<std::string> MemoryLedger::last_except() const {
  const std::lock_guard lock(mutex_);
  return last_except_;
}

int MemoryLedger::most_claimed() const {
  const std::lock_guard lock(mutex_);
  return most_claimed_;
}

bool MemoryLedger::await(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + longest_wait;
  std::unique_lock lock(mutex_);
  while (true) {
    const std::int64_t seen = calls_;
    lock.unlock();
    if (condition()) return true;
    lock.lock();
    if (!changed_.wait_until(lock, deadline, [&] { return calls_ != seen; })) return false;
  }
}

bool MemoryLedger::await_state(const std::string& id, State state) {
  return await([&] { return email(id).state == state; });
}

bool MemoryLedger::await_looks(int count) {
  return await([&] { return limits().size() >= static_cast<std::size_t>(count); });
}

Claim MemoryLedger::find_due(Pipeline pipeline, int limit, const std::set<std::string>& except,
                             const Choice& choice) const {
  const base::TimePoint now = clock_.now();
  Claim claim;
  for (const auto& [id, email] : emails_) {
    if (pipeline_of(email) != pipeline || except.contains(id)) continue;
    if (!is_due(email, now))
      claim.next_due = std::min(claim.next_due.value_or(*email.due_at), *email.due_at);
    else if (claim.emails.size() >= static_cast<std::size_t>(limit))
      claim.more = true;
    else if (!choice.obstacle || !choice.obstacle(email))
      claim.emails.push_back(email);
  }
  return claim;
}

base::Result<Claim> MemoryLedger::claim(Pipeline pipeline, int limit, const std::string& owner) {
  return claim(pipeline, limit, owner, {});
}

base::Result<Claim> MemoryLedger::claim(Pipeline pipeline, int limit, const std::string& owner, const Choice& choice) {
  const std::lock_guard lock(mutex_);
  limits_.push_back(limit);
  called();
  if (refuses_writes_ || take_failure(failing_claims_)) return out_of_order();
  Claim claim = find_due(pipeline, limit, {}, choice);
  for (Email& email : claim.emails) {
    auto change = decide(email, event::Claimed{owner}, policy_, clock_.now());
    CHECK(change.has_value());
    email = change->after;
    store(*std::move(change));
  }
  return claim;
}

base::Result<Claim> MemoryLedger::due(Pipeline pipeline, int limit, const std::set<std::string>& except) {
  const std::lock_guard lock(mutex_);
  limits_.push_back(limit);
  last_except_ = except;
  called();
  if (take_failure(failing_claims_)) return out_of_order();
  return find_due(pipeline, limit, except);
}

std::vector<MoveOutcome> MemoryLedger::move(std::vector<Change> changes) {
  const std::lock_guard lock(mutex_);
  const bool all_fail = refuses_writes_ || take_failure(failing_moves_);
  std::vector<MoveOutcome> outcomes;
  std::vector<std::string> written;
  for (Change& change : changes) {
    if (all_fail)
      outcomes.push_back({MoveStatus::failed, change.before, "the ledger is out of order"});
    else
      outcomes.push_back(move_one(std::move(change)));
    if (outcomes.back().status == MoveStatus::done)
      written.push_back(outcomes.back().email.id);
    else
      ++refused_moves_;
  }
  if (!written.empty()) commits_.push_back(std::move(written));
  called();
  return outcomes;
}

MoveOutcome MemoryLedger::move_one(Change change) {
  const std::string id = change.after.id;
  if (unwritable_.contains(id)) return {MoveStatus::failed, std::move(change.before), "it cannot be written"};
  if (emails_.at(id).version != change.before.version || locked_.contains(id))
    return {MoveStatus::lock_not_acquired, std::move(change.before), ""};
  store(std::move(change));
  return {MoveStatus::done, emails_.at(id), ""};
}

void MemoryLedger::store(Change change) {
  Email& email = change.after;
  if (change.message)
    email.message_path = *spool_.write({SpoolKind::message, email.id, email.created_at, *change.message, {}});
  emails_.insert_or_assign(email.id, email);
  const auto claimed =
      std::ranges::count_if(emails_, [](const auto& each) { return kind_of(each.second.state) == StateKind::working; });
  most_claimed_ = std::max(most_claimed_, static_cast<int>(claimed));
  called();
}

base::Result<std::vector<std::string>> MemoryLedger::amend(const std::vector<Change>& changes) {
  const std::lock_guard lock(mutex_);
  called();
  if (refuses_writes_ || take_failure(failing_amendments_)) return out_of_order();
  std::vector<std::string> written;
  for (const Change& change : changes) {
    Email& email = emails_.at(change.after.id);
    if (email.version != change.after.version || locked_.contains(email.id)) continue;
    email.due_at = change.after.due_at;
    email.outcome_unknown = change.after.outcome_unknown;
    amendments_.push_back(change);
    written.push_back(email.id);
  }
  return written;
}

base::Result<void> MemoryLedger::try_write() {
  const std::lock_guard lock(mutex_);
  called();
  if (refuses_writes_) return out_of_order();
  return {};
}

base::Result<std::vector<Email>> MemoryLedger::find_ended_leases(base::TimePoint before, int limit) {
  const std::lock_guard lock(mutex_);
  called();
  std::vector<Email> expired;
  for (const auto& [id, email] : emails_)
    if (is_lease_over(email, before) && !locked_.contains(id) && expired.size() < static_cast<std::size_t>(limit))
      expired.push_back(email);
  return expired;
}

base::Result<std::optional<base::TimePoint>> MemoryLedger::oldest_due(Pipeline pipeline) {
  const std::lock_guard lock(mutex_);
  called();
  std::optional<base::TimePoint> oldest;
  for (const auto& [id, email] : emails_)
    if (pipeline_of(email) == pipeline && is_due(email, clock_.now()))
      oldest = std::min(oldest.value_or(*email.due_at), *email.due_at);
  return oldest;
}

void MemoryLedger::before_counts(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  before_counts_ = std::move(action);
}

base::Result<Counts> MemoryLedger::counts(const std::optional<std::string>& /*tenant*/) {
  std::unique_lock action_lock(mutex_);
  const std::function<void()> action = before_counts_;
  action_lock.unlock();
  if (action) action();
  const std::lock_guard lock(mutex_);
  called();
  Counts counts{};
  for (const auto& [id, email] : emails_) ++counts[index_of(email.state)];
  return counts;
}

void MemoryLedger::called() {
  ++calls_;
  changed_.notify_all();
}

base::Result<AcceptAnswer> MemoryLedger::accept(std::vector<NewEmail> /*emails*/,
                                                const std::optional<AcceptKey>& /*key*/,
                                                const RenderAnswer& /*render*/) {
  return not_for_workers();
}
base::Result<std::vector<Email>> MemoryLedger::stale(base::TimePoint /*before*/, int /*limit*/) {
  return not_for_workers();
}
base::Result<std::optional<Email>> MemoryLedger::find(const std::string& /*id*/) { return not_for_workers(); }
base::Result<std::vector<HistoryEntry>> MemoryLedger::history(const std::string& /*id*/) { return not_for_workers(); }
base::Result<EmailPage> MemoryLedger::list(const ListRequest& /*request*/) { return not_for_workers(); }
base::Result<EmailPage> MemoryLedger::dead_callbacks(const std::string& /*tenant*/, const std::string& /*cursor*/,
                                                     int /*limit*/) {
  return not_for_workers();
}
base::Result<void> MemoryLedger::record_bounce(const std::string& /*id*/, const Bounce& /*bounce*/) {
  return not_for_workers();
}
base::Result<bool> MemoryLedger::restore(const StoredEmail& /*email*/) { return not_for_workers(); }

}  // namespace postino::outbox
