#include "outbox/work/fair_turns.h"

#include <algorithm>

namespace postino::outbox {

namespace {

// What takes no time by the clock counts as well, so that those who are equal take turns.
constexpr base::Milliseconds least_time{1};
// No destination waits longer than this for others that had less: neither after a clock that was set, nor after one
// very slow answer.
constexpr std::int64_t most_behind = 10'000;

}  // namespace

void FairTurns::put(Lanes::iterator lane) {
  lane->second.waits = true;
  lane->second.number = ++numbers_;
  order_.insert({lane->second.turn, lane->second.number, &lane->first});
}

void FairTurns::take(Lanes::iterator lane) {
  lane->second.waits = false;
  order_.erase({lane->second.turn, lane->second.number, &lane->first});
}

void FairTurns::wait(const DestinationNames& names) {
  const auto [lane, is_new] = lanes_.try_emplace(names);
  if (is_new) lane->second.turn = now_;
  if (!lane->second.waits) put(lane);
}

base::Milliseconds FairTurns::begin(const DestinationNames& names, bool others_wait) {
  const auto lane = lanes_.find(names);
  take(lane);
  const base::Milliseconds thought = std::max(lane->second.last_took, least_time);
  // A lane that could not have its turns earlier does not get all of them now.
  now_ = std::max(now_, lane->second.turn);
  lane->second.turn = now_ + std::min<std::int64_t>(thought.count(), most_behind);
  ++lane->second.under_way;
  if (others_wait) put(lane);
  return thought;
}

void FairTurns::finish(const DestinationNames& names, base::Milliseconds thought, base::Milliseconds took) {
  const auto lane = lanes_.find(names);
  if (lane == lanes_.end()) return;  // all was given back meanwhile
  const bool others_wait = lane->second.waits;
  if (others_wait) take(lane);
  lane->second.turn = std::min(lane->second.turn + (took - thought).count(), now_ + most_behind);
  lane->second.last_took = took;
  --lane->second.under_way;
  if (others_wait)
    put(lane);
  else if (lane->second.under_way == 0)
    lanes_.erase(lane);
}

void FairTurns::clear() {
  order_.clear();
  lanes_.clear();
}

}  // namespace postino::outbox
