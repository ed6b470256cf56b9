#include "support/answer_intake.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "base/metrics_text.h"
#include "json/fields.h"

namespace postino::support {

namespace {

using broker::Disposition;

constexpr std::size_t most_answer_bytes = 6 << 20;  // an e-mail in base64, and a little more

bool may_succeed_later(RefusalKind kind) {
  return kind == RefusalKind::busy || kind == RefusalKind::unavailable || kind == RefusalKind::outcome_unknown;
}

}  // namespace

std::optional<ReceivedMessage> read_answer(std::string_view body) {
  if (body.empty() || body.size() > most_answer_bytes) return std::nullopt;
  if (!body.starts_with('{')) return received_email(body);
  json::FieldErrors errors;
  json::Document document;
  if (json::has_too_many_values(body) || !document.parse(body, errors)) return std::nullopt;
  json::Fields fields(document.root(), "", errors);
  ReceivedMessage message = received_in(fields);
  fields.refuse_others();
  if (!errors.empty()) return std::nullopt;
  return message;
}

AnswerIntake::AnswerIntake(broker::Broker& broker, Correspondence& correspondence, const base::Clock& clock,
                           base::Random& random, AnswerIntakeOptions options)
    : broker_(broker),
      correspondence_(correspondence),
      random_(random),
      options_(std::move(options)),
      health_("support", "the queue of answers", options_.queue + " of " + options_.connection),
      rejections_(clock) {}

void AnswerIntake::start() {
  thread_ = std::thread([this] { run(); });
}

void AnswerIntake::stop() {
  stopping_ = true;
  pause_.end();
  if (thread_.joinable()) thread_.join();
}

void AnswerIntake::run() {
  base::name_thread("support-queue");
  int failures = 0;
  while (!stopping_) {
    failures = run_once() ? 0 : failures + 1;
    if (failures > 0) pause_.wait(options_.pause.equal_jitter(failures, random_));
  }
}

bool AnswerIntake::run_once() {
  auto held = broker_.receive(options_.queue, {.max_messages = options_.batch, .wait = options_.wait});
  if (!held) {
    health_.fails(held.error().message, std::chrono::steady_clock::now());
    return false;
  }
  health_.works();
  std::vector<Disposition> dispositions;
  bool well = true;
  for (const broker::Message& message : (*held)->messages()) {
    // After trouble the rest is not tried: it is given back in its order.
    const Disposition disposition = well ? take(message) : Disposition::release;
    well = well && disposition != Disposition::release;
    dispositions.push_back(disposition);
  }
  if (dispositions.empty()) return true;
  const auto settled = (*held)->settle(dispositions);
  if (settled) return well;
  // They come again, and are known then.
  base::log_warning(
      "support", "messages of a queue could not be settled",
      {{"connection", options_.connection}, {"queue", options_.queue}, {"cause", settled.error().message}});
  return false;
}

// What customers wrote is not for the log.
Disposition AnswerIntake::take(const broker::Message& message) {
  const auto reject = [&](const std::string& why) {
    ++rejected_;
    if (const auto untold = rejections_.admit(why))
      base::log_warning("support", "an answer was rejected",
                        {{"connection", options_.connection},
                         {"queue", options_.queue},
                         {"message_id", message.id},
                         {"cause", why},
                         {"others", std::to_string(*untold)}});
    return Disposition::reject;
  };
  if (!message.fault.empty()) return reject("it cannot be read");
  const auto answer = read_answer(message.body);
  if (!answer) return reject("it is neither JSON with headers and text nor an e-mail");
  Actor actor;
  actor.scope.tenant = options_.tenant;
  actor.name = "queue " + options_.queue;
  const auto taken = correspondence_.receive(*answer, actor);
  if (taken) {
    ++taken_;
    return Disposition::acknowledge;
  }
  if (!may_succeed_later(taken.error().kind)) return reject(taken.error().message);
  base::log_warning("support", "an answer could not be added",
                    {{"queue", options_.queue}, {"message_id", message.id}, {"cause", taken.error().message}});
  return Disposition::release;
}

void AnswerIntake::append_metrics(std::string& out) const {
  base::append_metric(out, "postino_ticket_answers_taken_total", "counter",
                      "Customers' answers from the queue that were added to tickets, repeated ones too.",
                      std::to_string(taken_));
  base::append_metric(out, "postino_ticket_answers_rejected_total", "counter",
                      "Messages from the queue of answers that answer no ticket, or cannot be read.",
                      std::to_string(rejected_));
}

}  // namespace postino::support
