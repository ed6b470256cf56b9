#include "outbox/work/pipeline_loop.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "base/this_thread.h"

namespace postino::outbox {

namespace {

constexpr base::Milliseconds gathering{20};
constexpr base::Milliseconds longest_gathering{1'000};
// How often a worker without work looks whether there is room for what is set aside. A look costs no more than a lock.
constexpr std::chrono::milliseconds look_for_room{20};
// How often the claiming thread looks for destinations that have nothing so far, while all workers are busy with
// others.
constexpr std::chrono::milliseconds look_for_newcomers{50};

}  // namespace

PipelineLoop::PipelineLoop(Pipeline pipeline, const WorkContext& context, PipelineOptions options, MessageWork work,
                           OnMoved on_moved, PipelineLoop* next)
    : pipeline_(pipeline),
      context_(context),
      options_(std::move(options)),
      work_(std::move(work)),
      on_moved_(std::move(on_moved)),
      next_(next) {
  if (options_.destinations_of) destinations_.emplace(options_.destination_rules, options_.workers, options_.batch);
}

PipelineLoop::PipelineLoop(Pipeline pipeline, const WorkContext& context, PipelineOptions options, const Work& work,
                           OnMoved on_moved, PipelineLoop* next)
    : PipelineLoop(
          pipeline, context, std::move(options),
          [work](const Email& email, MessageRoom&) { return std::optional(work(email)); }, std::move(on_moved), next) {}

void PipelineLoop::start() {
  const std::lock_guard lock(mutex_);
  running_ = 1;
  const bool started = start_thread("-claim", options_.urgent, &PipelineLoop::claim_loop) &&
                       start_thread("-write", true, &PipelineLoop::write_loop) &&  // urgent work may wait for the same
                       start_worker();
  CHECK(started);
}

bool PipelineLoop::start_thread(const char* what, bool urgent, void (PipelineLoop::*loop)()) {
  return threads_.try_start([this, what, urgent, loop] {
    base::name_thread(std::string(name_of(pipeline_)) + what);
    if (!urgent) base::lower_thread_priority();
    (this->*loop)();
  });
}

bool PipelineLoop::start_worker() {
  if (!start_thread("-work", options_.urgent, &PipelineLoop::work_loop)) return false;
  ++running_;
  ++workers_;
  ++coming_;
  return true;
}

// There is one more thing to do. When the system has no more threads, the workers that are there do it. True when one
// of those that wait is to be woken: to wake more of them than there is work for costs as much as to send an e-mail.
// The mutex is held.
bool PipelineLoop::call_worker() {
  const std::size_t wanted = lined_up_ + (needs_watch() ? 1 : 0);
  const bool suffice = wanted <= static_cast<std::size_t>(idle_ + coming_);
  if (!stopping_ && !suffice && workers_ < options_.workers) static_cast<void>(start_worker());
  const bool is_one_more = called_ < idle_ && static_cast<std::size_t>(called_) < wanted;
  if (is_one_more) ++called_;
  return is_one_more;
}

// After a rest in which nothing came. One worker stays: another might not be had when there is work. The mutex is held.
bool PipelineLoop::may_go() const { return workers_ > 1 && waiting_.empty() && !needs_watch(); }

void PipelineLoop::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (is_announced_) return;
    is_announced_ = true;
  }
  look_.notify_all();
}

void PipelineLoop::begin_stop(Instant give_up_at) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    give_up_at_ = give_up_at;
    give_back_waiting();
  }
  look_.notify_all();
  claimed_.notify_all();
  worked_.notify_all();
}

void PipelineLoop::stop(Instant give_up_at) {
  begin_stop(give_up_at);
  threads_.join();
}

int PipelineLoop::in_flight() const {
  const std::lock_guard lock(mutex_);
  return in_flight_;
}

int PipelineLoop::set_aside() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(aside_.size());
}

int PipelineLoop::workers() const {
  const std::lock_guard lock(mutex_);
  return workers_;
}

