// What the writing thread of a pipeline does: outcomes go to the ledger in batches, and on to the next pipeline.
#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/log.h"
#include "outbox/work/pipeline_loop.h"

namespace postino::outbox {

namespace {

constexpr base::Milliseconds about_to_be_done{3};
// Between attempts to write what could not be written.
constexpr std::chrono::milliseconds first_patience{500};
constexpr std::chrono::milliseconds longest_patience{30'000};

// As it was on the way, for those who count. It waits for no worker: the next one has it already.
Email passed_form(State passed, Email email) {
  email.state = passed;
  email.due_at.reset();
  return email;
}

}  // namespace

// Of what shall share the next commit. The mutex is held.
bool PipelineLoop::more_to_come() const {
  return !stopping_ && done_.size() < std::min<std::size_t>(max_ledger_batch, static_cast<std::size_t>(in_flight_));
}

bool PipelineLoop::wait_for_done(std::unique_lock<std::mutex>& lock) {
  if (!unwritten_.empty()) {
    const Instant until = stopping_ ? std::min(next_attempt_, give_up_at_) : next_attempt_;
    // What else is done waits, too, while the ledger takes nothing. Who tells the loop to stop is heard at once.
    const bool was_stopping = stopping_;
    worked_.wait_until(lock, until, [&] { return (!refused_ && !done_.empty()) || stopping_ != was_stopping; });
    return true;
  }
  const auto is_over = [&] { return stopping_ && running_ == 0 && in_flight_ == 0; };
  worked_.wait(lock, [&] { return !done_.empty() || is_over(); });
  if (done_.empty()) return false;
  worked_.wait_for(lock, about_to_be_done, [&] { return !more_to_come(); });
  return true;
}

std::vector<PipelineLoop::Done> PipelineLoop::take_done() {
  std::vector<Done> batch;
  while (!done_.empty() && batch.size() < max_ledger_batch) {
    batch.push_back(std::move(done_.front()));
    done_.pop_front();
  }
  return batch;
}

// What was done must be written down, however long that takes: the leases are kept meanwhile. As long as the ledger
// takes no writes, nothing more is claimed, so what waits is bounded by what was in flight.
void PipelineLoop::write_loop() {
  std::unique_lock lock(mutex_);
  while (wait_for_done(lock)) {
    std::vector<Done> batch = refused_ ? std::vector<Done>() : take_done();
    lock.unlock();
    if (!batch.empty()) write(std::move(batch));
    if (!unwritten_.empty() && (out_of_time() || std::chrono::steady_clock::now() >= next_attempt_)) write_again();
    const bool refused = !unwritten_.empty() && context_.leases.health().is_refusing();
    lock.lock();
    for (const std::string& id : written_) under_way_.erase(id);
    refused_ = refused;
    unwritten_count_ = static_cast<int>(unwritten_.size());
    make_room(static_cast<int>(written_.size()));
    written_.clear();
  }
}

void PipelineLoop::forward(Done& done) const {
  const Email& after = done.change.after;
  const base::TimePoint now = context_.clock.now();
  if (pipeline_of(after) != next_->pipeline_ || !is_due(after, now)) return;
  auto place = next_->reserve(after);
  if (!place) return;
  done.place = *std::move(place);
  done.forwarded_from = after.state;
  auto change = then(std::move(done.change), event::Claimed{context_.owner}, context_.policy, now);
  CHECK(change.has_value());  // what waits for a pipeline can be claimed
  done.change = *std::move(change);
}

void PipelineLoop::write(std::vector<Done> batch) {
  if (next_ != nullptr)
    for (Done& done : batch) forward(done);
  std::vector<Done> left = write_once(std::move(batch));
  if (left.empty()) return;
  base::log_warning("outbox", "changes of state could not be written, and will be tried again",
                    {{"pipeline", std::string(name_of(pipeline_))}, {"count", std::to_string(left.size())}});
  context_.leases.health().check();
  if (unwritten_.empty()) {
    patience_ = first_patience;
    next_attempt_ = std::chrono::steady_clock::now() + patience_;
  }
  std::ranges::move(left, std::back_inserter(unwritten_));
}

// One by one, so that none is refused for the sake of another. If the ledger can be written otherwise, these have
// reasons of their own, and the others need not wait for them.
void PipelineLoop::write_again() {
  LedgerHealth& health = context_.leases.health();
  const bool last_time = out_of_time();
  const std::size_t before = unwritten_.size();
  if (!health.is_refusing() || health.check()) unwritten_ = write_one_by_one(std::move(unwritten_));
  if (last_time) return give_up_unwritten();
  if (unwritten_.empty()) return;
  const bool refused = !health.check();
  patience_ = refused || unwritten_.size() < before ? first_patience : std::min(2 * patience_, longest_patience);
  next_attempt_ = std::chrono::steady_clock::now() + patience_;
}

// It is time to end: the rescuer of the next process finds them.
void PipelineLoop::give_up_unwritten() {
  for (const Done& done : unwritten_) {
    context_.leases.drop(done.change.before);
    if (done.forwarded_from) next_->release({done.place});
    base::log_error("outbox", "gave up writing the new state of an e-mail",
                    {{"id", done.change.before.id}, {"state", std::string(name_of(done.change.after.state))}});
    written_.push_back(done.change.before.id);
  }
  unwritten_.clear();
}

std::vector<PipelineLoop::Done> PipelineLoop::write_once(std::vector<Done> batch) {
  std::vector<Change> changes;
  changes.reserve(batch.size());
  for (const Done& done : batch) changes.push_back(done.change);
  std::vector<MoveOutcome> outcomes = context_.ledger.move(std::move(changes));
  std::vector<Done> failed;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].status == MoveStatus::failed) {
      batch[i].change.may_be_written |= outcomes[i].in_doubt;
      failed.push_back(std::move(batch[i]));
    } else {
      finished(batch[i], outcomes[i]);
    }
  }
  return failed;
}

