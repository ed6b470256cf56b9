#include "engine/items/locked_items.h"

#include "engine/items/expiry_group.h"
#include "engine/items/throughput_enforcement.h"
#include "engine/items/traffic.h"

namespace postino::engine {

void LockedItems::lock(const std::vector<std::string>& keys) {
  std::vector<std::size_t> stripes;
  stripes.reserve(keys.size());
  for (const std::string& key : keys) stripes.push_back(KeyLocks::stripe_of(key));
  guard_.emplace(core_.locks, std::move(stripes));
}

void LockedItems::lock_keys(std::span<const ItemWrite> writes, const std::optional<std::string>& token) {
  std::vector<std::size_t> stripes;
  stripes.reserve(writes.size() + 1);
  for (const ItemWrite& write : writes) stripes.push_back(KeyLocks::stripe_of(write.key));
  if (token) stripes.push_back(KeyLocks::stripe_of(token_lock_key(*token)));
  guard_.emplace(core_.locks, std::move(stripes));
}

base::Result<Decision> LockedItems::decide(const ItemWrite& write, double factor) {
  TRY(StoredItemPointer before, read(write.key));
  store::Answer<StoredItemPointer> after = engine::decide(write, before);
  if (!after) {
    take_failed_write(core_, *write.table, write.key, before, after.error(), factor);
    count_failed_write(core_, *write.table, write.key, before, after.error(), factor);
    return Decision(base::propagate(std::move(after).error()));
  }
  return Decision(Change{write.key, std::move(before), *std::move(after)});
}

std::vector<IndexEffect> LockedItems::plan(const Table& table, Change change, CommitEntry& entry, Origin origin) {
  std::vector<IndexEffect> effects = plan_change(table, change, origin, core_.now(), entry);
  if (change.before != change.after) pending_.emplace_back(std::move(change.key), std::move(change.after));
  return effects;
}

void LockedItems::plan_token(const std::string& token, const TokenRecord& record, CommitEntry& entry) {
  pending_.emplace_back(token_lock_key(token), put_token(token, record, entry));
}

bool LockedItems::queue(const std::shared_ptr<CommitEntry>& entry) {
  if (entry->empty() && !depends_on_pending_) return false;
  plan_new_expiries(*entry);
  // In place before the entry can finish, so that finishing releases them.
  for (const auto& [key, item] : pending_) entry->pending_keys.push_back(key);
  const Ticket ticket = core_.queue->enqueue(entry);
  for (auto& [key, item] : pending_) core_.locks.set_pending(key, {std::move(item), ticket});
  return true;
}

store::Answer<void> find_table(const Core& core, ItemWrite& write) {
  write.table = core.find_table(*write.table_name);
  if (!write.table) return base::propagate(no_such_table());
  return {};
}

store::Answer<void> check_room(const Core& core) {
  if (core.queue->has_room()) return {};
  return store::refuse(store::ErrorType::request_limit_exceeded,
                       "Too many writes are waiting for the disk. Please try again shortly.");
}

}  // namespace postino::engine
