// In which order workers go to the lanes, the e-mails that are for the same destinations: to the one that has had the
// least of their time. So what is done quickly is not kept waiting by what takes long, however many of both there are.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/clock.h"
#include "outbox/work/destinations.h"

namespace postino::outbox {

// For one thread at a time. No call costs more because more e-mails wait.
class FairTurns {
 public:
  // Its turn comes after those of the lanes that have had less time, and of those that had as much and were there
  // before.
  struct Place {
    std::int64_t turn;
    std::uint64_t number;
    const DestinationNames* lane;

    bool operator<(const Place& other) const { return turn != other.turn ? turn < other.turn : number < other.number; }
  };

  // Something waits in this lane.
  void wait(const DestinationNames& names);
  // The lanes in which something waits, in their order.
  const std::set<Place>& order() const { return order_; }

  // A worker begins with one of a lane, where others wait still or not. Answers the time that this is thought to take.
  base::Milliseconds begin(const DestinationNames& names, bool others_wait);
  // It is done with it, after so long.
  void finish(const DestinationNames& names, base::Milliseconds thought, base::Milliseconds took);

  // Nothing waits any more.
  void clear();

 private:
  struct Lane {
    std::int64_t turn = 0;  // the time that it has had, in milliseconds, counted from that of others when it came
    bool waits = false;
    std::uint64_t number = 0;  // of its place, if it waits
    int under_way = 0;
    base::Milliseconds last_took{0};
  };
  using Lanes = std::map<DestinationNames, Lane>;

  void put(Lanes::iterator lane);
  void take(Lanes::iterator lane);

  Lanes lanes_;  // in which something waits or is under way
  std::set<Place> order_;
  std::int64_t now_ = 0;  // the turn of the lane that had the last one
  std::uint64_t numbers_ = 0;
};

}  // namespace postino::outbox
