#include "outbox/work/pipeline_loop.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/log.h"
#include "base/thread_name.h"
#include "base/thread_priority.h"

namespace postino::outbox {

namespace {

constexpr base::Milliseconds gathering{20};
constexpr base::Milliseconds longest_gathering{1'000};
constexpr base::Milliseconds about_to_be_done{3};

// As it was on the way, for those who count. It waits for no worker: the next one has it already.
Email passed_form(State passed, Email email) {
  email.state = passed;
  email.due_at.reset();
  return email;
}

}  // namespace

PipelineLoop::PipelineLoop(Pipeline pipeline, const WorkContext& context, PipelineOptions options, Work work,
                           OnMoved on_moved, PipelineLoop* next)
    : pipeline_(pipeline),
      context_(context),
      options_(std::move(options)),
      work_(std::move(work)),
      on_moved_(std::move(on_moved)),
      next_(next) {}

void PipelineLoop::start() {
  running_ = options_.workers + 1;
  const auto run = [this](const char* what, bool urgent, void (PipelineLoop::*loop)()) {
    threads_.emplace_back([this, what, urgent, loop] {
      base::name_thread(std::string(name_of(pipeline_)) + what);
      if (!urgent) base::lower_thread_priority();
      (this->*loop)();
    });
  };
  run("-claim", options_.urgent, &PipelineLoop::claim_loop);
  run("-write", true, &PipelineLoop::write_loop);  // urgent work may wait for the same commit
  for (int i = 0; i < options_.workers; ++i) run("-work", options_.urgent, &PipelineLoop::work_loop);
}

void PipelineLoop::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (is_announced_) return;
    is_announced_ = true;
  }
  look_.notify_all();
}

void PipelineLoop::stop(Instant give_up_at) {
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
  for (std::thread& thread : threads_) thread.join();
}

int PipelineLoop::in_flight() const {
  const std::lock_guard lock(mutex_);
  return in_flight_;
}

bool PipelineLoop::reserve() {
  // What waits in the ledger came first: it keeps its share of the workers.
  const int most = 4 * options_.workers;
  const std::lock_guard lock(mutex_);
  if (stopping_ || in_flight_ >= (behind_ ? most / 2 : most)) return false;
  ++in_flight_;
  return true;
}

void PipelineLoop::adopt(std::vector<Email> emails, int reserved) {
  for (const Email& email : emails) context_.leases.hold(email);
  const std::lock_guard lock(mutex_);
  make_room(reserved - static_cast<int>(emails.size()));
  give_to_workers(std::move(emails));
}

// The mutex is held.
void PipelineLoop::make_room(int finished) {
  in_flight_ -= finished;
  if (full_) look_.notify_all();
}

// As many workers wake up as there is work for. The mutex is held.
void PipelineLoop::give_to_workers(std::vector<Email> emails) {
  for (Email& email : emails) {
    waiting_.push_back(std::move(email));
    claimed_.notify_one();
  }
  if (!stopping_) return;
  give_back_waiting();
  worked_.notify_one();
}

void PipelineLoop::give_back_waiting() {
  for (const Email& email : waiting_) {
    auto change = options_.claims ? conclude(email, event::GivenBack{}) : std::nullopt;
    if (change)
      done_.push_back({*std::move(change), std::nullopt});
    else
      --in_flight_;
  }
  waiting_.clear();
}

std::optional<Change> PipelineLoop::conclude(const Email& email, Event event) const {
  auto change = decide(email, std::move(event), context_.policy, context_.clock.now(), context_.random.next());
  if (change) return *std::move(change);
  base::log_error("outbox", "the result of work on an e-mail is not allowed in its state",
                  {{"pipeline", std::string(name_of(pipeline_))}, {"id", email.id}, {"error", change.error().message}});
  return std::nullopt;
}

bool PipelineLoop::wait_for_room(std::unique_lock<std::mutex>& lock) {
  // Enough that no worker waits for the next claim, not so much that leases are taken long before their time.
  const int most = 2 * options_.workers + options_.batch;
  full_ = true;
  look_.wait(lock, [&] { return stopping_ || in_flight_ <= most - options_.batch; });
  full_ = false;
  return !stopping_;
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

base::Result<Claim> PipelineLoop::take_due(const std::set<std::string>& under_way) {
  auto claim = options_.claims ? context_.ledger.claim(pipeline_, options_.batch, context_.owner)
                               : context_.ledger.due(pipeline_, options_.batch, under_way);
  if (!claim)
    base::log_warning("outbox", "claim failed",
                      {{"pipeline", std::string(name_of(pipeline_))}, {"error", claim.error().message}});
  else if (options_.claims)
    for (const Email& email : claim->emails) context_.leases.hold(email);
  return claim;
}

void PipelineLoop::claim_loop() {
  std::unique_lock lock(mutex_);
  while (wait_for_room(lock)) {
    is_announced_ = false;
    const std::set<std::string> under_way = under_way_;
    lock.unlock();
    auto claim = take_due(under_way);
    lock.lock();
    if (!claim) {
      wait_for_work(lock, std::nullopt);
      continue;
    }
    in_flight_ += static_cast<int>(claim->emails.size());
    behind_ = claim->more;
    if (!options_.claims)
      for (const Email& email : claim->emails) under_way_.insert(email.id);
    give_to_workers(std::move(claim->emails));
    if (!claim->more && (!is_announced_ || !options_.urgent)) wait_for_work(lock, claim->next_due);
  }
  --running_;
  worked_.notify_one();
}

void PipelineLoop::work_loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    claimed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) break;
    const Email email = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    auto change = conclude(email, work_(email));
    if (!change && options_.claims) context_.leases.drop(email);  // the rescuer finds it
    lock.lock();
    if (!change) {
      under_way_.erase(email.id);
      make_room(1);
      worked_.notify_one();
      continue;
    }
    done_.push_back({*std::move(change), std::nullopt});
    // The first one wakes the writer, the last one ends its wait for more.
    if (done_.size() == 1 || !more_to_come()) worked_.notify_one();
  }
  --running_;
  worked_.notify_one();
}

