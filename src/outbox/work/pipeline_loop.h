// Takes e-mails of one pipeline as they become due, has them worked on, asks the state machine where they go, and
// writes it down.
//
// One thread claims, some work, one writes. Claims and moves go in batches; an e-mail is worked on
// alone. Woken by new work; looks for itself now and then, for what others have put in. Those that work come with the
// work, and go when there has been none for a while.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "base/thread_pool.h"
#include "net/trouble.h"
#include "outbox/ledger/ledger.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/work/destinations.h"
#include "outbox/work/fair_turns.h"
#include "outbox/work/leases.h"
#include "outbox/work/worker_places.h"

namespace postino::outbox {

struct PipelineOptions {
  int workers = 4;  // at most
  int batch = 25;   // e-mails claimed at a time
  // Work that has no effect but its commit needs no claim: if two workers do it, one of both commits counts.
  bool claims = true;
  bool urgent = true;              // otherwise it makes room for others while the machine is busy
  std::function<bool()> make_way;  // of what is not urgent: may it wait a bit, because other work is?
  base::Milliseconds poll{5'000};
  std::chrono::milliseconds rest = base::ThreadPool::usual_rest;  // of a worker without work, before it goes
  // E-mails that are set aside until there is room for their messages. They are kept leased. When they are as many, the
  // next one has this happen to it instead; without it nothing more is claimed.
  std::size_t most_set_aside = 100;
  std::function<Event()> too_many_set_aside;
  // Where an e-mail goes, if workers are shared among destinations. What its destination cannot take now waits without
  // a commit: in the ledger, and within bounds in memory, claimed.
  std::function<DestinationNames(const Email&)> destinations_of;
  DestinationRules destination_rules;
  // Destinations that have asked for a pause with what happened, and for how long.
  struct Pause {
    std::string destination;
    base::Milliseconds length;
  };
  std::function<std::vector<Pause>(const Event&)> pauses_after;
};

// What the loops of one process share. Everything must outlive them.
struct WorkContext {
  Ledger& ledger;
  Leases& leases;
  const Policy& policy;
  const base::Clock& clock;
  base::Random& random;
  std::string owner;                // of the leases: different for each process
  MessageMemory* memory = nullptr;  // for messages; nullptr: without limit
};

class PipelineLoop final : public WorkerPlaces {
 public:
  // Works on an e-mail and says what happened. Called by several threads at a time.
  using Work = std::function<Event(const Email&)>;
  // The same for work on messages, which takes room for them before it reads them. Nothing when it must wait for room:
  // the e-mail is set aside, others go on, and it is called again with the same room when that has come.
  using MessageWork = std::function<std::optional<Event>(const Email&, MessageRoom&)>;
  // Told of every change that was written.
  using OnMoved = std::function<void(const Email& before, const Email& after)>;

  // What it is done with and `next` would claim goes there with the same commit, when that has a worker free. `next`
  // must have the same context, be started with it and waited for after it; it may be null.
  PipelineLoop(Pipeline pipeline, const WorkContext& context, PipelineOptions options, MessageWork work,
               OnMoved on_moved, PipelineLoop* next = nullptr);
  PipelineLoop(Pipeline pipeline, const WorkContext& context, PipelineOptions options, const Work& work,
               OnMoved on_moved, PipelineLoop* next = nullptr);
  ~PipelineLoop() override { stop(Instant()); }

  void start();
  void wake();
  // From now on it claims no more, and gives back what no worker has begun. What cannot be written by that time is left
  // to the rescue.
  using Instant = std::chrono::steady_clock::time_point;
  void begin_stop(Instant give_up_at);
  // The same, and waits for the rest.
  void stop(Instant give_up_at);

  std::optional<WorkerPlace> reserve(const Email& email) override;
  void adopt(std::vector<Arrival> arrivals) override;
  void release(const std::vector<WorkerPlace>& places) override;

  int in_flight() const;  // without those that are set aside
  int set_aside() const;
  int workers() const;  // that there are now
  // Outcomes that are known and could not be written so far: tried in vain, or kept back while the ledger takes
  // nothing.
  int unwritten() const;

 private:
  // Worked on and not written.
  struct Done {
    Change change;
    std::optional<State> forwarded_from;  // goes on to the next loop, which keeps a place for it
    WorkerPlace place = {};               // that one
    MessageRoom room = {};                // of a message that is to be written
  };
  // For a worker.
  struct Task {
    Email email;
    DestinationNames destinations;
    MessageRoom room = {};
    base::TimePoint begun = {};       // when a worker has taken it, where that matters
    base::Milliseconds thought = {};  // to take so long
  };
  // Claimed e-mails for the same destinations.
  struct Lane {
    std::deque<Task> tasks;
    int passed = 0;  // how often a worker found that they must wait, since the last one was begun
  };

