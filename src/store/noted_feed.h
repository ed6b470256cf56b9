// A change feed whose place is noted apart from what its reader does. What was done after the last note is done again
// by the next process, so it must be something that can be done twice; and several processes may do it at once. With a
// lease, one of them does it at a time: where many read a stream, the service refuses some.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/this_thread.h"
#include "store/change_feed.h"
#include "store/lease.h"

namespace postino::store {

// Where a place is noted.
class PlaceNote {
 public:
  virtual ~PlaceNote() = default;
  // nullopt: there is none, or none that can be read.
  virtual base::Result<std::optional<StreamPlace>> read() = 0;
  virtual base::Result<void> write(const StreamPlace& place) = 0;
};

// An item of a table: its key, `sequence` or `shards`, and `stream` (place_form.h). It may be the table whose changes
// are read.
class ItemNote final : public PlaceNote {
 public:
  // The store must outlive it.
  ItemNote(Store& store, std::string table, item::Key key)
      : store_(store), table_(std::move(table)), key_(std::move(key)) {}

  base::Result<std::optional<StreamPlace>> read() override;
  base::Result<void> write(const StreamPlace& place) override;

 private:
  Store& store_;
  const std::string table_;
  const item::Key key_;
};

// What is missed by a reader that has no place yet: it may never have been there.
inline constexpr std::string_view no_place_noted = "no place was noted";

// For one thread at a time, except close().
class NotedFeed {
 public:
  // All must outlive it. Between two calls of note_in_time() that write the place there is this pause at least. Without
  // a lease it reads whether or not others do.
  NotedFeed(Store& store, std::string table, PlaceNote& note, const base::Clock& clock, base::Milliseconds pause,
            Lease* lease = nullptr)
      : feed_(store, std::move(table)),
        note_(note),
        clock_(clock),
        pause_(pause),
        lease_(lease),
        noted_at_(clock.monotonic()) {}

  // As of ChangeFeed, but it begins by itself: with the place that was noted, and where there is none, or changes were
  // missed, with the oldest record. Then `missed` says so, once, beside the first records; what was noted stays until
  // the next note. not_found: there is no such table, or it has no stream. While another process has the lease there
  // are no changes; afterwards it goes on from the note of that one.
  base::Result<Changes> next(int limit, base::Milliseconds timeout);
  // Is it this process that reads? next() asks this, too: it is for those who do something else between two calls.
  base::Result<bool> has_turn();
  void done(const StreamRecord& record) { feed_.move_to(record); }
  void drop() { feed_.drop(); }
  void close() {  // from any thread
    waiting_.end();
    feed_.close();
  }
  // The last call: lets another process go on at once.
  void leave();

  // Writes the place, if it has moved. Nothing while another process reads.
  base::Result<void> note();
  base::Result<void> note_in_time();

 private:
  base::Result<void> recall();
  base::Result<void> begin(std::string missed);
  base::Result<Changes> read(int limit, base::Milliseconds timeout);

  ChangeFeed feed_;
  PlaceNote& note_;
  const base::Clock& clock_;
  const base::Milliseconds pause_;
  Lease* const lease_;   // may be nullptr
  base::Pause waiting_;  // for the turn
  bool is_recalled_ = false;
  std::string missed_;  // and not told yet
  std::optional<StreamPlace> noted_;
  base::Milliseconds noted_at_;
};

}  // namespace postino::store
