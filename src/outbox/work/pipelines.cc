#include "outbox/work/pipelines.h"

#include "base/log.h"
#include "base/metrics_text.h"
#include "base/thread_name.h"

namespace postino::outbox {

Pipelines::Pipelines(Ledger& ledger, const base::Clock& clock, const Course& course, const Intake& intake,
                     const Sender& sender, const Caller& caller, PipelinesOptions options, std::function<void()> tick)
    : ledger_(ledger),
      clock_(clock),
      options_(std::move(options)),
      tick_(std::move(tick)),
      leases_(ledger, clock, options_.lease),
      rescuer_(
          ledger, course, clock,
          [this](const Email& before, const Email& after) {
            statistics_.rescued(before);
            moved(before, after);
          },
          options_.lease / 3, options_.rescue_interval),
      callback_(
          Pipeline::callback, ledger, leases_, clock, options_.owner, options_.callback,
          [&caller](const Email& email) { return caller.work(email); },
          [this](const Email& before, const Email& after) { moved(before, after); }),
      send_(
          Pipeline::send, ledger, leases_, clock, options_.owner, options_.send,
          [this, &sender](const Email& email) { return sender.work(email, leases_); },
          [this](const Email& before, const Email& after) { moved(before, after); }, &callback_),
      intake_(
          Pipeline::intake, ledger, leases_, clock, options_.owner, options_.intake,
          [&intake](const Email& email) { return intake.work(email); },
          [this](const Email& before, const Email& after) { moved(before, after); }) {}

void Pipelines::start() {
  leases_.start();
  intake_.start();
  send_.start();
  callback_.start();
  tender_ = std::thread([this] { tend(); });
}

PipelineLoop& Pipelines::loop(Pipeline pipeline) {
  if (pipeline == Pipeline::intake) return intake_;
  return pipeline == Pipeline::send ? send_ : callback_;
}

void Pipelines::wake(Pipeline pipeline) { loop(pipeline).wake(); }

void Pipelines::wake_for(const Email& email) {
  if (!email.due_at || email.callback_dead) return;
  for (const Pipeline pipeline : {Pipeline::intake, Pipeline::send, Pipeline::callback})
    for (const State state : states_claimed_by(pipeline))
      if (state == email.state) wake(pipeline);
}

void Pipelines::moved(const Email& before, const Email& after) {
  statistics_.moved(before, after);
  wake_for(after);
}

void Pipelines::tend() {
  base::name_thread("outbox-tend");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const bool more = rescuer_.run_once();
    tick_();
    lock.lock();
    if (!more) ended_.wait_for(lock, options_.rescue_interval, [&] { return stopping_; });
  }
}

void Pipelines::stop(PipelineLoop::Instant give_up_at) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  ended_.notify_all();
  if (tender_.joinable()) tender_.join();
  intake_.stop(give_up_at);
  send_.stop(give_up_at);
  callback_.stop(give_up_at);
  leases_.stop();
}

void Pipelines::append_metrics(std::string& out, bool ask_ledger) const {
  statistics_.append_to(out);
  if (!ask_ledger) return;
  if (const auto counts = ledger_.counts(std::nullopt)) {
    base::append_metric_head(out, "postino_outbox_emails", "gauge", "E-mails in each state.");
    for (const State state : all_states())
      out.append("postino_outbox_emails{state=\"")
          .append(name_of(state))
          .append("\"} ")
          .append(std::to_string((*counts)[static_cast<std::size_t>(state)]))
          .append("\n");
  }
  base::append_metric_head(out, "postino_outbox_queue_age_seconds", "gauge",
                           "How long the oldest e-mail that is due has been waiting.");
  constexpr std::pair<Pipeline, std::string_view> queues[] = {
      {Pipeline::intake, "intake"}, {Pipeline::send, "send"}, {Pipeline::callback, "callback"}};
  for (const auto& [pipeline, name] : queues) {
    const auto oldest = ledger_.oldest_due(pipeline);
    if (!oldest) continue;
    const auto age = *oldest ? std::max(clock_.now() - **oldest, base::Milliseconds(0)) : base::Milliseconds(0);
    out.append("postino_outbox_queue_age_seconds{pipeline=\"")
        .append(name)
        .append("\"} ")
        .append(std::to_string(static_cast<double>(age.count()) / 1'000))
        .append("\n");
  }
}

}  // namespace postino::outbox
