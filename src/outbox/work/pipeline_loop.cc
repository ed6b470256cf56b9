#include "outbox/work/pipeline_loop.h"

#include <algorithm>
#include <iterator>

#include "base/log.h"
#include "base/thread_name.h"
#include "base/thread_priority.h"
#include "outbox/ledger/transitions.h"

namespace postino::outbox {

namespace {

constexpr base::Milliseconds gathering{20};
constexpr base::Milliseconds longest_gathering{1'000};
constexpr base::Milliseconds about_to_be_done{3};

// It ends in a working state: that of the next loop, which keeps a place for it.
bool is_forwarded(const Move& move) { return kind_of(move.after.state) == StateKind::working; }

// As it was on the way, for those who count. Nobody need be told that it waits: it does not.
Email passed_form(const Move& move, Email email) {
  email.state = *move.through;
  email.due_at.reset();
  return email;
}

std::string_view name_of(Pipeline pipeline) {
  if (pipeline == Pipeline::intake) return "intake";
  return pipeline == Pipeline::send ? "send" : "callback";
}

}  // namespace

PipelineLoop::PipelineLoop(Pipeline pipeline, Ledger& ledger, Leases& leases, const base::Clock& clock,
                           std::string owner, PipelineOptions options, Work work, OnMoved on_moved, PipelineLoop* next)
    : pipeline_(pipeline),
      ledger_(ledger),
      leases_(leases),
      clock_(clock),
      owner_(std::move(owner)),
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
  run("-write", true, &PipelineLoop::write_loop);  // others may wait for the same commit
  for (int i = 0; i < options_.workers; ++i) run("-work", options_.urgent, &PipelineLoop::work_loop);
}

void PipelineLoop::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (rung_) return;
    rung_ = true;
  }
  woken_.notify_all();
}

void PipelineLoop::stop(Instant give_up_at) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    give_up_at_ = give_up_at;
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
  const int most = 4 * options_.workers;
  const std::lock_guard lock(mutex_);
  if (stopping_ || in_flight_ >= (behind_ ? most / 2 : most)) return false;
  ++in_flight_;
  return true;
}

void PipelineLoop::adopt(std::vector<Email> emails, int reserved) {
  for (const Email& email : emails) leases_.hold(email);
  const std::lock_guard lock(mutex_);
  make_room(reserved - static_cast<int>(emails.size()));
  give_to_workers(std::move(emails));
}

// The mutex is held.
void PipelineLoop::make_room(int finished) {
  in_flight_ -= finished;
  if (full_) woken_.notify_all();
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
  full_ = true;
  woken_.wait(lock, [&] { return stopping_ || in_flight_ <= most - options_.batch; });
  full_ = false;
  return !stopping_;
}

void PipelineLoop::wait_for_work(std::unique_lock<std::mutex>& lock, std::optional<base::TimePoint> next_due) {
  base::Milliseconds wait = options_.poll;
  if (next_due) wait = std::clamp(*next_due - clock_.now(), base::Milliseconds(1), wait);
  woken_.wait_for(lock, wait, [&] { return stopping_ || rung_; });
  if (options_.urgent) return;
  // A look costs as much for one e-mail as for many: what is not urgent gathers first.
  for (base::Milliseconds waited = gathering;; waited += gathering) {
    woken_.wait_for(lock, gathering, [&] { return stopping_; });
    if (stopping_ || waited >= longest_gathering || !options_.make_way || !options_.make_way()) return;
  }
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
    if (!claim->more && (!rung_ || !options_.urgent)) wait_for_work(lock, claim->next_due);
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
    // The first one wakes the writer, the last one ends its patience.
    if (done_.size() == 1 || !more_to_come()) worked_.notify_one();
  }
  --running_;
  worked_.notify_one();
}

// Of what shall share the next commit. The mutex is held.
bool PipelineLoop::more_to_come() const {
  return !stopping_ && done_.size() < std::min<std::size_t>(max_ledger_batch, static_cast<std::size_t>(in_flight_));
}

std::vector<Move> PipelineLoop::take_done(std::unique_lock<std::mutex>& lock) {
  worked_.wait(lock, [&] { return !done_.empty() || (stopping_ && running_ == 0 && in_flight_ == 0); });
  if (!done_.empty()) worked_.wait_for(lock, about_to_be_done, [&] { return !more_to_come(); });
  std::vector<Move> moves;
  while (!done_.empty() && moves.size() < max_ledger_batch) {
    moves.push_back(std::move(done_.front()));
    done_.pop_front();
  }
  return moves;
}