// Of what shall share the next commit. The mutex is held.
bool PipelineLoop::more_to_come() const {
  return !stopping_ && done_.size() < std::min<std::size_t>(max_ledger_batch, static_cast<std::size_t>(in_flight_));
}

std::vector<PipelineLoop::Done> PipelineLoop::take_done(std::unique_lock<std::mutex>& lock) {
  worked_.wait(lock, [&] { return !done_.empty() || (stopping_ && running_ == 0 && in_flight_ == 0); });
  if (!done_.empty()) worked_.wait_for(lock, about_to_be_done, [&] { return !more_to_come(); });
  std::vector<Done> batch;
  while (!done_.empty() && batch.size() < max_ledger_batch) {
    batch.push_back(std::move(done_.front()));
    done_.pop_front();
  }
  return batch;
}

void PipelineLoop::write_loop() {
  std::unique_lock lock(mutex_);
  for (std::vector<Done> batch = take_done(lock); !batch.empty(); batch = take_done(lock)) {
    std::vector<std::string> ids;
    for (const Done& done : batch) ids.push_back(done.change.before.id);
    lock.unlock();
    write(std::move(batch));
    lock.lock();
    for (const std::string& id : ids) under_way_.erase(id);
    make_room(static_cast<int>(ids.size()));
  }
}

void PipelineLoop::forward(Done& done) const {
  const Email& after = done.change.after;
  const base::TimePoint now = context_.clock.now();
  if (pipeline_of(after) != next_->pipeline_ || *after.due_at > now || !next_->reserve()) return;
  done.forwarded_from = after.state;
  auto change = then(std::move(done.change), event::Claimed{context_.owner}, context_.policy, now);
  CHECK(change.has_value());  // what waits for a pipeline can be claimed
  done.change = *std::move(change);
}

// What was done must be written down: as long as the ledger cannot be reached it is tried again, and the leases are
// renewed meanwhile; one by one after the first time, so that none is refused for the sake of another. What cannot be
// written for a minute is left to the rescuer, because other e-mails wait behind it.
void PipelineLoop::write(std::vector<Done> batch) {
  constexpr int most_rounds = 120;
  if (next_ != nullptr)
    for (Done& done : batch) forward(done);
  std::vector<Done> left = write_once(std::move(batch));
  for (int round = 1; !left.empty(); ++round) {
    base::log_warning("outbox", "changes of state could not be written",
                      {{"pipeline", std::string(name_of(pipeline_))}, {"count", std::to_string(left.size())}});
    if (round == most_rounds || (round > 1 && out_of_time())) break;
    wait_for_ledger();
    left = write_one_by_one(std::move(left));
  }
  for (const Done& done : left) {
    context_.leases.drop(done.change.before);
    if (done.forwarded_from) next_->adopt({}, 1);
    base::log_error("outbox", "gave up writing the new state of an e-mail",
                    {{"id", done.change.before.id}, {"state", std::string(name_of(done.change.after.state))}});
  }
}

std::vector<PipelineLoop::Done> PipelineLoop::write_once(std::vector<Done> batch) {
  std::vector<Change> changes;
  changes.reserve(batch.size());
  for (const Done& done : batch) changes.push_back(done.change);
  std::vector<MoveOutcome> outcomes = context_.ledger.move(std::move(changes));
  std::vector<Done> failed;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].status == MoveStatus::failed)
      failed.push_back(std::move(batch[i]));
    else
      finished(batch[i], outcomes[i]);
  }
  return failed;
}

std::vector<PipelineLoop::Done> PipelineLoop::write_one_by_one(std::vector<Done> batch) {
  constexpr int enough = 2;  // one may fail for reasons of its own
  std::vector<Done> failed;
  int failed_in_a_row = 0;
  for (Done& done : batch) {
    // A ledger that is away would keep each of them waiting.
    const bool hopeless = failed_in_a_row >= enough && out_of_time();
    std::vector<Done> one;
    one.push_back(std::move(done));
    if (!hopeless) one = write_once(std::move(one));
    failed_in_a_row = one.empty() ? 0 : failed_in_a_row + 1;
    std::ranges::move(one, std::back_inserter(failed));
  }
  return failed;
}

void PipelineLoop::wait_for_ledger() {
  std::unique_lock lock(mutex_);
  const Instant next = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  if (stopping_)
    look_.wait_until(lock, std::min(next, give_up_at_));
  else
    look_.wait_until(lock, next, [&] { return stopping_; });
}

bool PipelineLoop::out_of_time() const {
  const std::lock_guard lock(mutex_);
  return stopping_ && std::chrono::steady_clock::now() >= give_up_at_;
}

void PipelineLoop::finished(const Done& done, MoveOutcome& outcome) {
  const Email& before = done.change.before;
  const bool written = outcome.status == MoveStatus::done;
  if (options_.claims) context_.leases.drop(before);
  if (written) {
    on_moved_(before, done.forwarded_from ? passed_form(*done.forwarded_from, outcome.email) : outcome.email);
  } else if (options_.claims) {
    base::log_warning("outbox", "a lease was lost", {{"id", before.id}, {"state", std::string(name_of(before.state))}});
  }
  if (!done.forwarded_from) return;
  std::vector<Email> taken;
  if (written) taken.push_back(std::move(outcome.email));
  next_->adopt(std::move(taken), 1);
}

}  // namespace postino::outbox