std::vector<PipelineLoop::Done> PipelineLoop::write_one_by_one(std::vector<Done> batch) {
  constexpr int enough = 2;  // one may fail for reasons of its own
  std::vector<Done> failed;
  int failed_in_a_row = 0;
  for (Done& done : batch) {
    // A ledger that is away would keep each of them waiting.
    const bool hopeless = failed_in_a_row >= enough && (out_of_time() || context_.leases.health().is_refusing());
    // The next one's lease began long ago by now.
    if (done.forwarded_from) {
      auto renewed = then(std::move(done.change), event::LeaseRenewed{}, context_.policy, context_.clock.now());
      CHECK(renewed.has_value());  // it is in a working state by then
      done.change = *std::move(renewed);
    }
    std::vector<Done> one;
    one.push_back(std::move(done));
    if (!hopeless) one = write_once(std::move(one));
    failed_in_a_row = one.empty() ? 0 : failed_in_a_row + 1;
    if (failed_in_a_row == enough) context_.leases.health().check();
    std::ranges::move(one, std::back_inserter(failed));
  }
  return failed;
}

bool PipelineLoop::out_of_time() const {
  const std::lock_guard lock(mutex_);
  return stopping_ && std::chrono::steady_clock::now() >= give_up_at_;
}

void PipelineLoop::finished(const Done& done, MoveOutcome& outcome) {
  const Email& before = done.change.before;
  const bool written = outcome.status == MoveStatus::done;
  written_.push_back(before.id);
  if (options_.claims) context_.leases.drop(before);
  if (written) {
    on_moved_(before, done.forwarded_from ? passed_form(*done.forwarded_from, outcome.email) : outcome.email);
  } else if (options_.claims) {
    base::log_warning("outbox", "a lease was lost", {{"id", before.id}, {"state", std::string(name_of(before.state))}});
  }
  if (!done.forwarded_from) return;
  if (!written) return next_->release({done.place});
  std::vector<Arrival> arrivals;
  arrivals.push_back({std::move(outcome.email), done.place});
  next_->adopt(std::move(arrivals));
}

}  // namespace postino::outbox
