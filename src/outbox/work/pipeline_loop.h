// Takes e-mails of one pipeline as they become due, has them worked on, and moves them where the work says.
//
// One thread claims, some work, one writes down what came out. Claims and moves go in batches; an e-mail is worked on
// alone. Woken by new work; looks for itself now and then, for what others have put in.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "outbox/ledger/ledger.h"
#include "outbox/work/leases.h"

namespace postino::outbox {

struct PipelineOptions {
  int workers = 4;
  int batch = 25;  // e-mails claimed at a time
  // Work that has no effect but its move needs no claim: if somebody else does it too, one of both moves counts.
  bool claims = true;
  bool urgent = true;              // otherwise it makes room for others while the machine is busy
  std::function<bool()> make_way;  // of what is not urgent: may it wait a bit, because others have more to do?
  base::Milliseconds poll{5'000};
};

class PipelineLoop {
 public:
  // Works on an e-mail in its working state, and says where it goes. Called by several threads at a time.
  using Work = std::function<Move(const Email&)>;
  // Told of every move that was written.
  using OnMoved = std::function<void(const Email& before, const Email& after)>;

  // What it is done with and `next` would claim goes there with the same commit, when that has a worker free. `next`
  // must have the same owner and leases, be started with it and stopped after it; it may be null.
  PipelineLoop(Pipeline pipeline, Ledger& ledger, Leases& leases, const base::Clock& clock, std::string owner,
               PipelineOptions options, Work work, OnMoved on_moved, PipelineLoop* next = nullptr);
  ~PipelineLoop() { stop(Instant()); }

  void start();
  void wake();
  // Claims no more, gives back what nobody has begun, and waits for the rest. What cannot be written by that time is
  // left to the rescue.
  using Instant = std::chrono::steady_clock::time_point;
  void stop(Instant give_up_at);

  // Room for one more e-mail that somebody else has claimed for this owner; adopt() must follow.
  bool reserve();
  // Takes e-mails for which `reserved` places were kept, as if it had claimed them.
  void adopt(std::vector<Email> emails, int reserved);

  int in_flight() const;

 private:
  void claim_loop();
  base::Result<Claim> take_due(const std::set<std::string>& under_way);
  void work_loop();
  void write_loop();
  // Waits until there is room for more; false when it is time to stop.
  bool wait_for_room(std::unique_lock<std::mutex>& lock);
  void wait_for_work(std::unique_lock<std::mutex>& lock, std::optional<base::TimePoint> next_due);
  // Waits until there is something to write, and a bit longer for what is about to be done: it shares the commit. Empty
  // when it is time to stop.
  std::vector<Move> take_done(std::unique_lock<std::mutex>& lock);
  bool more_to_come() const;
  void make_room(int finished);
  void forward(Move& move) const;
  void write(std::vector<Move> moves);
  // They answer what could not be written.
  std::vector<Move> write_once(std::vector<Move> moves);
  std::vector<Move> write_one_by_one(std::vector<Move> moves);
  void wait_for_ledger();
  bool out_of_time() const;
  void finished(const Move& move, MoveOutcome& outcome);
  void give_to_workers(std::vector<Email> emails);
  void give_back_waiting();
  Move give_back(const Email& email) const;

  const Pipeline pipeline_;
  Ledger& ledger_;
  Leases& leases_;
  const base::Clock& clock_;
  const std::string owner_;
  const PipelineOptions options_;
  const Work work_;
  const OnMoved on_moved_;
  PipelineLoop* const next_;

  mutable std::mutex mutex_;
  std::condition_variable woken_;    // for the claiming thread
  std::condition_variable claimed_;  // for the workers
  std::condition_variable worked_;   // for the writing thread
  std::deque<Email> waiting_;        // claimed and not begun
  std::deque<Move> done_;            // worked on and not written
  int in_flight_ = 0;                // claimed and not written
  std::set<std::string> under_way_;  // their ids, where nothing is claimed
  int running_ = 0;                  // threads that may still bring something to write
  bool rung_ = false;
  bool full_ = false;   // the claiming thread waits for room
  bool behind_ = true;  // there may be more that is due than was claimed
  bool stopping_ = false;
  Instant give_up_at_;  // when stopping
  std::vector<std::thread> threads_;
};

}  // namespace postino::outbox
