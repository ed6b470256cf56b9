// Where a repair puts what, so that it can be killed at any moment: the next one finishes it or begins again, and
// neither removes a damaged store or anything that the repair has not made.
//
//   repairing/           below the data directory: the new store while it is made. A damaged store is never in it. As
//                        long as it is there, no store is opened in the data directory.
//   repairing/PLACE      the name of the place: a directory below the data directory in which the damaged store and the
//                        new one change places. Without --to the damaged store stays there.
//   repairing/KEPT_IN    the path of the target, with --to
//   TARGET/UNFINISHED    in the target until the new store is in its place, with the path of the data directory. So
//   long
//                        `store`, `STATE` and `LOST` beside it are no more than copies, which may be removed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/recovery/repair_step.h"
#include "engine/storage/store_state.h"

namespace postino::engine {

// The report, beside the damaged store.
inline constexpr const char* lost_report_name = "LOST";

class RepairPlaces {
 public:
  explicit RepairPlaces(const std::filesystem::path& directory) : directory_(directory) {}

  // Makes the target, or takes an empty directory, or one that an interrupted repair of this data directory has left.
  // conflict when there is anything else.
  base::Result<void> take_target(const std::filesystem::path& target);
  // Makes repairing/ with its notes, and the place.
  base::Result<void> make_work(base::TimePoint now);

  const std::filesystem::path& target() const { return target_; }  // empty without --to
  const std::filesystem::path& place() const { return place_; }
  // Where the damaged store will be.
  const std::filesystem::path& kept_in() const { return target_.empty() ? place_ : target_; }

  // The two stores have changed places: the damaged one goes to the target. Where it was copied there before, the one
  // in the place is removed if this process has copied it, and is left there otherwise. If it cannot go to the target,
  // it stays where it is. Notes say so. Returns where it is.
  std::filesystem::path settle(bool has_copied, const AtStep& at, std::vector<std::string>& notes) const;

  // Nothing was exchanged: what the repair has made goes. `made` is the record of the new store, if it came so far.
  void discard(const std::optional<StoreState>& made) const;

  // After a repair that was interrupted.
  void read_notes();
  // Where two renames were needed for the exchange, and only one was done.
  base::Result<void> mend_exchange() const;
  // Is this the store in the data directory?
  bool is_in_place(const StoreState& made) const;

 private:
  base::Result<void> move_to_target(const AtStep& at) const;
  void discard_copies(const std::filesystem::path& where) const;
  bool is_ours(const std::filesystem::path& target) const;

  const std::filesystem::path directory_;
  std::filesystem::path target_;
  std::filesystem::path place_;
  bool made_target_ = false;  // by this process
};

// The next free name for a damaged store below the data directory.
std::filesystem::path free_place(const std::filesystem::path& directory, base::TimePoint now);

}  // namespace postino::engine