int PipelineLoop::unwritten() const {
  const std::lock_guard lock(mutex_);
  return unwritten_count_ + (refused_ ? static_cast<int>(done_.size()) : 0);
}

DestinationNames PipelineLoop::destinations_of(const Email& email) const {
  return destinations_ ? options_.destinations_of(email) : DestinationNames();
}

std::optional<WorkerPlace> PipelineLoop::reserve(const Email& email) {
  // What waits in the ledger came first: it keeps its share of the workers.
  const int most = 4 * options_.workers;
  WorkerPlace place{destinations_of(email)};
  const std::lock_guard lock(mutex_);
  if (stopping_ || refused_) return std::nullopt;
  const bool may_exceed = destinations_ && has_free_worker() && in_flight_ < destinations_->most_claimed();
  if (in_flight_ >= (behind_ ? most / 2 : most) && !may_exceed) return std::nullopt;
  if (destinations_ && destinations_->obstacle(place.destinations, context_.clock.now())) return std::nullopt;
  if (destinations_) destinations_->claimed(place.destinations);
  ++in_flight_;
  return place;
}

void PipelineLoop::adopt(std::vector<Arrival> arrivals) {
  std::vector<Task> tasks;
  for (Arrival& arrival : arrivals) {
    context_.leases.hold(arrival.email);
    tasks.push_back({std::move(arrival.email), std::move(arrival.place.destinations)});
  }
  int called = 0;
  {
    const std::lock_guard lock(mutex_);
    called = give_to_workers(std::move(tasks));
  }
  wake_workers(called);  // they need the mutex first of all
}

void PipelineLoop::release(const std::vector<WorkerPlace>& places) {
  const std::lock_guard lock(mutex_);
  if (destinations_)
    for (const WorkerPlace& place : places) destinations_->given_up(place.destinations);
  make_room(static_cast<int>(places.size()));
  worked_.notify_one();  // the writing thread may wait for nothing else
}

// The mutex is held.
void PipelineLoop::make_room(int finished) {
  in_flight_ -= finished;
  if (full_) look_.notify_all();
}

// Answers how many workers are to be woken: as many as there is work for. The mutex is held.
int PipelineLoop::give_to_workers(std::vector<Task> tasks) {
  int called = 0;
  for (Task& task : tasks) {
    Lane& lane = waiting_[task.destinations];
    turns_.wait(task.destinations);
    lane.tasks.push_back(std::move(task));
    ++lined_up_;
    called += call_worker() ? 1 : 0;
  }
  if (!stopping_) return called;
  give_back_waiting();
  worked_.notify_one();
  return called;
}

void PipelineLoop::wake_workers(int called) {
  for (; called > 0; --called) claimed_.notify_one();
}

void PipelineLoop::give_back_waiting() {
  for (const Task& task : aside_) {
    ++in_flight_;
    if (destinations_) {
      destinations_->resume(task.destinations, context_.clock.now());
      destinations_->finished(task.destinations, context_.clock.now(), base::Milliseconds(0));
    }
    give_back(task);
  }
  aside_.clear();
  for (const auto& [destinations, lane] : waiting_)
    for (const Task& task : lane.tasks) {
      if (destinations_) destinations_->given_up(destinations);
      give_back(task);
    }
  waiting_.clear();
  turns_.clear();
  lined_up_ = 0;
}

void PipelineLoop::give_back(const Task& task) {
  auto change = options_.claims ? conclude(task.email, event::GivenBack{}) : std::nullopt;
  if (change)
    done_.push_back({*std::move(change), std::nullopt});
  else
    --in_flight_;
}

std::optional<Change> PipelineLoop::conclude(const Email& email, Event event) const {
  auto change = decide(email, std::move(event), context_.policy, context_.clock.now(), context_.random.next());
  if (change) return *std::move(change);
  base::log_error("outbox", "the result of work on an e-mail is not allowed in its state",
                  {{"pipeline", std::string(name_of(pipeline_))}, {"id", email.id}, {"error", change.error().message}});
  return std::nullopt;
}

