// Where e-mails go, as far as workers share something there: the domains of recipients, or the host of a callback. Says
// which e-mails may be begun and which may be claimed, so that no destination gets more than it may, and those that are
// slow do not take all workers, neither one of them nor many. Nor do those that have never answered: some workers are
// for destinations that are known to answer.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"

namespace postino::outbox {

struct DestinationRules {
  int concurrency = 0;  // e-mails at a time; 0: no limit
  double rate = 0;      // e-mails a second; 0: no limit
};

// Each name once, in order. Without any, an e-mail has all workers to itself.
using DestinationNames = std::vector<std::string>;

// Safe to call from any thread.
class Destinations {
 public:
  // So many workers share the e-mails, which are claimed up to `batch` at a time.
  Destinations(DestinationRules rules, int workers, int batch);

  // What is claimed and not finished, in all, is never more.
  int most_claimed() const { return most_claimed_; }

  // What keeps an e-mail for these destinations from being claimed; nullopt when it shall be. Enough is claimed for the
  // same destinations, until there is little left; or for slow ones, or for those that have never answered; or far more
  // than enough for one of them, or it has a pause. Newcomers: those for which little is claimed.
  enum class Wanted { all, newcomers };
  std::optional<std::string> obstacle(const DestinationNames& names, base::TimePoint now, Wanted wanted = Wanted::all);
  // Is it there no longer?
  bool is_gone(const std::string& obstacle, base::TimePoint now, Wanted wanted = Wanted::all);

  // An e-mail waits for a worker from now on.
  void claimed(const DestinationNames& names);
  // It does no longer, and was not begun.
  void given_up(const DestinationNames& names);

  // Would begin() answer true?
  bool may_begin(const DestinationNames& names, base::TimePoint now);
  // A worker begins with one that was claimed; false when it may not now.
  bool begin(const DestinationNames& names, base::TimePoint now);
  // It took the worker so long.
  void finished(const DestinationNames& names, base::TimePoint now, base::Milliseconds took);
  // A worker puts one off that it has begun, and goes on with something else; and a worker takes it up again. It keeps
  // its place at its destinations.
  void put_off(const DestinationNames& names);
  void resume(const DestinationNames& names, base::TimePoint now);

  // It waits for the time alone: when it may be begun.
  std::optional<base::TimePoint> turn_of(const DestinationNames& names, base::TimePoint now);

  // The destination asked for it: nothing is begun or claimed for it until then.
  void pause(const std::string& name, base::TimePoint until);

  // Others that need one of these wait until it has begun: an e-mail for several destinations would hardly ever find
  // all of them free otherwise. One at a time; the first one counts.
  void book(const DestinationNames& names, base::TimePoint now);

  // Is there something for which nothing more shall be claimed now, because enough is?
  bool has_closed();
  // Has an obstacle gone since the last call, other than by the time?
  bool take_reopened();

 private:
  using Moment = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;
  struct Destination {
    int claimed = 0;  // and not finished, with those that are worked on
    int working = 0;
    Moment next_free;              // the next turn of the rate
    base::TimePoint paused_until;  // as it asked
  };

  // How long workers wait for a destination. Of those that are untried, some may never answer.
  enum class Pace { quick, untried, slow };

  // E-mails for the same destinations.
  struct Lane {
    Pace pace = Pace::untried;
    int claimed = 0;
    bool is_closed = false;
    int working = 0;              // workers
    base::TimePoint last_end;     // of work on one of them, or the begin if there was none before
    base::Milliseconds usual{0};  // time that a worker needs, lately
  };
  // What lanes of one pace, or slower, may have together.
  struct Share {
    int most_working = 0;
    int most_claimed = 0;
    int working = 0;  // workers
    int claimed = 0;
    bool is_closed = false;
  };

  // The mutex is held.
  bool is_free(const std::string& name, base::TimePoint now) const;
  bool may_begin_now(const DestinationNames& names, base::TimePoint now) const;
  Lane& lane_of(const DestinationNames& names);
  Pace pace_of(const DestinationNames& names) const;
  // Counts for its share, and for that of those which are less slow.
  void count(Pace pace, int working, int claimed);
  static bool is_full(Share& share);
  bool has_room(const std::string& lane_name);
  bool is_crowded(const std::string& name, base::TimePoint now) const;
  void leave(const DestinationNames& names, bool was_working);
  void forget_if_idle(const std::string& name);
  void forget_if_idle(std::map<std::string, Lane>::iterator lane);
  void begin_work(Lane& lane, base::TimePoint now);
  void end_work(Lane& lane);
  // Would it take a worker that is kept for those that are not as slow?
  bool is_held_back(const DestinationNames& names) const;
  void set_pace(Lane& lane, Pace pace);
  void note_answer(const DestinationNames& names, base::TimePoint now, bool is_quick);
  // A destination that has not answered for long is slow, before the answer comes.
  void find_slow_ones(base::TimePoint now);
  void reopen_if_drained(Share& share);

  const DestinationRules rules_;
  const int workers_;
  const int most_working_;  // of one destination
  const int low_;           // claimed for the same destinations: when there are as few, more shall be
  const int high_;          // when there are as many, no more shall be
  const int most_for_one_;  // claimed for one destination, with others or without
  const int most_claimed_;  // in all
  std::mutex mutex_;
  int claimed_ = 0;
  int working_ = 0;
  int closed_ = 0;  // lanes
  bool reopened_ = false;
  base::TimePoint latest_;  // the time, as far as it is known here
  DestinationNames booked_;
  std::map<std::string, Destination> destinations_;
  std::map<std::string, Lane> lanes_;  // of which something is claimed, or which were slow
  std::set<Lane*> at_work_;            // of them
  Share slow_;
  Share slow_or_untried_;
  std::map<std::string, base::TimePoint> answered_;  // destinations: when they last answered quickly
};

}  // namespace postino::outbox
