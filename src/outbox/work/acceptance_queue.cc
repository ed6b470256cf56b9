#include "outbox/work/acceptance_queue.h"

#include <algorithm>
#include <iterator>

#include "base/this_thread.h"

namespace postino::outbox {

namespace {

constexpr std::size_t small_batch = 16;  // is not divided: a commit costs as much as a few of its e-mails
constexpr int threads = 2;
constexpr std::size_t enough_for_another = 8;  // e-mails that wait while a batch is being accepted

std::size_t waiting_bytes(const std::vector<NewEmail>& emails) {
  std::size_t bytes = 0;
  for (const NewEmail& email : emails)
    bytes += email.payload.size() + (email.change.message ? email.change.message->size() : 0);
  return bytes;
}

}  // namespace

AcceptanceQueue::AcceptanceQueue(Ledger& ledger, WorkSignal& signal, AcceptanceQueueOptions options)
    : ledger_(ledger), signal_(signal), options_(options) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

AcceptanceQueue::~AcceptanceQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool AcceptanceQueue::try_submit(std::vector<NewEmail>& emails, Done done) {
  const std::size_t bytes = waiting_bytes(emails);
  {
    const std::lock_guard lock(mutex_);
    if (waiting_emails_ + emails.size() > options_.max_waiting_emails ||
        waiting_bytes_ + bytes > options_.max_waiting_bytes)
      return false;
    signal_.note_arrivals(emails.size());
    waiting_emails_ += emails.size();
    waiting_bytes_ += bytes;
    waiting_.push_back({std::move(emails), bytes, std::move(done)});
    const bool woken_already = accepting_ == 0 && waiting_.size() > 1;
    if (woken_already || !has_work_for_another()) return true;  // those who are at work look again by themselves
  }
  changed_.notify_one();
  return true;
}

void AcceptanceQueue::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return waiting_.empty() && accepting_ == 0; });
}

void AcceptanceQueue::run() {
  base::name_thread("outbox-accept");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || has_work_for_another(); });
    if (waiting_.empty()) return;
    ++accepting_;
    while (!waiting_.empty()) {
      Batch batch = take_batch();
      lock.unlock();
      accept(std::move(batch));
      lock.lock();
    }
    --accepting_;
    idle_.notify_all();
  }
}

// The mutex is held.
bool AcceptanceQueue::has_work_for_another() const {
  return accepting_ == 0 ? !waiting_.empty() : accepting_ < threads && waiting_emails_ >= enough_for_another;
}

// Whole requests, at least one. The mutex is held.
AcceptanceQueue::Batch AcceptanceQueue::take_batch() {
  // Half of what waits: while the callers of this half are answered and come again, the other half is written.
  const std::size_t most = std::min(options_.batch, std::max(small_batch, waiting_emails_ / 2));
  Batch batch;
  std::size_t emails = 0;
  while (!waiting_.empty()) {
    Request& next = waiting_.front();
    if (!batch.empty() && emails + next.emails.size() > most) break;
    emails += next.emails.size();
    waiting_bytes_ -= next.bytes;
    batch.push_back(std::move(next));
    waiting_.pop_front();
  }
  waiting_emails_ -= emails;
  return batch;
}

void AcceptanceQueue::accept(Batch batch) {
  std::vector<NewEmail> emails;
  std::vector<std::size_t> counts;
  for (Request& request : batch) {
    counts.push_back(request.emails.size());
    std::ranges::move(request.emails, std::back_inserter(emails));
  }
  base::Result<AcceptAnswer> answer = ledger_.accept(std::move(emails), std::nullopt, nullptr);
  auto next = answer ? answer->outcomes.begin() : std::vector<AcceptOutcome>::iterator();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!answer) {
      batch[i].done(base::propagate(answer.error()));
      continue;
    }
    const auto end = next + static_cast<std::ptrdiff_t>(counts[i]);
    batch[i].done(std::vector<AcceptOutcome>(std::make_move_iterator(next), std::make_move_iterator(end)));
    next = end;
  }
}

}  // namespace postino::outbox