void PipelineLoop::write_loop() {
  std::unique_lock lock(mutex_);
  for (std::vector<Move> moves = take_done(lock); !moves.empty(); moves = take_done(lock)) {
    std::vector<std::string> ids;
    for (const Move& move : moves) ids.push_back(move.before.id);
    lock.unlock();
    write(std::move(moves));
    lock.lock();
    for (const std::string& id : ids) under_way_.erase(id);
    make_room(static_cast<int>(ids.size()));
  }
}

void PipelineLoop::forward(Move& move) const {
  const std::vector<State>& states = states_claimed_by(next_->pipeline_);
  const Email& after = move.after;
  if (move.through || after.callback_dead || !after.due_at || *after.due_at > clock_.now() ||
      std::ranges::find(states, after.state) == states.end() || !next_->reserve())
    return;
  move.through = after.state;
  move.through_note = move.note.empty() ? after.reason : move.note;
  move.note.clear();
  move.after = claiming_move(after, owner_, clock_.now() + leases_.length(), false).after;
}

// What was done must be written down: as long as the ledger cannot be reached it is tried again, and the leases are
// renewed meanwhile; one by one after the first time, so that none is refused for the sake of another. What cannot be
// written for a minute is left to the rescue, because others wait behind it.
void PipelineLoop::write(std::vector<Move> moves) {
  constexpr int most_rounds = 120;
  if (next_ != nullptr)
    for (Move& move : moves) forward(move);
  std::vector<Move> left = write_once(std::move(moves));
  for (int round = 1; !left.empty(); ++round) {
    base::log_warning("outbox", "moves could not be written",
                      {{"pipeline", std::string(name_of(pipeline_))}, {"count", std::to_string(left.size())}});
    if (round == most_rounds || (round > 1 && out_of_time())) break;
    wait_for_ledger();
    left = write_one_by_one(std::move(left));
  }
  for (const Move& move : left) {
    leases_.drop(move.before);
    if (is_forwarded(move)) next_->adopt({}, 1);
    base::log_error("outbox", "given up to write where an e-mail went",
                    {{"id", move.before.id}, {"state", std::string(outbox::name_of(move.after.state))}});
  }
}

std::vector<Move> PipelineLoop::write_once(std::vector<Move> moves) {
  std::vector<MoveOutcome> outcomes = ledger_.move(moves);
  std::vector<Move> failed;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].status == MoveStatus::failed)
      failed.push_back(std::move(moves[i]));
    else
      finished(moves[i], outcomes[i]);
  }
  return failed;
}

std::vector<Move> PipelineLoop::write_one_by_one(std::vector<Move> moves) {
  constexpr int enough = 2;  // one may fail for reasons of its own
  std::vector<Move> failed;
  int failed_in_a_row = 0;
  for (Move& move : moves) {
    // A ledger that is away would keep each of them waiting.
    const bool hopeless = failed_in_a_row >= enough && out_of_time();
    std::vector<Move> one;
    one.push_back(std::move(move));
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
    woken_.wait_until(lock, std::min(next, give_up_at_));
  else
    woken_.wait_until(lock, next, [&] { return stopping_; });
}

bool PipelineLoop::out_of_time() const {
  const std::lock_guard lock(mutex_);
  return stopping_ && std::chrono::steady_clock::now() >= give_up_at_;
}

void PipelineLoop::finished(const Move& move, MoveOutcome& outcome) {
  const bool done = outcome.status == MoveStatus::done;
  if (options_.claims) leases_.drop(move.before);
  if (done) {
    Email after = is_forwarded(move) ? passed_form(move, outcome.email) : outcome.email;
    on_moved_(move.before, after);
  } else if (options_.claims) {
    base::log_warning("outbox", "lease was lost",
                      {{"id", move.before.id}, {"state", std::string(outbox::name_of(move.before.state))}});
  }
  if (!is_forwarded(move)) return;
  std::vector<Email> taken;
  if (done) taken.push_back(std::move(outcome.email));
  next_->adopt(std::move(taken), 1);
}

}  // namespace postino::outbox