// For more e-mails. The mutex is held.
std::optional<PipelineLoop::Room> PipelineLoop::find_room() const {
  if (refused_ || (is_crowded() && !options_.too_many_set_aside)) return std::nullopt;
  // Enough that no worker waits for the next claim, not so much that leases are taken long before their time.
  if (in_flight_ <= 2 * options_.workers) return Room{options_.batch};
  // What waits for its destination keeps no other destination from workers that are free.
  if (!destinations_ || !has_free_worker() || in_flight_ >= destinations_->most_claimed()) return std::nullopt;
  return Room{std::min(options_.batch, destinations_->most_claimed() - in_flight_)};
}

// Their turn comes while others wait in memory: they must be known. The mutex is held.
std::optional<PipelineLoop::Room> PipelineLoop::find_room_for_newcomers() const {
  if (refused_ || is_crowded() || !destinations_ || in_flight_ >= destinations_->most_claimed()) return std::nullopt;
  if (!behind_ && !is_announced_) return std::nullopt;
  return Room{std::min(options_.batch, destinations_->most_claimed() - in_flight_), Destinations::Wanted::newcomers};
}

std::optional<PipelineLoop::Room> PipelineLoop::wait_for_room(std::unique_lock<std::mutex>& lock) {
  std::optional<Room> room;
  const auto is_over = [&] { return stopping_ || (room = find_room()).has_value(); };
  full_ = true;
  while (!room && !stopping_) {
    if (!destinations_)
      look_.wait(lock, is_over);
    else if (!look_.wait_for(lock, look_for_newcomers, is_over))
      room = find_room_for_newcomers();
  }
  full_ = false;
  return stopping_ ? std::nullopt : room;
}

void PipelineLoop::wait_for_work(std::unique_lock<std::mutex>& lock, std::optional<base::TimePoint> next_due) {
  base::Milliseconds wait = options_.poll;
  if (next_due) wait = std::clamp(*next_due - context_.clock.now(), base::Milliseconds(1), wait);
  look_.wait_for(lock, wait, [&] { return stopping_ || is_announced_; });
  if (options_.urgent) return;
  // A look costs as much for one e-mail as for many: what is not urgent gathers first.
  for (base::Milliseconds waited = gathering;; waited += gathering) {
    look_.wait_for(lock, gathering, [&] { return stopping_; });
    if (stopping_ || waited >= longest_gathering || !options_.make_way || !options_.make_way()) return;
  }
}

base::Result<Claim> PipelineLoop::take_due(Room room, const std::set<std::string>& under_way) {
  // What waits in the ledger may be due only by a clock that is wrong. What comes by reserve() is new.
  if (options_.claims && context_.clock.is_doubtful()) return Claim();
  auto claim = destinations_     ? claim_wanted(room)
               : options_.claims ? context_.ledger.claim(pipeline_, room.emails, context_.owner)
                                 : context_.ledger.due(pipeline_, room.emails, under_way);
  if (!claim) {
    if (claim_trouble_.fails(claim.error().message))
      base::log_warning("outbox", "claim failed",
                        {{"pipeline", std::string(name_of(pipeline_))}, {"error", claim.error().message}});
    context_.leases.health().check();
    return claim;
  }
  if (claim_trouble_.works())
    base::log_info("outbox", "claims succeed again", {{"pipeline", std::string(name_of(pipeline_))}});
  if (options_.claims)
    for (const Email& email : claim->emails) context_.leases.hold(email);
  return claim;
}

base::Result<Claim> PipelineLoop::claim_wanted(Room room) {
  std::map<std::string, DestinationNames> chosen;  // by id; what is not claimed in the end is not counted
  const Choice choice{
      [&](const Email& email) {
        DestinationNames names = destinations_of(email);
        auto obstacle = destinations_->obstacle(names, context_.clock.now(), room.wanted);
        if (obstacle) return obstacle;
        destinations_->claimed(names);
        chosen.insert_or_assign(email.id, std::move(names));
        return obstacle;
      },
      [&](const std::string& obstacle) { return destinations_->is_gone(obstacle, context_.clock.now(), room.wanted); }};
  auto claim = context_.ledger.claim(pipeline_, room.emails, context_.owner, choice);
  if (claim)
    for (const Email& email : claim->emails) chosen.erase(email.id);
  for (const auto& [id, names] : chosen) destinations_->given_up(names);
  return claim;
}

