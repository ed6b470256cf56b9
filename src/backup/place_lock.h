// One at a time writes or removes backups in a place, whatever machines they are on.
//
// An object store has no locks. So each puts an object first, and then looks whether others have one: of two at the
// same moment at least one sees the other. The object is written again every half minute; one that was not for three
// minutes is of a process that has ended.
#pragma once

#include <string>

#include "backup/place.h"
#include "base/clock.h"
#include "base/random.h"

namespace postino::backup {

class PlaceLock {
 public:
  // `what` is being done, for others who have to wait. `owner` tells of which store: no other process has that store,
  // so locks of the same owner are left from one that has ended. conflict when the place is taken. `place` and `clock`
  // must outlive it.
  static base::Result<PlaceLock> take(Place& place, const std::string& what, const std::string& owner,
                                      const base::Clock& clock, base::Random& random);
  // Given up; if the place is away, it is over in three minutes.
  ~PlaceLock();
  PlaceLock(PlaceLock&& other) noexcept;
  PlaceLock& operator=(PlaceLock&&) = delete;

  // To be called while the work goes on, before each step that counts on being alone. conflict when the lock was lost:
  // this process stood still for too long, and another has begun.
  base::Result<void> renew();

 private:
  PlaceLock(Place& place, const base::Clock& clock, std::string name, std::string text)
      : place_(&place), clock_(clock), name_(std::move(name)), text_(std::move(text)), renewed_(clock.monotonic()) {}

  Place* place_;
  const base::Clock& clock_;
  const std::string name_;
  const std::string text_;
  base::Milliseconds renewed_;  // by the monotonic clock
};

}  // namespace postino::backup
