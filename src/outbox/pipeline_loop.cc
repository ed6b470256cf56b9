#include "outbox/pipeline_loop.h"

#include <algorithm>

#include "base/log.h"
#include "base/thread_name.h"

namespace postino::outbox {

namespace {

std::string_view name_of(Pipeline pipeline) {
  if (pipeline == Pipeline::intake) return "intake";
  return pipeline == Pipeline::send ? "send" : "callback";
}

}  // namespace

PipelineLoop::PipelineLoop(Pipeline pipeline, Ledger& ledger, Leases& leases, const base::Clock& clock,
                           std::string owner, PipelineOptions options, Work work, OnMoved on_moved)
    : pipeline_(pipeline),
      ledger_(ledger),
      leases_(leases),
      clock_(clock),
      owner_(std::move(owner)),
      options_(options),
      work_(std::move(work)),
      on_moved_(std::move(on_moved)) {}

void PipelineLoop::start() {
  running_ = options_.workers + 1;
  const auto run = [this](const char* what, void (PipelineLoop::*loop)()) {
    threads_.emplace_back([this, what, loop] {
      base::name_thread(std::string(name_of(pipeline_)) + what);
      (this->*loop)();
    });
  };
  run("-claim", &PipelineLoop::claim_loop);
  run("-write", &PipelineLoop::write_loop);
  for (int i = 0; i < options_.workers; ++i) run("-work", &PipelineLoop::work_loop);
}

void PipelineLoop::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (rung_) return;
    rung_ = true;
  }
  woken_.notify_all();
}

void PipelineLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    give_back_waiting();
  }
  woken_.notify_all();
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
  const int most = 2 * options_.workers;
  const std::lock_guard lock(mutex_);
  if (stopping_ || in_flight_ >= (behind_ ? most / 2 : most)) return false;
  ++in_flight_;
  return true;
}

void PipelineLoop::adopt(std::vector<Email> emails, int reserved) {
  for (const Email& email : emails) leases_.hold(email);
  {
    const std::lock_guard lock(mutex_);
    in_flight_ -= reserved - static_cast<int>(emails.size());
    give_to_workers(std::move(emails));
  }
  woken_.notify_all();
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
  if (options_.claims)
    for (const Email& email : waiting_) done_.push_back(give_back(email));
  else
    in_flight_ -= static_cast<int>(waiting_.size());
  waiting_.clear();
}

// As if it had not been claimed.
Move PipelineLoop::give_back(const Email& email) const {
  Move move{email, email, std::nullopt, "given back: the worker was told to end", std::nullopt};
  move.after.state = *rescued_form(email.state);
  move.after.owner.clear();
  move.after.due_at = clock_.now();
  move.after.outcome_unknown = false;
  if (email.state == State::processing) --move.after.attempts;
  if (acknowledged_form(email.state)) --move.after.callback_attempts;
  return move;
}

bool PipelineLoop::wait_for_room(std::unique_lock<std::mutex>& lock) {
  // Enough that no worker waits for the next claim, not so much that leases are taken long before their time.
  const int most = 2 * options_.workers + options_.batch;
  woken_.wait(lock, [&] { return stopping_ || in_flight_ <= most - options_.batch; });
  return !stopping_;
}

void PipelineLoop::wait_for_work(std::unique_lock<std::mutex>& lock, std::optional<base::TimePoint> next_due) {
  base::Milliseconds wait = options_.poll;
  if (next_due) wait = std::clamp(*next_due - clock_.now(), base::Milliseconds(1), wait);
  woken_.wait_for(lock, wait, [&] { return stopping_ || rung_; });
}

base::Result<Claim> PipelineLoop::take_due(const std::set<std::string>& under_way) {
  auto claim = options_.claims ? ledger_.claim(pipeline_, options_.batch, owner_, leases_.length())
                               : ledger_.due(pipeline_, options_.batch, under_way);
  if (!claim)
    base::log_warning("outbox", "claim failed",
                      {{"pipeline", std::string(name_of(pipeline_))}, {"error", claim.error().message}});
  else if (options_.claims)
    for (const Email& email : claim->emails) leases_.hold(email);
  return claim;
}

void PipelineLoop::claim_loop() {
  std::unique_lock lock(mutex_);
  while (wait_for_room(lock)) {
    rung_ = false;
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
    if (!claim->more && !rung_) wait_for_work(lock, claim->next_due);
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
    Move move = work_(email);
    lock.lock();
    done_.push_back(std::move(move));
    worked_.notify_one();
  }
  --running_;
  worked_.notify_one();
}

void PipelineLoop::write_loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    worked_.wait(lock, [&] { return !done_.empty() || (stopping_ && running_ == 0 && in_flight_ == 0); });
    if (done_.empty()) return;
    std::vector<Move> moves;
    while (!done_.empty() && moves.size() < max_ledger_batch) {
      moves.push_back(std::move(done_.front()));
      done_.pop_front();
    }
    lock.unlock();
    write(moves);
    lock.lock();
    in_flight_ -= static_cast<int>(moves.size());
    if (!options_.claims)
      for (const Move& move : moves) under_way_.erase(move.before.id);
    woken_.notify_all();
  }
}

// What was done must be written down: as long as the ledger cannot be reached it is tried again, and the leases are
// renewed meanwhile; one by one after the first time, so that none is refused for the sake of another. What cannot be
// written for a minute is left to the rescue, because others wait behind it. Somebody who is told to end does not wait
// that long.
void PipelineLoop::write(std::vector<Move> moves) {
  constexpr int most_rounds = 120;
  constexpr int rounds_when_stopping = 3;
  for (int round = 1;; ++round) {
    std::vector<Move> again;
    for (std::size_t first = 0, count = 0; first < moves.size(); first += count) {
      count = round == 1 ? moves.size() : 1;
      const auto begin = moves.begin() + static_cast<std::ptrdiff_t>(first);
      const std::vector<MoveOutcome> outcomes = ledger_.move({begin, begin + static_cast<std::ptrdiff_t>(count)});
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].status == MoveStatus::failed)
          again.push_back(std::move(moves[first + i]));
        else
          finished(moves[first + i], outcomes[i]);
      }
    }
    if (again.empty()) return;
    base::log_warning("outbox", "moves could not be written",
                      {{"pipeline", std::string(name_of(pipeline_))}, {"count", std::to_string(again.size())}});
    moves = std::move(again);
    std::unique_lock lock(mutex_);
    if (round >= (stopping_ ? rounds_when_stopping : most_rounds)) break;
    woken_.wait_for(lock, base::Milliseconds(500), [&] { return stopping_; });
  }
  for (const Move& move : moves) {
    leases_.drop(move.before);
    base::log_error("outbox", "given up to write where an e-mail went",
                    {{"id", move.before.id}, {"state", std::string(outbox::name_of(move.after.state))}});
  }
}

void PipelineLoop::finished(const Move& move, const MoveOutcome& outcome) {
  if (options_.claims) leases_.drop(move.before);
  if (outcome.status == MoveStatus::done)
    on_moved_(move.before, outcome.email);
  else if (options_.claims)
    base::log_warning("outbox", "lease was lost",
                      {{"id", move.before.id}, {"state", std::string(outbox::name_of(move.before.state))}});
}

}  // namespace postino::outbox