// After a look that found all there is.
void PipelineLoop::wait_for_more(std::unique_lock<std::mutex>& lock, const Claim& claim) {
  if (claim.more) return;
  // What arrives is looked at for those whose destinations have enough as well: not each by itself.
  if (destinations_ && claim.emails.empty() && destinations_->has_closed())
    look_.wait_for(lock, gathering, [&] { return stopping_ || is_reopened_; });
  if (!is_announced_ || !options_.urgent) wait_for_work(lock, claim.next_due);
}

void PipelineLoop::claim_loop() {
  std::unique_lock lock(mutex_);
  while (const auto room = wait_for_room(lock)) {
    is_announced_ = false;
    is_reopened_ = false;
    const std::set<std::string> under_way = under_way_;
    lock.unlock();
    auto claim = take_due(*room, under_way);
    lock.lock();
    if (!claim) {
      wait_for_work(lock, std::nullopt);
      continue;
    }
    in_flight_ += static_cast<int>(claim->emails.size());
    behind_ = claim->more;
    if (!options_.claims)
      for (const Email& email : claim->emails) under_way_.insert(email.id);
    std::vector<Task> tasks;
    for (Email& email : claim->emails) {
      DestinationNames destinations = destinations_of(email);
      tasks.push_back({std::move(email), std::move(destinations)});
    }
    wake_workers(give_to_workers(std::move(tasks)));
    wait_for_more(lock, *claim);
  }
  --running_;
  worked_.notify_one();
}

// What was set aside goes first when its room has come. The mutex is held.
std::optional<PipelineLoop::Task> PipelineLoop::take_task() {
  auto task = take_from_aside();
  return task ? std::move(task) : take_from_lanes();
}

std::optional<PipelineLoop::Task> PipelineLoop::take_from_aside() {
  if (refused_ || aside_.empty()) return std::nullopt;
  const auto come = std::ranges::find_if(aside_, [](const Task& task) { return task.room.has_come(); });
  if (come == aside_.end()) return std::nullopt;
  Task task = std::move(*come);
  aside_.erase(come);
  if (destinations_) {
    task.begun = context_.clock.now();
    destinations_->resume(task.destinations, task.begun);
  }
  ++in_flight_;
  if (full_) look_.notify_all();
  return task;
}

// The lanes have their turns.
std::optional<PipelineLoop::Task> PipelineLoop::take_from_lanes() {
  const base::TimePoint now = destinations_ ? context_.clock.now() : base::TimePoint();
  for (const FairTurns::Place& place : turns_.order()) {
    const auto lane = waiting_.find(*place.lane);
    if (destinations_ && !destinations_->begin(lane->first, now)) {
      const bool waits_long = ++lane->second.passed > 2 * options_.workers;
      if (waits_long && lane->first.size() > 1) destinations_->book(lane->first, now);
      continue;
    }
    Task task = std::move(lane->second.tasks.front());
    task.room = MessageRoom(context_.memory);
    task.begun = now;
    task.thought = turns_.begin(task.destinations, lane->second.tasks.size() > 1);
    lane->second.passed = 0;
    lane->second.tasks.pop_front();
    --lined_up_;
    if (lane->second.tasks.empty()) waiting_.erase(lane);
    return task;
  }
  return std::nullopt;
}

bool PipelineLoop::can_begin_more() {
  if (!destinations_) return false;  // who put it in has woken as many workers as there is work for
  const base::TimePoint now = context_.clock.now();
  return std::ranges::any_of(waiting_, [&](const auto& lane) { return destinations_->may_begin(lane.first, now); });
}

