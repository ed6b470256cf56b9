// Takes e-mails of one pipeline as they become due, has them worked on, asks the state machine where they go, and
// writes it down.
//
// One thread claims, some work, one writes. Claims and moves go in batches; an e-mail is worked on
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

#include "base/random.h"
#include "outbox/ledger/ledger.h"
#include "outbox/work/leases.h"
#include "outbox/work/worker_places.h"

namespace postino::outbox {

struct PipelineOptions {
  int workers = 4;
  int batch = 25;  // e-mails claimed at a time
  // Work that has no effect but its commit needs no claim: if two workers do it, one of both commits counts.
  bool claims = true;
  bool urgent = true;              // otherwise it makes room for others while the machine is busy
  std::function<bool()> make_way;  // of what is not urgent: may it wait a bit, because other work is?
  base::Milliseconds poll{5'000};
};

// What the loops of one process share. Everything must outlive them.
struct WorkContext {
  Ledger& ledger;
  Leases& leases;
  const Policy& policy;
  const base::Clock& clock;
  base::Random& random;
  std::string owner;  // of the leases: different for each process
};

class PipelineLoop final : public WorkerPlaces {
 public:
  // Works on an e-mail and says what happened. Called by several threads at a time.
  using Work = std::function<Event(const Email&)>;
  // Told of every change that was written.
  using OnMoved = std::function<void(const Email& before, const Email& after)>;

  // What it is done with and `next` would claim goes there with the same commit, when that has a worker free. `next`
  // must have the same context, be started with it and stopped after it; it may be null.
  PipelineLoop(Pipeline pipeline, const WorkContext& context, PipelineOptions options, Work work, OnMoved on_moved,
               PipelineLoop* next = nullptr);
  ~PipelineLoop() override { stop(Instant()); }

  void start();
  void wake();
  // Claims no more, gives back what no worker has begun, and waits for the rest. What cannot be written by that time is
  // left to the rescue.
  using Instant = std::chrono::steady_clock::time_point;
  void stop(Instant give_up_at);

  bool reserve() override;
  void adopt(std::vector<Email> emails, int reserved) override;

  int in_flight() const;

 private:
  // Worked on and not written.
  struct Done {
    Change change;
    std::optional<State> forwarded_from;  // goes on to the next loop, which keeps a place for it
  };

  void claim_loop();
  base::Result<Claim> take_due(const std::set<std::string>& under_way);
  void work_loop();
  void write_loop();
  // Waits until there is room for more; false when it is time to stop.
  bool wait_for_room(std::unique_lock<std::mutex>& lock);
  void wait_for_work(std::unique_lock<std::mutex>& lock, std::optional<base::TimePoint> next_due);
  // Waits until there is something to write, and a bit longer for what is about to be done: it shares the commit. Empty
  // when it is time to stop.
  std::vector<Done> take_done(std::unique_lock<std::mutex>& lock);
  bool more_to_come() const;
  void make_room(int finished);
  void forward(Done& done) const;
  void write(std::vector<Done> batch);
  // They answer what could not be written.
  std::vector<Done> write_once(std::vector<Done> batch);
  std::vector<Done> write_one_by_one(std::vector<Done> batch);
  void wait_for_ledger();
  bool out_of_time() const;
  void finished(const Done& done, MoveOutcome& outcome);
  // What the work on the e-mail leads to; nullopt, and a note in the log, when its state forbids it.
  std::optional<Change> conclude(const Email& email, Event event) const;
  void give_to_workers(std::vector<Email> emails);
  void give_back_waiting();

  const Pipeline pipeline_;
  const WorkContext context_;
  const PipelineOptions options_;
  const Work work_;
  const OnMoved on_moved_;
  PipelineLoop* const next_;

  mutable std::mutex mutex_;
  std::condition_variable look_;     // for the claiming thread
  std::condition_variable claimed_;  // for the workers
  std::condition_variable worked_;   // for the writing thread
  std::deque<Email> waiting_;        // claimed and not begun
  std::deque<Done> done_;
  int in_flight_ = 0;                // claimed and not written
  std::set<std::string> under_way_;  // their ids, where nothing is claimed
  int running_ = 0;                  // threads that may still bring something to write
  bool is_announced_ = false;        // there is new work
  bool full_ = false;                // the claiming thread waits for room
  bool behind_ = true;               // there may be more that is due than was claimed
  bool stopping_ = false;
  Instant give_up_at_;  // when stopping
  std::vector<std::thread> threads_;
};

}  // namespace postino::outbox
