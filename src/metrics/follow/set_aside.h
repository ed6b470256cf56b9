// Changes that could not be handled: set aside, so that the others go on, and kept for operators to look at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::metrics {

inline constexpr std::string_view set_aside_index = "SetAsideIndex";
inline constexpr base::Milliseconds set_aside_kept = std::chrono::hours(24 * 30);

struct SetAside {
  std::string id;        // "set-aside#tickets#100000000000000000042"
  std::string follower;  // "tickets"
  std::string table;     // whose change it is
  std::string reason;
  base::TimePoint at;
  std::string event;     // INSERT, MODIFY or REMOVE; SCAN: an item that was found when all were counted again; GAP
  std::string sequence;  // of the record; empty: there is none
  item::Map keys;
  std::optional<item::Item> old_image;  // of records that are not too large to be kept
  std::optional<item::Item> new_image;
  std::optional<base::TimePoint> changed_at = std::nullopt;  // of a record
};

// An id for callers, that can stand in a path as it is: "tickets~100000000000000000042"; and back.
std::string public_id(const std::string& id);
std::string private_id(const std::string& id);

std::string_view event_name(store::ChangeType type);

SetAside set_aside_record(const std::string& follower, const std::string& table, const store::StreamRecord& record,
                          std::string reason, base::TimePoint now);
// For what the store does not take with them.
SetAside without_images(SetAside aside);
// An item that cannot be counted. The same item has the same id.
SetAside set_aside_item(const std::string& follower, const std::string& table, const item::Key& keys,
                        std::string reason, base::TimePoint now);
// Changes that no follower will see: the stream did not keep them until they were read.
SetAside set_aside_gap(const std::string& follower, const std::string& table, std::string reason, base::TimePoint now);

// The record as it was in the stream; nullopt when not enough of it was kept.
std::optional<store::StreamRecord> record_of(const SetAside& aside);

item::Item stored_form(const SetAside& record);
base::Result<SetAside> read_set_aside(const item::Item& item);

// Safe to use from any thread.
class SetAsideList {
 public:
  static constexpr int largest_page = 200;

  // The store must outlive it.
  SetAsideList(store::Store& store, std::string table, store::Retry retry)
      : store_(store), table_(std::move(table)), retry_(std::move(retry)) {}

  struct Page {
    std::vector<SetAside> records;  // newest first
    std::string cursor;             // empty at the end
  };
  // invalid when the limit is not from 1 to 200, or the cursor is none.
  base::Result<Page> page(const std::string& cursor, int limit);
  // nullopt: there is none of this id.
  base::Result<std::optional<SetAside>> find(const std::string& id);
  // When an operator has seen to it. False: there is none of this id.
  base::Result<bool> remove(const std::string& id);

 private:
  store::Store& store_;
  const std::string table_;
  const store::Retry retry_;
};

}  // namespace postino::metrics
