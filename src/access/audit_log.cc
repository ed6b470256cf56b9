#include "access/audit_log.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "base/log.h"
#include "base/metrics_text.h"

namespace postino::access {

namespace {

// Longer than a busy store takes, and short enough for a person who waits.
constexpr std::chrono::seconds caller_patience(5);
constexpr base::Milliseconds pause_after_failure = std::chrono::seconds(1);

base::Result<void> not_written(std::string why) {
  return base::fail(base::ErrorCode::exhausted, "the audit cannot be written: " + std::move(why));
}

}  // namespace

// What waits may be answered after this has returned.
base::Result<void> Audit::record(AuditEvent event) {
  const auto answer = std::make_shared<std::promise<base::Result<void>>>();
  std::future<base::Result<void>> answered = answer->get_future();
  record(std::move(event), [answer](base::Result<void> done) { answer->set_value(std::move(done)); });
  if (answered.wait_for(caller_patience) != std::future_status::ready) return not_written("the store takes too long");
  return answered.get();
}

AuditLog::AuditLog(store::Store& store, const AuditOptions& options, const base::Clock& clock, base::Random& random,
                   const RefusalRate& rate)
    : clock_(clock),
      rate_(rate),
      chain_(store, options, clock, random,
             store::Retry(random, [this](base::Milliseconds delay) { pause_.wait(delay); })),
      refusals_left_(rate.burst),
      counted_at_(clock.monotonic()),
      thread_([this] { run(); }) {}

AuditLog::~AuditLog() { stop(); }

void AuditLog::note(AuditEvent event) {
  const std::lock_guard lock(mutex_);
  if (!is_admitted(event)) {
    ++left_out_;
    ++all_left_out_;
    return;
  }
  waiting_.push_back({std::move(event), nullptr});
  changed_.notify_one();
}

void AuditLog::record(AuditEvent event, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (!ends_ && waiting_.size() < most_waiting) {
      waiting_.push_back({std::move(event), std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  done(not_written("too much waits for it"));
}

// Under the lock.
bool AuditLog::is_admitted(const AuditEvent& event) {
  if (ends_ || waiting_.size() >= most_waiting) return false;
  if (event.result != AuditEvent::refused) return true;
  const base::Milliseconds now = clock_.monotonic();
  const double seconds = std::chrono::duration<double>(now - counted_at_).count();
  counted_at_ = now;
  refusals_left_ = std::min(rate_.burst, refusals_left_ + seconds * rate_.in_a_second);
  if (refusals_left_ < 1) return false;
  refusals_left_ -= 1;
  return true;
}

bool AuditLog::take(std::vector<Waiting>& batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
  if (waiting_.empty() && left_out_ == 0) return false;
  if (left_out_ > 0) {
    AuditEvent event{.actor = "",
                     .kind = AuditEvent::server,
                     .action = std::string(audit_left_out),
                     .detail = std::to_string(left_out_) + " events before this one were not written"};
    batch.push_back({std::move(event), nullptr});
    left_out_ = 0;
  }
  while (!waiting_.empty() && batch.size() < AuditChain::most_in_a_commit) {
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return true;
}

void AuditLog::run() {
  base::name_thread("audit");
  std::vector<Waiting> batch;
  while (take(batch)) {
    write(batch);
    batch.clear();
  }
  chain_.leave();
}

// Until it is written: there is no room for gaps. Those who wait are told at the first failure. At the end it is tried
// once.
void AuditLog::write(std::vector<Waiting>& batch) {
  std::vector<AuditEvent> events;
  for (const Waiting& each : batch) events.push_back(each.event);
  while (true) {
    const auto done = chain_.append(events);
    bool ends = false;
    bool is_news = false;
    {
      const std::lock_guard lock(mutex_);
      is_news = problem_.empty();
      problem_ = done ? "" : done.error().message;
      ends = ends_;
    }
    // After the problem was noted: who is told asks for it.
    const base::Result<void> outcome = done ? base::Result<void>() : not_written(done.error().message);
    for (Waiting& each : batch)
      if (const Done answer = std::exchange(each.done, nullptr)) answer(outcome);
    if (done) break;
    ++failures_;
    if (is_news || ends) base::log_error("audit", "cannot be written", {{"cause", done.error().message}});
    if (ends) return;
    pause_.wait(pause_after_failure);
  }
  written_ += batch.size();
}

void AuditLog::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  pause_.end();
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::optional<std::string> AuditLog::problem() const {
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) return std::nullopt;
  return "the audit cannot be written: " + problem_;
}

void AuditLog::append_metrics(std::string& out) const {
  base::append_metric(out, "postino_audit_events_total", "counter", "Events that were written to the audit.",
                      std::to_string(written_));
  base::append_metric(out, "postino_audit_left_out_total", "counter",
                      "Events that were not written to the audit, because there were too many.",
                      std::to_string(all_left_out_));
  base::append_metric(out, "postino_audit_failures_total", "counter", "Failed attempts to write to the audit.",
                      std::to_string(failures_));
  std::size_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    waiting = waiting_.size();
  }
  base::append_metric(out, "postino_audit_waiting", "gauge", "Events that wait to be written to the audit.",
                      std::to_string(waiting));
}

}  // namespace postino::access
