// Parsed expressions by their text. An application sends the same few texts over and over; parsing them each time
// would cost more than evaluating them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace postino::expr {

// Bounded by the bytes of text it holds, because a tree is at most some fixed multiple of its text. Safe to use from
// any thread; finding an entry takes a shared lock on one of several shards and allocates nothing.
template <class Tree>
class ExpressionCache {
 public:
  using Parsed = std::shared_ptr<const Tree>;
  static constexpr std::size_t shard_count = 16;
  static constexpr std::size_t entry_overhead = 64;  // counted for each entry besides its text

  explicit ExpressionCache(std::size_t capacity) : shard_capacity_(capacity / shard_count) {}

  // nullptr when it is not there.
  Parsed find(std::string_view text) const {
    const std::uint64_t hash = base::fast_hash(text);
    const Shard& shard = shards_[hash % shard_count];
    const std::shared_lock lock(shard.mutex);
    const auto found = shard.entries.find(Key{text, hash});
    if (found == shard.entries.end()) return nullptr;
    // Written only when it changes anything, so that readers on many cores do not fight for the line.
    if (!found->second->used.load(std::memory_order_relaxed))
      found->second->used.store(true, std::memory_order_relaxed);
    return found->second->parsed;
  }

  // Replaces nothing: of two threads that parsed the same text, the first one's tree stays.
  void insert(std::string_view text, Parsed parsed) {
    const std::size_t cost = text.size() + entry_overhead;
    if (cost > shard_capacity_) return;
    const std::uint64_t hash = base::fast_hash(text);
    Shard& shard = shards_[hash % shard_count];
    auto entry = std::make_unique<Entry>(std::string(text), hash, std::move(parsed));
    const std::unique_lock lock(shard.mutex);
    if (shard.entries.contains(Key{text, hash})) return;
    while (shard.cost + cost > shard_capacity_) evict_one(shard);
    shard.cost += cost;
    shard.entries.emplace(Key{entry->text, hash}, entry.get());
    shard.queue.push_back(std::move(entry));
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (const Shard& shard : shards_) {
      const std::shared_lock lock(shard.mutex);
      count += shard.entries.size();
    }
    return count;
  }

 private:
  struct Entry {
    Entry(std::string text_in, std::uint64_t hash_in, Parsed parsed_in)
        : text(std::move(text_in)), hash(hash_in), parsed(std::move(parsed_in)) {}
    std::string text;
    std::uint64_t hash;
    Parsed parsed;
    std::atomic<bool> used = false;
  };

  struct Key {
    std::string_view text;
    std::uint64_t hash;
    friend bool operator==(const Key& a, const Key& b) { return a.hash == b.hash && a.text == b.text; }
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.hash; }
  };

  struct alignas(64) Shard {
    mutable std::shared_mutex mutex;
    std::unordered_map<Key, Entry*, KeyHash> entries;  // keys view the entries' own text
    std::deque<std::unique_ptr<Entry>> queue;          // oldest first
    std::size_t cost = 0;
  };

  // The oldest entry goes, unless it was used: then it counts as new.
  static void evict_one(Shard& shard) {
    while (true) {
      std::unique_ptr<Entry> oldest = std::move(shard.queue.front());
      shard.queue.pop_front();
      if (oldest->used.exchange(false, std::memory_order_relaxed)) {
        shard.queue.push_back(std::move(oldest));
        continue;
      }
      shard.cost -= oldest->text.size() + entry_overhead;
      shard.entries.erase(Key{oldest->text, oldest->hash});
      return;
    }
  }

  const std::size_t shard_capacity_;
  std::vector<Shard> shards_ = std::vector<Shard>(shard_count);
};

}  // namespace postino::expr
