#include "outbox/work/pipelines.h"

#include <algorithm>

#include "base/duration_words.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/this_thread.h"
#include "outbox/transport/trouble_log.h"

namespace postino::outbox {

namespace {

// Intake makes way for acceptance.
PipelineOptions intake_options(PipelineOptions options, WorkSignal& signal) {
  options.make_way = [&signal] { return signal.are_many_arriving(); };
  return options;
}

constexpr base::Milliseconds pause_without_memory{5'000};

// Claimed e-mails wait in memory for the end of a pause.
constexpr base::Milliseconds longest_domain_pause = std::chrono::hours(1);

std::vector<PipelineOptions::Pause> domain_pauses(const Event& event) {
  const auto* attempted = std::get_if<event::SendingAttempted>(&event);
  std::vector<PipelineOptions::Pause> pauses;
  if (attempted != nullptr)
    for (auto& [domain, length] : pauses_asked_for(attempted->result))
      pauses.push_back({std::move(domain), std::min(length, longest_domain_pause)});
  return pauses;
}

PipelineOptions callback_options(PipelineOptions options, const Policy& policy) {
  options.destinations_of = [&policy](const Email& email) { return callback_host_of(email, policy); };
  return options;
}

// Large messages that wait for memory must not keep all others from being claimed.
PipelineOptions send_options(PipelineOptions options, const DestinationRules& rules, const base::Clock& clock,
                             net::RepeatedTrouble& trouble) {
  options.destinations_of = domains_of;
  options.destination_rules = rules;
  options.pauses_after = [&trouble](const Event& event) {
    auto pauses = domain_pauses(event);
    for (const PipelineOptions::Pause& pause : pauses)
      if (const auto untold = trouble.admit("pause " + pause.destination))
        base::log_warning("outbox", "a mail server has asked to wait",
                          {{"domain", pause.destination},
                           {"for", base::duration_in_words(pause.length)},
                           {"others", std::to_string(*untold)}});
    return pauses;
  };
  options.too_many_set_aside = [&clock] {
    return event::SendingPostponed{"postponed: many large messages wait for memory",
                                   clock.now() + pause_without_memory};
  };
  return options;
}

WorkContext loop_context(const Pipelines::Context& context, Leases& leases) {
  return {context.ledger, leases, context.policy, context.clock, context.random, context.owner, context.memory};
}

// Other upkeep does not wait for the next look of the rescuer.
constexpr base::Milliseconds longest_tick{1'000};

bool is_calling(State state) {
  return state == State::calling_sent || state == State::calling_failed || state == State::calling_invalid;
}

// Often enough to notice every outage in which a lease may end. Where each process has its own clock, an e-mail is
// watched for a whole lease before it is rescued, and fewer looks do: each of them is paid for.
base::Milliseconds rescue_interval(const Ledger& ledger, const Policy& policy, const PipelinesOptions& options) {
  constexpr base::Milliseconds shortest{100};
  if (!ledger.has_one_clock()) return std::max(shortest, policy.lease / 3);
  return std::max(shortest, std::min(options.rescue_interval, policy.lease / 6));
}

}  // namespace

Pipelines::Pipelines(const Context& context, const Workers& workers, PipelinesOptions options,
                     std::function<void()> every_second)
    : context_(context),
      options_(std::move(options)),
      every_second_(std::move(every_second)),
      trouble_(context.clock),
      figures_(context.ledger, context.clock, options_.figures_patience),
      leases_(context.ledger, context.policy, context.clock),
      rescuer_(
          context.ledger, context.policy, context.clock,
          [this](const Email& before, const Email& after) {
            statistics_.rescued(before);
            moved(before, after);
          },
          context.policy.lease, rescue_interval(context.ledger, context.policy, options_), &leases_),
      callback_(
          Pipeline::callback, loop_context(context, leases_), callback_options(options_.callback, context.policy),
          [&sender = workers.callback_sender](const Email& email) { return sender.work(email); },
          [this](const Email& before, const Email& after) { moved(before, after); }),
      send_(
          Pipeline::send, loop_context(context, leases_),
          send_options(options_.send, options_.domains, context.clock, trouble_),
          [this, &sender = workers.sender](const Email& email, MessageRoom& room) {
            return sender.work(email, leases_, room);
          },
          [this](const Email& before, const Email& after) { moved(before, after); }, &callback_),
      intake_(
          Pipeline::intake, loop_context(context, leases_), intake_options(options_.intake, context.signal),
          [&intake = workers.intake](const Email& email, MessageRoom& room) { return intake.work(email, room); },
          [this](const Email& before, const Email& after) { moved(before, after); }) {}

void Pipelines::start() {
  context_.signal.listen([this](Pipeline pipeline) { loop(pipeline).wake(); });
  leases_.start();
  intake_.start();
  if (options_.sends) {
    send_.start();
    callback_.start();
  }
  upkeep_ = std::thread([this] { run_upkeep(); });
}

PipelineLoop& Pipelines::loop(Pipeline pipeline) {
  if (pipeline == Pipeline::intake) return intake_;
  return pipeline == Pipeline::send ? send_ : callback_;
}

void Pipelines::moved(const Email& before, const Email& after) {
  statistics_.moved(before, after);
  tell(before, after);
  if (options_.on_change && before.state != after.state) options_.on_change(after);
  if (const auto pipeline = pipeline_of(after)) loop(*pipeline).wake();
}

void Pipelines::tell(const Email& before, const Email& after) {
  const auto log = [this](const std::string& kind, std::string_view message, const std::string& id,
                          std::string_view reason) {
    if (const auto untold = trouble_.admit(kind))
      base::log_warning("outbox", message,
                        {{"id", id}, {"reason", without_addresses(reason)}, {"others", std::to_string(*untold)}});
  };
  const bool refused = before.state == State::processing && tell_refused(before, after);
  if (after.callback_dead && !before.callback_dead)
    log("callback", "a callback was given up", after.id, after.callback_error);
  // After a callback in vain it is in the same state as before that.
  if (before.state == after.state || is_calling(before.state)) return;
  if (after.state == State::failed && !refused) log("failed", "an e-mail failed", after.id, after.reason);
  if (after.state == State::invalid) log("invalid", "an e-mail is invalid", after.id, after.reason);
  if (after.state == State::held) log("held", "an e-mail is held", after.id, after.reason);
}

// Also of an e-mail that others have got. Each code is a kind of its own, and what no mail server was asked for.
bool Pipelines::tell_refused(const Email& before, const Email& after) {
  constexpr std::size_t code_size = 3;
  bool found = false;
  if (before.recipients.size() != after.recipients.size()) return found;
  for (std::size_t i = 0; i < after.recipients.size(); ++i) {
    const Recipient& recipient = after.recipients[i];
    if (recipient.state != RecipientState::refused || before.recipients[i].state == RecipientState::refused) continue;
    found = true;
    const bool is_reply = recipient.reply.starts_with('5');
    if (const auto untold = trouble_.admit("refused " + recipient.reply.substr(0, code_size)))
      base::log_warning(
          "outbox",
          is_reply ? "a mail server has refused a recipient for good" : "an e-mail cannot be sent to a recipient",
          {{"id", after.id}, {"reply", without_addresses(recipient.reply)}, {"others", std::to_string(*untold)}});
  }
  return found;
}

void Pipelines::run_upkeep() {
  base::name_thread("outbox-upkeep");
  const auto looks_every = rescue_interval(context_.ledger, context_.policy, options_);
  const auto tick = std::min(looks_every, longest_tick);
  std::unique_lock lock(mutex_);
  for (base::Milliseconds passed = looks_every; !stopping_;) {
    lock.unlock();
    bool more = false;
    if (passed >= looks_every) {
      more = rescuer_.run_once();
      passed = base::Milliseconds(0);
    }
    every_second_();
    lock.lock();
    if (more) {
      passed = looks_every;
      continue;
    }
    ended_.wait_for(lock, tick, [&] { return stopping_; });
    passed += tick;
  }
}

void Pipelines::begin_stop(PipelineLoop::Instant give_up_at) {
  intake_.begin_stop(give_up_at);
  send_.begin_stop(give_up_at);
  callback_.begin_stop(give_up_at);
}

void Pipelines::stop(PipelineLoop::Instant give_up_at) {
  begin_stop(give_up_at);
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
  figures_.stop();
}

void Pipelines::append_metrics(std::string& out, bool ask_ledger) {
  statistics_.append_to(out);
  base::append_metric(out, "postino_outbox_ledger_refusing", "gauge",
                      "1 while the ledger takes no writes: nothing is claimed or rescued, and outcomes wait.",
                      leases_.health().is_refusing() ? "1" : "0");
  base::append_metric(out, "postino_outbox_outcomes_waiting", "gauge",
                      "E-mails whose outcome is known and could not be written yet.",
                      std::to_string(intake_.unwritten() + send_.unwritten() + callback_.unwritten()));
  base::append_metric(out, "postino_outbox_waiting_for_memory", "gauge",
                      "E-mails that wait until there is memory for their message.",
                      std::to_string(intake_.set_aside() + send_.set_aside()));
  base::append_metric(out, "postino_outbox_malformed_emails", "gauge",
                      "E-mails that this process has met and whose record cannot be read.",
                      std::to_string(context_.ledger.malformed().size()));
  if (ask_ledger) figures_.append_to(out);
}

}  // namespace postino::outbox