  void claim_loop();
  // What the claiming thread has room for.
  struct Room {
    int emails = 0;  // at most
    Destinations::Wanted wanted = Destinations::Wanted::all;
  };
  base::Result<Claim> take_due(Room room, const std::set<std::string>& under_way);
  // Claims what its destinations can take.
  base::Result<Claim> claim_wanted(Room room);
  DestinationNames destinations_of(const Email& email) const;
  std::optional<Room> find_room() const;
  std::optional<Room> find_room_for_newcomers() const;
  void wait_for_more(std::unique_lock<std::mutex>& lock, const Claim& claim);
  void work_loop();
  void note_pauses(const Event& event);
  // The worker is done with it, whatever became of it.
  void leave_destinations(const Task& task);
  // Waits for one; nullopt when it is time for the worker to go.
  std::optional<Task> next_task(std::unique_lock<std::mutex>& lock);
  std::optional<Task> take_task();
  std::optional<Task> take_from_aside();
  std::optional<Task> take_from_lanes();
  // Could another worker begin with something?
  bool can_begin_more();
  // When a task may be begun that waits for the time alone.
  std::optional<base::TimePoint> next_turn();
  // False when nothing came for a while.
  bool wait_for_task(std::unique_lock<std::mutex>& lock);
  bool has_free_worker() const { return idle_ + coming_ > 0 || workers_ < options_.workers; }
  bool needs_watch() const { return !aside_.empty() && !is_watched_; }
  bool call_worker();
  void wake_workers(int called);
  bool may_go() const;
  bool start_worker();
  bool start_thread(const char* what, bool urgent, void (PipelineLoop::*loop)());
  bool put_aside(Task& task);
  bool is_crowded() const { return aside_.size() >= options_.most_set_aside; }
  void write_loop();
  // Waits until there is room for more; nullopt when it is time to stop.
  std::optional<Room> wait_for_room(std::unique_lock<std::mutex>& lock);
  void wait_for_work(std::unique_lock<std::mutex>& lock, std::optional<base::TimePoint> next_due);
  // Waits until there is something to write, and a bit longer for what is about to be done: it shares the commit. False
  // when it is time to stop.
  bool wait_for_done(std::unique_lock<std::mutex>& lock);
  std::vector<Done> take_done();
  bool more_to_come() const;
  void make_room(int finished);
  void forward(Done& done) const;
  // What cannot be written is in unwritten_ afterwards.
  void write(std::vector<Done> batch);
  void write_again();
  void give_up_unwritten();
  // They answer what could not be written.
  std::vector<Done> write_once(std::vector<Done> batch);
  std::vector<Done> write_one_by_one(std::vector<Done> batch);
  bool out_of_time() const;
  void finished(const Done& done, MoveOutcome& outcome);
  // What the work on the e-mail leads to; nullopt, and a note in the log, when its state forbids it.
  std::optional<Change> conclude(const Email& email, Event event) const;
  int give_to_workers(std::vector<Task> tasks);
  void give_back_waiting();
  void give_back(const Task& task);

  const Pipeline pipeline_;
  const WorkContext context_;
  const PipelineOptions options_;
  const MessageWork work_;
  const OnMoved on_moved_;
  PipelineLoop* const next_;
  std::optional<Destinations> destinations_;  // fixed after construction; has a mutex of its own

  net::LastingTrouble claim_trouble_;
  mutable std::mutex mutex_;
  std::condition_variable look_;              // for the claiming thread
  std::condition_variable claimed_;           // for the workers
  std::condition_variable worked_;            // for the writing thread
  std::map<DestinationNames, Lane> waiting_;  // claimed and not begun; no lane is empty
  FairTurns turns_;                           // of the lanes
  int idle_ = 0;                              // workers without a task
  int called_ = 0;                            // of these: woken, and have not looked for work yet
  int workers_ = 0;                           // that there are
  int coming_ = 0;                            // of these: started, and have not looked for work yet
  std::size_t lined_up_ = 0;                  // tasks in all lanes
  std::vector<Task> aside_;                   // begun, and waiting for room; not in flight
  bool is_watched_ = false;                   // a worker looks whether room has come
  std::deque<Done> done_;
  std::vector<Done> unwritten_;            // as done_, but tried before; of the writing thread alone
  std::vector<std::string> written_;       // ids that the writing thread has finished with since it last told
  int unwritten_count_ = 0;                // for others
  bool refused_ = false;                   // the ledger takes no writes
  Instant next_attempt_;                   // at what is unwritten
  std::chrono::milliseconds patience_{0};  // between the attempts
  int in_flight_ = 0;                      // claimed and not written
  std::set<std::string> under_way_;        // their ids, where nothing is claimed
  int running_ = 0;                        // threads that may still bring something to write
  bool is_announced_ = false;              // there is new work
  bool is_reopened_ = false;               // a destination can take more of what waits in the ledger
  bool full_ = false;                      // the claiming thread waits for room
  bool behind_ = true;                     // there may be more that is due than was claimed
  bool stopping_ = false;
  Instant give_up_at_;  // when stopping
  base::ThreadGroup threads_;
};

}  // namespace postino::outbox
