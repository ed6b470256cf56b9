#include "engine/upkeep/token_sweeper.h"

#include <algorithm>

#include "engine/items/transaction_tokens.h"

namespace postino::engine {

namespace {

constexpr std::size_t tokens_per_round = 1'000;
constexpr std::size_t tokens_per_commit = 50;  // few, because their locks are held together

}  // namespace

store::Answer<bool> TokenSweeper::run_once() {
  // Expired means: its millisecond is now or has been.
  const std::string end = token_expiry_key({}, core_.now() + base::Milliseconds(1));
  if (next_.empty()) next_ = token_expiry_key({}, base::TimePoint());
  if (next_ >= end) return false;
  const rocksdb::Slice lower(next_);
  const rocksdb::Slice upper(end);
  std::vector<std::string> expired;
  const auto entries = core_.database->iterate(Family::tokens, lower, upper);
  for (entries->SeekToFirst(); entries->Valid() && expired.size() < tokens_per_round; entries->Next())
    expired.push_back(entries->key().ToString());
  if (!entries->status().ok()) return base::propagate(store::Error(error_from(entries->status())));

  std::vector<std::shared_ptr<CommitEntry>> queued;
  for (std::size_t first = 0; first < expired.size(); first += tokens_per_commit) {
    const std::size_t count = std::min(tokens_per_commit, expired.size() - first);
    TRY(auto entry, plan(std::span(expired).subspan(first, count)));
    queued.push_back(std::move(entry));
  }
  for (const auto& entry : queued) TRY_VOID(core_.queue->wait(entry));
  if (!expired.empty()) next_ = expired.back() + '\0';
  return expired.size() == tokens_per_round;
}

base::Result<std::shared_ptr<CommitEntry>> TokenSweeper::plan(std::span<const std::string> expiry_keys) {
  std::vector<std::size_t> stripes;
  for (const std::string& key : expiry_keys)
    stripes.push_back(KeyLocks::stripe_of(token_lock_key(token_of_expiry_key(key))));
  const KeyLocks::Guard guard = core_.locks.lock(std::move(stripes));
  auto entry = std::make_shared<CommitEntry>();
  for (const std::string& key : expiry_keys) {
    const std::string token = token_of_expiry_key(key);
    bool depends_on_pending = false;
    // A token may have been used again since; then its record belongs to the later use.
    TRY(const auto in_use, find_token(core_, token, depends_on_pending));
    if (!in_use) entry->remove(Family::tokens, token_key(token));
    entry->remove(Family::tokens, key);
  }
  core_.queue->enqueue(entry);
  return entry;
}

}  // namespace postino::engine
