// Where a queue or a listing has been cleared: ranges of keys in which a reader has found nothing but what was removed.
//
// RocksDB steps over removed keys one by one until it has compacted them, and a listing that is read from the end where
// everything is removed soon would pay for all that was sent since. The first reader pays once; those after it leave
// the range out. A writer that puts a key into a range ends it there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/storage/keys.h"

namespace postino::engine {

// Of one column family. Safe to use from any thread.
class EmptyRanges {
 public:
  // So many removed keys between two others are worth remembering: stepping over fewer takes less than 50 microseconds.
  static constexpr std::uint64_t worth_remembering = 200;

  // A read, from before its iterator is made until it is done with it.
  class Watch {
   public:
    Watch(EmptyRanges& ranges, const KeyRange& range);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // What is left of the range without those that are known to be empty, in the order of the keys.
    const std::vector<KeyRange>& parts() const { return parts_; }

    // The iterator found nothing there. What has been put there since the watch began is left out.
    void found_empty(KeyRange range);

   private:
    friend class EmptyRanges;

    static constexpr std::size_t most_puts = 1'000;  // after more it no longer knows what is empty

    void note_put(std::string_view key);

    EmptyRanges& ranges_;
    const KeyRange range_;
    std::vector<KeyRange> parts_;
    std::vector<std::string> puts_;  // into the range, since it began; guarded by the mutex of the ranges
    std::list<Watch*>::iterator place_;
  };

  // What a commit has put. To be called when readers can see it, and before its writers are answered: so a
  // writer that was answered finds what it wrote.
  void note_puts(const std::vector<std::string_view>& keys);

  std::size_t count() const;

 private:
  static constexpr std::size_t most_ranges = 256;

  std::vector<KeyRange> without_empty(const KeyRange& range) const;
  void cut(std::string_view key);
  void add(KeyRange range);

  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> ranges_;  // end by beginning; they do not touch each other
  std::list<Watch*> watches_;
};

}  // namespace postino::engine
