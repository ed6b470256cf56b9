#include "outbox/work/pipelines.h"

#include "base/log.h"
#include "base/metrics_text.h"
#include "base/thread_name.h"

namespace postino::outbox {

namespace {

// Intake makes way for acceptance.
PipelineOptions intake_options(PipelineOptions options, WorkSignal& signal) {
  options.make_way = [&signal] { return signal.are_many_arriving(); };
  return options;
}

WorkContext loop_context(const Pipelines::Context& context, Leases& leases) {
  return {context.ledger, leases, context.policy, context.clock, context.random, context.owner};
}

}  // namespace

Pipelines::Pipelines(const Context& context, const Workers& workers, PipelinesOptions options,
                     std::function<void()> every_second)
    : context_(context),
      options_(std::move(options)),
      every_second_(std::move(every_second)),
      leases_(context.ledger, context.policy, context.clock),
      rescuer_(
          context.ledger, context.policy, context.clock,
          [this](const Email& before, const Email& after) {
            statistics_.rescued(before);
            moved(before, after);
          },
          context.policy.lease / 3, options_.rescue_interval),
      callback_(
          Pipeline::callback, loop_context(context, leases_), options_.callback,
          [&caller = workers.caller](const Email& email) { return caller.work(email); },
          [this](const Email& before, const Email& after) { moved(before, after); }),
      send_(
          Pipeline::send, loop_context(context, leases_), options_.send,
          [this, &sender = workers.sender](const Email& email) { return sender.work(email, leases_); },
          [this](const Email& before, const Email& after) { moved(before, after); }, &callback_),
      intake_(
          Pipeline::intake, loop_context(context, leases_), intake_options(options_.intake, context.signal),
          [&intake = workers.intake](const Email& email) { return intake.work(email); },
          [this](const Email& before, const Email& after) { moved(before, after); }) {}

void Pipelines::start() {
  context_.signal.listen([this](Pipeline pipeline) { loop(pipeline).wake(); });
  leases_.start();
  intake_.start();
  send_.start();
  callback_.start();
  upkeep_ = std::thread([this] { run_upkeep(); });
}

PipelineLoop& Pipelines::loop(Pipeline pipeline) {
  if (pipeline == Pipeline::intake) return intake_;
  return pipeline == Pipeline::send ? send_ : callback_;
}

void Pipelines::moved(const Email& before, const Email& after) {
  statistics_.moved(before, after);
  if (const auto pipeline = pipeline_of(after)) loop(*pipeline).wake();
}

void Pipelines::run_upkeep() {
  base::name_thread("outbox-upkeep");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const bool more = rescuer_.run_once();
    every_second_();
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
  context_.signal.listen({});
  if (upkeep_.joinable()) upkeep_.join();
  intake_.stop(give_up_at);
  send_.stop(give_up_at);
  callback_.stop(give_up_at);
  leases_.stop();
}

void Pipelines::append_metrics(std::string& out, bool ask_ledger) const {
  statistics_.append_to(out);
  if (!ask_ledger) return;
  if (const auto counts = context_.ledger.counts(std::nullopt)) {
    base::append_metric_head(out, "postino_outbox_emails", "gauge", "E-mails in the ledger, by state.");
    for (const State state : all_states())
      out.append("postino_outbox_emails{state=\"")
          .append(name_of(state))
          .append("\"} ")
          .append(std::to_string((*counts)[static_cast<std::size_t>(state)]))
          .append("\n");
  }
  base::append_metric_head(out, "postino_outbox_queue_age_seconds", "gauge",
                           "Time that the oldest due e-mail has been waiting, by pipeline; 0 if none is due.");
  constexpr std::pair<Pipeline, std::string_view> queues[] = {
      {Pipeline::intake, "intake"}, {Pipeline::send, "send"}, {Pipeline::callback, "callback"}};
  for (const auto& [pipeline, name] : queues) {
    const auto oldest = context_.ledger.oldest_due(pipeline);
    if (!oldest) continue;
    const auto age = *oldest ? std::max(context_.clock.now() - **oldest, base::Milliseconds(0)) : base::Milliseconds(0);
    out.append("postino_outbox_queue_age_seconds{pipeline=\"")
        .append(name)
        .append("\"} ")
        .append(std::to_string(static_cast<double>(age.count()) / 1'000))
        .append("\n");
  }
}

}  // namespace postino::outbox
