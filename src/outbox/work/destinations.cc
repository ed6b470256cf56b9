#include "outbox/work/destinations.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace postino::outbox {

namespace {

// With more, those of which nothing is claimed are forgotten, unless they have a pause.
constexpr std::size_t many_destinations = 10'000;

// A claim is a commit: worth it for some e-mails.
constexpr int least_batch = 8;

// A turn that is taken so much too late moves none of the next ones.
constexpr std::chrono::milliseconds lateness{20};

// A destination may have this many times the workers that it leaves free, of which one is always for others.
constexpr int times_the_free = 3;

// A destination that takes a worker for so long is slow.
constexpr base::Milliseconds slow{1'000};
// Of what one e-mail took, as much counts: after a few quick answers it is over.
constexpr base::Milliseconds longest_counted = 4 * slow;

// Of so many workers, one is kept for those that are not slow: all slow ones together may have as much as one
// destination.
constexpr int workers_for_one_kept = times_the_free + 1;

int count_kept(int workers) { return workers > 1 ? std::max(1, workers / workers_for_one_kept) : 0; }
// Half of them are for those that are known to answer: the other half lets new ones show that they do.
int count_kept_for_quick_ones(int workers) { return count_kept(workers) / 2; }
// The same of claims, where workers are kept at all.
int count_claims_for_quick_ones(int workers, int most_claimed) {
  constexpr int claims_for_one_kept = 8;
  return count_kept_for_quick_ones(workers) > 0 ? most_claimed / claims_for_one_kept : 0;
}

int most_at_work(const DestinationRules& rules, int workers) {
  int most = std::max(1, workers * times_the_free / (times_the_free + 1));
  if (rules.concurrency > 0) most = std::min(most, rules.concurrency);
  // What comes to its turn within a second need not be claimed before.
  if (rules.rate > 0) most = std::min(most, std::max(1, static_cast<int>(std::ceil(std::min(rules.rate, 1e6)))));
  return most;
}

bool have_common(const DestinationNames& some, const DestinationNames& others) {
  return std::ranges::any_of(some,
                             [&](const std::string& name) { return std::ranges::find(others, name) != others.end(); });
}

// In names of obstacles: one destination, whatever else its e-mails are for.
constexpr char mark_of_one = '@';
// All that may be claimed is.
const std::string obstacle_of_all = "*";
// All that may be claimed of slow ones is; or of those that have never answered, with the slow ones.
const std::string obstacle_of_slow_ones = "~";
const std::string obstacle_of_untried_ones = "?";

// The name of the obstacle that those for the same destinations share. Names of destinations have no spaces.
std::string lane_name_of(const DestinationNames& names) {
  std::string lane;
  for (const std::string& name : names) lane += (lane.empty() ? "" : " ") + name;
  return lane;
}

}  // namespace

// As many wait as are worked on, so that no worker waits for a claim, and a batch besides.
Destinations::Destinations(DestinationRules rules, int workers, int batch)
    : rules_(rules),
      workers_(workers),
      most_working_(most_at_work(rules, workers)),
      low_(2 * most_working_),
      high_(low_ + std::min(batch, std::max(low_, least_batch))),
      most_for_one_(2 * high_),
      most_claimed_(8 * (2 * workers + batch)),
      slow_{workers - count_kept(workers), most_claimed_ / 2},
      slow_or_untried_{workers - count_kept_for_quick_ones(workers),
                       most_claimed_ - count_claims_for_quick_ones(workers, most_claimed_)} {}

// A lane is as good as the least known of its destinations. Without any, no destination is waited for.
Destinations::Pace Destinations::pace_of(const DestinationNames& names) const {
  if (const auto lane = lanes_.find(lane_name_of(names)); lane != lanes_.end()) return lane->second.pace;
  const bool all_answer = std::ranges::all_of(names, [&](const std::string& name) { return answered_.contains(name); });
  return all_answer ? Pace::quick : Pace::untried;
}

Destinations::Lane& Destinations::lane_of(const DestinationNames& names) {
  const Pace pace = pace_of(names);
  Lane& lane = lanes_[lane_name_of(names)];
  lane.pace = pace;
  return lane;
}

void Destinations::count(Pace pace, int working, int claimed) {
  if (pace == Pace::quick) return;
  slow_or_untried_.working += working;
  slow_or_untried_.claimed += claimed;
  if (pace == Pace::untried) return;
  slow_.working += working;
  slow_.claimed += claimed;
}

// The less is left for all, the less one may have. A destination that has nothing gets something.
bool Destinations::has_room(const std::string& lane_name) {
  const auto found = lanes_.find(lane_name);
  if (found == lanes_.end()) return true;
  Lane& lane = found->second;
  int left = most_claimed_ - claimed_;
  if (lane.pace == Pace::untried) left = std::min(left, slow_or_untried_.most_claimed - slow_or_untried_.claimed);
  const bool is_full = lane.claimed >= high_ || (lane.claimed > 0 && lane.claimed >= left / 2);
  if (is_full && !std::exchange(lane.is_closed, true)) ++closed_;
  return !lane.is_closed;
}

// When they have drained a bit, it is worth another look.
bool Destinations::is_full(Share& share) {
  if (share.claimed >= share.most_claimed) share.is_closed = true;
  return share.is_closed;
}

void Destinations::reopen_if_drained(Share& share) {
  if (!share.is_closed || share.claimed > share.most_claimed - least_batch) return;
  share.is_closed = false;
  reopened_ = true;
}

bool Destinations::is_crowded(const std::string& name, base::TimePoint now) const {
  const auto found = destinations_.find(name);
  return found != destinations_.end() && (found->second.paused_until > now || found->second.claimed >= most_for_one_);
}

std::optional<std::string> Destinations::obstacle(const DestinationNames& names, base::TimePoint now, Wanted wanted) {
  if (names.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (claimed_ >= most_claimed_) return obstacle_of_all;
  for (const std::string& name : names)
    if (is_crowded(name, now)) return mark_of_one + name;
  std::string lane_name = lane_name_of(names);
  const auto lane = lanes_.find(lane_name);
  const Pace pace = pace_of(names);
  if (pace == Pace::slow && is_full(slow_)) return obstacle_of_slow_ones;
  if (pace == Pace::untried && is_full(slow_or_untried_)) return obstacle_of_untried_ones;
  const bool is_wanted = wanted == Wanted::all || lane == lanes_.end() || lane->second.claimed < low_;
  if (is_wanted && has_room(lane_name)) return std::nullopt;
  return lane_name;
}

bool Destinations::is_gone(const std::string& obstacle, base::TimePoint now, Wanted wanted) {
  const std::lock_guard lock(mutex_);
  if (obstacle == obstacle_of_all) return claimed_ < most_claimed_;
  if (obstacle == obstacle_of_slow_ones) return !is_full(slow_);
  if (obstacle == obstacle_of_untried_ones) return !is_full(slow_or_untried_);
  if (obstacle.starts_with(mark_of_one)) return !is_crowded(obstacle.substr(1), now);
  const auto lane = lanes_.find(obstacle);
  if (lane == lanes_.end()) return true;
  if (wanted == Wanted::newcomers && lane->second.claimed >= low_) return false;
  return has_room(obstacle);
}

void Destinations::claimed(const DestinationNames& names) {
  const std::lock_guard lock(mutex_);
  ++claimed_;
  Lane& lane = lane_of(names);
  ++lane.claimed;
  count(lane.pace, 0, 1);
  for (const std::string& name : names) ++destinations_[name].claimed;
}

void Destinations::given_up(const DestinationNames& names) {
  const std::lock_guard lock(mutex_);
  leave(names, false);
}

bool Destinations::is_free(const std::string& name, base::TimePoint now) const {
  const auto found = destinations_.find(name);
  if (found == destinations_.end()) return true;
  const Destination& destination = found->second;
  if (destination.paused_until > now || (rules_.rate > 0 && destination.next_free > now)) return false;
  if (rules_.concurrency > 0 && destination.working >= rules_.concurrency) return false;
  const int others_may_have = workers_ - working_ - 1;
  return destination.working == 0 || destination.working < times_the_free * others_may_have;
}

bool Destinations::is_held_back(const DestinationNames& names) const {
  const Pace pace = pace_of(names);
  const Share& share = pace == Pace::slow ? slow_ : slow_or_untried_;
  return pace != Pace::quick && share.working >= share.most_working;
}

bool Destinations::may_begin_now(const DestinationNames& names, base::TimePoint now) const {
  if (is_held_back(names)) return false;
  const bool is_booked = !booked_.empty() && booked_ != names && have_common(booked_, names);
  if (is_booked && !is_held_back(booked_)) return false;
  return std::ranges::all_of(names, [&](const std::string& name) { return is_free(name, now); });
}

bool Destinations::may_begin(const DestinationNames& names, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  return may_begin_now(names, now);
}

bool Destinations::begin(const DestinationNames& names, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  find_slow_ones(now);
  if (!may_begin_now(names, now)) return false;
  if (booked_ == names) booked_.clear();
  latest_ = std::max(latest_, now);
  begin_work(lane_of(names), now);
  for (const std::string& name : names) {
    Destination& destination = destinations_[name];
    ++destination.working;
    if (rules_.rate > 0) {
      const bool is_just_past = destination.next_free > now - lateness;
      destination.next_free = (is_just_past ? destination.next_free : Moment(now)) +
                              std::chrono::microseconds(static_cast<std::int64_t>(1'000'000 / rules_.rate));
    }
  }
  return true;
}

void Destinations::begin_work(Lane& lane, base::TimePoint now) {
  ++working_;
  count(lane.pace, 1, 0);
  if (lane.working++ > 0) return;
  lane.last_end = now;
  at_work_.insert(&lane);
}

void Destinations::end_work(Lane& lane) {
  --working_;
  count(lane.pace, -1, 0);
  if (--lane.working == 0) at_work_.erase(&lane);
}

void Destinations::set_pace(Lane& lane, Pace pace) {
  count(lane.pace, -lane.working, -lane.claimed);
  count(pace, lane.working, lane.claimed);
  lane.pace = pace;
}

// Others that the lane shares a destination with learn of it when they start over.
void Destinations::note_answer(const DestinationNames& names, base::TimePoint now, bool is_quick) {
  for (const std::string& name : names) {
    if (is_quick)
      answered_.insert_or_assign(name, now);
    else
      answered_.erase(name);
  }
  if (answered_.size() < many_destinations) return;
  const base::TimePoint recent = now - std::chrono::hours(1);
  std::erase_if(answered_, [&](const auto& each) { return each.second < recent; });
  if (answered_.size() >= many_destinations) answered_.clear();
}

void Destinations::find_slow_ones(base::TimePoint now) {
  for (Lane* lane : at_work_) {
    if (now - lane->last_end < slow) continue;
    lane->usual = std::max(lane->usual, slow);
    set_pace(*lane, Pace::slow);
  }
}

void Destinations::put_off(const DestinationNames& names) {
  const std::lock_guard lock(mutex_);
  end_work(lane_of(names));
}

void Destinations::resume(const DestinationNames& names, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  begin_work(lane_of(names), now);
}

void Destinations::finished(const DestinationNames& names, base::TimePoint now, base::Milliseconds took) {
  const std::lock_guard lock(mutex_);
  Lane& lane = lane_of(names);
  lane.last_end = now;
  took = std::min(took, longest_counted);
  // One slow answer is enough; a quick one is not.
  lane.usual = std::max(took, (lane.usual + took) / 2);
  const bool is_quick = lane.usual < slow;
  set_pace(lane, is_quick ? Pace::quick : Pace::slow);
  note_answer(names, now, is_quick);
  leave(names, true);
}

void Destinations::leave(const DestinationNames& names, bool was_working) {
  if (claimed_-- >= most_claimed_) reopened_ = true;
  if (booked_ == names) booked_.clear();
  const auto lane = lanes_.find(lane_name_of(names));
  if (was_working) end_work(lane->second);
  --lane->second.claimed;
  count(lane->second.pace, 0, -1);
  if (lane->second.is_closed && lane->second.claimed <= low_) {
    lane->second.is_closed = false;
    --closed_;
    reopened_ = true;
  }
  forget_if_idle(lane);
  reopen_if_drained(slow_);
  reopen_if_drained(slow_or_untried_);
  for (const std::string& name : names) {
    Destination& destination = destinations_[name];
    if (destination.claimed-- == most_for_one_) reopened_ = true;
    if (was_working) --destination.working;
    forget_if_idle(name);
  }
}

// A lane without e-mails is remembered if it is slow.
void Destinations::forget_if_idle(std::map<std::string, Lane>::iterator lane) {
  if (lane->second.claimed > 0 || lane->second.working > 0) return;
  if (lane->second.pace != Pace::slow) lanes_.erase(lane);
  if (lanes_.size() >= many_destinations)
    std::erase_if(lanes_, [](const auto& each) { return each.second.claimed == 0 && each.second.working == 0; });
}

// A destination that has nothing under way is remembered for its next turn and its pause alone.
void Destinations::forget_if_idle(const std::string& name) {
  const auto found = destinations_.find(name);
  const Destination& destination = found->second;
  if (destination.claimed > 0) return;
  if (destination.next_free == Moment() && destination.paused_until == base::TimePoint()) destinations_.erase(found);
  if (destinations_.size() < many_destinations) return;
  std::erase_if(destinations_, [&](const auto& each) {
    return each.second.claimed == 0 && each.second.next_free <= latest_ && each.second.paused_until <= latest_;
  });
}

std::optional<base::TimePoint> Destinations::turn_of(const DestinationNames& names, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  std::optional<base::TimePoint> turn;
  for (const std::string& name : names) {
    const auto found = destinations_.find(name);
    if (found == destinations_.end()) continue;
    const base::TimePoint next =
        std::max(found->second.paused_until, std::chrono::ceil<base::Milliseconds>(found->second.next_free));
    if (next > now) turn = std::max(turn.value_or(next), next);
  }
  return turn;
}

void Destinations::pause(const std::string& name, base::TimePoint until) {
  const std::lock_guard lock(mutex_);
  base::TimePoint& paused_until = destinations_[name].paused_until;
  paused_until = std::max(paused_until, until);
  // Others do not wait for the pause.
  if (std::ranges::find(booked_, name) != booked_.end()) booked_.clear();
}

void Destinations::book(const DestinationNames& names, base::TimePoint now) {
  const std::lock_guard lock(mutex_);
  const bool has_pause = std::ranges::any_of(names, [&](const std::string& name) {
    const auto found = destinations_.find(name);
    return found != destinations_.end() && found->second.paused_until > now;
  });
  if (booked_.empty() && !has_pause && !is_held_back(names)) booked_ = names;
}

bool Destinations::has_closed() {
  const std::lock_guard lock(mutex_);
  return closed_ > 0 || slow_.is_closed || slow_or_untried_.is_closed;
}

bool Destinations::take_reopened() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reopened_, false);
}

}  // namespace postino::outbox
