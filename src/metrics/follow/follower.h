// Follows the change stream of one table: takes turns with other processes, gathers changes into batches, halves those
// that fail, sets aside what cannot be handled, and starts over when changes are gone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/random.h"
#include "metrics/follow/change_handler.h"
#include "net/trouble.h"
#include "store/change_feed.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::metrics {

struct FollowerOptions {
  KeeperOptions keeper;  // its follower names this one
  std::string table;     // the one whose changes are followed
  bool may_enable_stream = true;

  int batch = 100;                                      // changes that are handled together
  std::int64_t batch_bytes = 6 << 20;                   // about; a batch has no more changes when it is larger
  base::Milliseconds window = std::chrono::seconds(5);  // for which a batch waits to be full
  int retries = 3;                                      // of a single change, before it is set aside
  base::Milliseconds poll = std::chrono::seconds(1);    // how long to wait for a change, or for one's turn
  // Starting over takes long: it is not done again and again if another program damages the figures again and again.
  base::Milliseconds between_beginnings = std::chrono::seconds(30);
  base::Backoff pauses{.first = base::Milliseconds(100), .longest = base::Milliseconds(5'000)};  // after failures
};

// For metrics of the program.
struct FollowerCounts {
  std::uint64_t records = 0;    // handled
  std::uint64_t batches = 0;    // handled
  std::uint64_t halved = 0;     // batches that failed
  std::uint64_t set_aside = 0;  // records, items, and times that changes were gone
  std::uint64_t begun = 0;      // times that it started over
  std::uint64_t failures = 0;   // because of a store, a receiver or a disk
  bool follows = false;         // this process has the checkpoint
  base::Milliseconds lag{0};    // from the oldest change that is not handled to now; 0: there is none
};

class Follower {
 public:
  enum class Round {
    standing_by,  // another process follows
    waiting,      // there was no change
    beginning,    // the next round starts over, or with another stream
    handled,
    failed,  // tried again by the next round, after a pause
  };

  // Everything given must outlive it.
  Follower(store::Store& store, FollowerOptions options, ChangeHandler& handler, const base::Clock& clock,
           base::Random& random, store::Retry retry);
  ~Follower();  // stop()

  // Takes its turn: a batch, or a wait for one. For its own thread, or for a test.
  Round run_once();
  // The same until it is stopped, on a thread of its own.
  void start();
  // Ends what it waits for. Lets another process follow at once.
  void stop();

  // Everything is to be done again, by the next round. Safe to call from any thread.
  void begin_anew() { is_anew_wanted_ = true; }

  // Has this done between two batches, by the thread that handles them, once. Safe to call from any thread. False: too
  // many wait already.
  using Errand = std::function<Outcome<void>(CheckpointKeeper& keeper)>;
  bool ask(Errand errand);

  const FollowerOptions& options() const { return options_; }
  FollowerCounts counts() const;  // safe to call from any thread
  // Why the last round failed, or that the table is not there; empty when it did not. Safe to call from any thread.
  std::string problem() const;
  // Why changes cannot be handled, as the last round found it; nullopt when they can be, or there is no table yet. Safe
  // to call from any thread.
  std::optional<std::string> outage() const { return trouble_.cause(); }

 private:
  Outcome<Round> turn();
  Outcome<void> open();
  Outcome<bool> gather();
  Outcome<void> work(std::span<const store::StreamRecord> records);
  Outcome<void> retry_single(std::span<const store::StreamRecord> record, Failure failure);
  Outcome<void> run_errands();
  Outcome<void> keep_place();
  Outcome<void> call_for_anew(const std::string& reason);
  void drop();
  bool tell(const std::string& problem);
  void react(const Failure& failure);
  void give_up_turn();
  void note_lag();
  bool pause(base::Milliseconds time);

  store::Store& store_;
  const FollowerOptions options_;
  ChangeHandler& handler_;
  const base::Clock& clock_;
  base::Random& random_;
  CheckpointKeeper keeper_;
  store::ChangeFeed feed_;  // its place is that of the checkpoint whenever it is opened

  std::vector<store::StreamRecord> batch_;
  int failures_in_a_row_ = 0;
  net::LastingTrouble trouble_;  // with a store, a receiver or a disk
  std::atomic<bool> is_anew_wanted_ = false;
  std::optional<base::Milliseconds> began_;  // when it last started over; monotonic

  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  bool is_stopped_ = false;
  std::string told_;             // the last failure; under the mutex
  std::vector<Errand> errands_;  // the same

  std::atomic<std::uint64_t> records_ = 0, batches_ = 0, halved_ = 0, set_aside_ = 0, begun_ = 0, failures_ = 0;
  std::atomic<bool> follows_ = false;
  std::atomic<std::int64_t> oldest_waiting_ = 0;  // milliseconds since 1970; 0: none waits
  std::thread thread_;
};

}  // namespace postino::metrics