std::optional<base::TimePoint> PipelineLoop::next_turn() {
  if (!destinations_) return std::nullopt;
  const base::TimePoint now = context_.clock.now();
  std::optional<base::TimePoint> next;
  for (const auto& [destinations, lane] : waiting_)
    if (const auto turn = destinations_->turn_of(destinations, now)) next = std::min(next.value_or(*turn), *turn);
  return next;
}

bool PipelineLoop::wait_for_task(std::unique_lock<std::mutex>& lock) {
  bool has_rested = false;
  ++idle_;
  if (full_ && destinations_) look_.notify_all();
  const auto turn = is_watched_ ? std::nullopt : next_turn();
  if (is_watched_ || (aside_.empty() && !turn)) {
    has_rested = claimed_.wait_for(lock, options_.rest) == std::cv_status::timeout;
  } else {
    is_watched_ = true;
    base::Milliseconds wait = look_for_room;
    if (turn) wait = std::clamp(*turn - context_.clock.now(), base::Milliseconds(1), wait);
    claimed_.wait_for(lock, wait);
    is_watched_ = false;
  }
  --idle_;
  called_ = std::max(0, called_ - 1);  // whether it was this one or another: it looks what there is
  return !has_rested;
}

std::optional<PipelineLoop::Task> PipelineLoop::next_task(std::unique_lock<std::mutex>& lock) {
  while (true) {
    if (auto task = take_task()) {
      const bool is_to_be_watched = !is_watched_ && (!aside_.empty() || next_turn());
      if ((is_to_be_watched || can_begin_more()) && call_worker()) wake_workers(1);  // another worker has to look
      return task;
    }
    if (stopping_) return std::nullopt;
    if (!wait_for_task(lock) && may_go()) return std::nullopt;
  }
}

// False when too many are, and something else can be done. The mutex is held.
bool PipelineLoop::put_aside(Task& task) {
  if (is_crowded() && options_.too_many_set_aside) return false;
  if (destinations_) destinations_->put_off(task.destinations);
  aside_.push_back(std::move(task));
  make_room(1);
  if (!stopping_) return true;
  give_back_waiting();
  worked_.notify_one();
  return true;
}

void PipelineLoop::work_loop() {
  std::unique_lock lock(mutex_);
  --coming_;
  while (auto task = next_task(lock)) {
    lock.unlock();
    std::optional<Event> event = work_(task->email, task->room);
    if (!event) {
      lock.lock();
      if (put_aside(*task)) continue;
      lock.unlock();
      event = options_.too_many_set_aside();
    }
    const Email& email = task->email;
    note_pauses(*event);
    auto change = conclude(email, *std::move(event));
    if (!change || !change->message) task->room = {};
    if (!change && options_.claims) context_.leases.drop(email);  // the rescuer finds it
    lock.lock();
    leave_destinations(*task);
    if (!change) {
      under_way_.erase(email.id);
      make_room(1);
      worked_.notify_one();
      continue;
    }
    done_.push_back({*std::move(change), std::nullopt, {}, std::move(task->room)});
    // The first one wakes the writer, the last one ends its wait for more.
    if (done_.size() == 1 || !more_to_come()) worked_.notify_one();
  }
  --workers_;
  --running_;
  worked_.notify_one();
}

void PipelineLoop::note_pauses(const Event& event) {
  if (!destinations_ || !options_.pauses_after) return;
  const base::TimePoint now = context_.clock.now();
  for (const PipelineOptions::Pause& pause : options_.pauses_after(event))
    destinations_->pause(pause.destination, now + pause.length);
}

// The mutex is held.
void PipelineLoop::leave_destinations(const Task& task) {
  const base::TimePoint now = destinations_ ? context_.clock.now() : base::TimePoint();
  const base::Milliseconds took = std::max(now - task.begun, base::Milliseconds(0));  // the clock may have been set
  turns_.finish(task.destinations, task.thought, took);
  if (!destinations_) return;
  destinations_->finished(task.destinations, now, took);
  if (!destinations_->take_reopened()) return;
  is_announced_ = true;
  is_reopened_ = true;
  look_.notify_all();
}

}  // namespace postino::outbox
