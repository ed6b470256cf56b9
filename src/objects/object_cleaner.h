// Removes objects that no item refers to any more: those of items that were removed, have expired or were written
// again, which the table's change stream tells, and those that a crash has left, which are found by looking at all
// objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "objects/item_objects.h"
#include "objects/object_store.h"
#include "store/noted_feed.h"
#include "store/store.h"

namespace postino::objects {

struct CleanerOptions {
  // An object that nothing refers to may be one whose item is being written. After so long it is not.
  base::Milliseconds orphan_age = std::chrono::hours(24);
  // After all objects were seen, the next look begins so long after it.
  base::Milliseconds sweep_pause = std::chrono::hours(6);
  // How often the place in the stream is written down. What comes after it is looked at again by the next process.
  base::Milliseconds position_pause = std::chrono::minutes(1);
  // Of several processes the one that has it follows the stream; nullptr: each does. It must outlive the cleaner.
  store::Lease* lease = nullptr;
};

// How many were removed, ever.
struct CleanerCounts {
  std::uint64_t removed = 0;  // because the stream told
  std::uint64_t orphans = 0;  // because nothing referred to them
  std::uint64_t gaps = 0;     // times that changes were missed
};

// For one table. Several processes may clean the same one. For one thread, except
// stop_waiting().
class ObjectCleaner {
 public:
  // `store` shows the items as they are in the table. All must outlive it.
  ObjectCleaner(store::Store& store, ObjectStore& objects, KeyedTable table, std::vector<ObjectKind> kinds,
                const base::Clock& clock, CleanerOptions options = {});
  ~ObjectCleaner();
  ObjectCleaner(const ObjectCleaner&) = delete;
  ObjectCleaner& operator=(const ObjectCleaner&) = delete;

  // Looks at what the stream has, up to a hundred changes; waits up to `patience` for the first. How many changes there
  // were. A table without a stream that shows items before their change has none. After an error it goes on where it
  // was. If changes were missed, objects of theirs are found by age.
  base::Result<int> follow_once(base::Milliseconds patience);
  // Wakes a waiting follow_once(), which waits for no change from now on. From any thread.
  void stop_waiting() { feed_.close(); }

  // Looks at up to `limit` objects, and starts over when all were seen and the pause is over. How many were looked at.
  // Nothing is removed while the clock is doubted, and nothing at all (conflict) if the objects are those of another
  // table of the same name: of another store that uses the same bucket, or of one that was there before. Which table
  // they belong to is noted beside them, in the object owners/{table}.
  base::Result<int> sweep_some(int limit);

  // Writes down the place in the stream, in the object positions/{table}/{id of the table}.
  base::Result<void> save_position();
  // The last call: another process may follow the stream at once.
  void leave() { feed_.leave(); }

  const CleanerCounts& counts() const { return counts_; }

 private:
  // The text of the place, as store/place_form.h has it.
  class ObjectNote final : public store::PlaceNote {
   public:
    explicit ObjectNote(ObjectCleaner& cleaner) : cleaner_(cleaner) {}
    base::Result<std::optional<store::StreamPlace>> read() override;
    base::Result<void> write(const store::StreamPlace& place) override;

   private:
    base::Result<std::string> name() const;
    ObjectCleaner& cleaner_;
  };

  base::Result<void> look_at(const store::StreamRecord& record);
  base::Result<bool> is_referred_to(const ObjectKind& kind, const item::Key& owner, const std::string& name);
  base::Result<void> check_ownership();
  base::Result<std::string> table_id();

  store::Store& store_;
  ObjectStore& objects_;
  const KeyedTable table_;
  const std::vector<ObjectKind> kinds_;
  const base::Clock& clock_;
  const CleanerOptions options_;
  CleanerCounts counts_;

  ObjectNote note_{*this};
  store::NotedFeed feed_;

  std::size_t swept_kind_ = 0;
  std::string swept_;  // the last object that was looked at
  base::Milliseconds next_sweep_{0};
};

}  // namespace postino::objects
