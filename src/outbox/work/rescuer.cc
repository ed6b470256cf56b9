#include "outbox/work/rescuer.h"

#include <tuple>

#include "base/check.h"
#include "base/log.h"

namespace postino::outbox {

namespace {

// Of a shared ledger. What is seen now is taken some looks later, so one look must see more than is taken at a time.
constexpr int most_seen = 1'000;

// A renewal may have passed over the row right before it was free; the next one comes an interval later, and may take a
// while.
constexpr int renewals_to_await = 2;

// An operator mends or removes records that cannot be read, and wants to see that it has helped.
constexpr base::Milliseconds between_looks_at_malformed{5'000};
constexpr std::size_t most_malformed_at_once = 100;

}  // namespace

// Workers of other processes do not tell when their renewals are refused. Where each process has its own clock, an
// e-mail is watched for a whole lease first, so that it is early enough to ask when there is one.
bool Rescuer::must_ask_first() const { return ledger_.is_shared() && ledger_.has_one_clock(); }

base::Milliseconds Rescuer::time_to_watch() const {
  return ledger_.has_one_clock() ? renewals_to_await * Leases::renewal_interval(policy_) : policy_.lease;
}

bool Rescuer::is_time_to_look() {
  if (is_unreadable_) {
    // What find_ended_leases() has told it does not tell again soon.
    if (!ledger_.oldest_due(Pipeline::send)) return false;
    is_unreadable_ = false;
    not_before_ = clock_.monotonic() + after_trouble_;
  }
  if ((must_ask_first() || health_.is_refusing()) && !health_.check()) return false;
  const base::Milliseconds now = clock_.monotonic();
  if (looked_ && now - *looked_ > looks_every_ + after_trouble_) not_before_ = now + after_trouble_;
  looked_ = now;
  const auto since_trouble = health_.time_since_trouble();
  return now >= not_before_ && (!since_trouble || *since_trouble >= after_trouble_);
}

std::vector<Email> Rescuer::without_just_seen(std::vector<Email> expired) {
  const base::Milliseconds now = clock_.monotonic();
  const base::Milliseconds wait = time_to_watch();
  std::map<std::string, Seen> seen;
  std::vector<Email> left;
  for (Email& email : expired) {
    if (own_ != nullptr && own_->has(email)) continue;
    Seen each{email.version, email.due_at, email.outcome_unknown, now};
    const auto before = seen_.find(email.id);
    if (before != seen_.end() && before->second.version == each.version && before->second.due_at == each.due_at &&
        before->second.outcome_unknown == each.outcome_unknown)
      each.since = before->second.since;
    const bool is_long_enough = now - each.since >= wait;
    seen.emplace(email.id, std::move(each));
    if (is_long_enough && left.size() < max_ledger_batch) left.push_back(std::move(email));
  }
  seen_ = std::move(seen);
  return left;
}

// The ledger forgets those that it can read, and those that are gone.
void Rescuer::look_at_malformed() {
  const base::Milliseconds now = clock_.monotonic();
  if (looked_at_malformed_ && now - *looked_at_malformed_ < between_looks_at_malformed) return;
  looked_at_malformed_ = now;
  std::vector<MalformedRecord> records = ledger_.malformed();
  if (records.size() > most_malformed_at_once) records.resize(most_malformed_at_once);
  for (const MalformedRecord& record : records) std::ignore = ledger_.find(record.id);
}

bool Rescuer::run_once() {
  if (!is_time_to_look()) {
    seen_.clear();
    return false;
  }
  look_at_malformed();
  const base::TimePoint now = clock_.now();
  const bool is_shared = ledger_.is_shared();
  // What this process has must not hide what others have lost.
  const std::size_t most_found = max_ledger_batch + (own_ == nullptr ? 0 : own_->count());
  auto expired = ledger_.find_ended_leases(now, is_shared ? most_seen : static_cast<int>(most_found));
  if (!expired) {
    is_unreadable_ = true;
    seen_.clear();
    if (trouble_.fails(expired.error().message))
      base::log_warning("outbox", "expired leases cannot be read", {{"error", expired.error().message}});
    return false;
  }
  if (trouble_.works()) base::log_info("outbox", "expired leases can be read again");
  if (is_shared && !must_ask_first() && !expired->empty() && !health_.check()) {
    seen_.clear();
    return false;
  }
  if (is_shared) expired = without_just_seen(*std::move(expired));
  if (own_ != nullptr) std::erase_if(*expired, [&](const Email& email) { return own_->has(email); });
  const bool may_be_more = expired->size() >= max_ledger_batch;
  if (may_be_more) expired->resize(max_ledger_batch);
  std::vector<Change> changes;
  // They are due from now on, not from before they were looked for: a claimer that has read on would pass them by.
  const base::TimePoint rescued_at = clock_.now();
  for (const Email& email : *expired) {
    auto change = decide(email, event::LeaseEnded{}, policy_, rescued_at);
    CHECK(change.has_value());  // the ledger finds e-mails in working states alone
    changes.push_back(*std::move(change));
  }
  std::vector<Email> before;
  for (const Change& change : changes) before.push_back(change.before);
  const std::vector<MoveOutcome> outcomes = ledger_.move(std::move(changes));
  bool came_further = false;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    came_further |= outcomes[i].status != MoveStatus::failed;
    if (outcomes[i].status == MoveStatus::done) on_rescued_(before[i], outcomes[i].email);
    if (outcomes[i].status == MoveStatus::failed && !health_.check()) return false;
  }
  // What fails is tried again with the next look, not at once.
  return may_be_more && came_further;
}

}  // namespace postino::outbox
