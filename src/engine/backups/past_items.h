// The items that a table had at some time, made of what it has and of its undo records.
//
// Walking over the records from that time on, the first one of each key has what was there. These old images lie in
// memory, in the order of the keys, and are merged with the items that nothing has changed since. If they are more than
// may lie in memory, those with the smallest keys are taken first, and the records are walked over again for the rest.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/storage/database.h"
#include "engine/storage/keys.h"

namespace postino::engine {

// Used by one thread. What is written meanwhile is not seen.
class PastItems {
 public:
  // As they were before the commits from `end` on, and no commit is queued any more that is earlier. `after` is the
  // last stored key that is not wanted any more; empty to begin with the first. `most_bytes` of old images lie in
  // memory at a time.
  PastItems(const Database& database, ObjectId table, base::TimePoint end, std::string_view after,
            std::size_t most_bytes);

  struct Item {
    std::string key;    // as stored
    std::string value;  // a stored item
  };
  struct Portion {
    std::vector<Item> items;             // in the order of their keys; possibly none although there are more
    std::optional<std::string> reached;  // there is nothing more up to this key
    bool is_last = false;
  };
  // Takes a bounded time.
  base::Result<Portion> next();

 private:
  void open_records();
  void open_items();
  // True when all records have been walked over.
  base::Result<bool> walk_over_records();
  void note_image(std::string_view key_rest, const std::optional<std::string_view>& image);
  base::Result<void> merge(Portion& portion);
  void take_image(Portion& portion);
  base::Result<void> end_part(Portion& portion);

  const Database& database_;
  const Snapshot snapshot_;
  const std::string prefix_;  // of all keys of the table
  const std::string end_;
  const std::string first_record_;
  const rocksdb::Slice records_lower_;
  const rocksdb::Slice records_upper_;
  const std::size_t most_bytes_;

  // The part of the table that is worked on: keys in [from_, until_).
  std::string from_;
  std::string until_;
  rocksdb::Slice items_lower_;
  rocksdb::Slice items_upper_;
  std::map<std::string, std::optional<std::string>> images_;  // nullopt: there was no item
  std::size_t image_bytes_ = 0;
  std::unique_ptr<rocksdb::Iterator> records_;  // while they are walked over
  std::unique_ptr<rocksdb::Iterator> items_;    // behind that
};

}  // namespace postino::engine
