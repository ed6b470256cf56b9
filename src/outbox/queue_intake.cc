#include "outbox/queue_intake.h"

#include <algorithm>

#include "base/hash.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/this_thread.h"
#include "outbox/transport/trouble_log.h"

namespace postino::outbox {

namespace {

using broker::Disposition;
using Need = json::Fields::Need;

constexpr std::string_view result_names[] = {"accepted", "repeated", "rejected", "released", "conflicting"};

std::string hex_hash(const std::string& text) { return base::to_hex(base::sha256(text)); }

// Of what is asked for, not of how it is written.
std::string request_hash(const std::vector<Payload>& payloads) {
  std::string text;
  for (const Payload& payload : payloads) text.append(to_json(payload)).append("\n");
  return hex_hash(text);
}

std::string escaped(std::string_view text) {
  std::string value;
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') value += '\\';
    value += letter;
  }
  return value;
}

}  // namespace

QueueIntake::QueueIntake(broker::Broker& broker, Outbox& outbox, const base::Clock& clock, base::Random& random,
                         QueueIntakeOptions options)
    : broker_(broker),
      outbox_(outbox),
      clock_(clock),
      random_(random),
      options_(std::move(options)),
      health_("outbox", "the queue of e-mails", options_.queue + " of " + options_.connection),
      rejections_(clock) {}

void QueueIntake::start() {
  for (int i = 0; i < options_.workers; ++i) threads_.emplace_back([this] { run(); });
}

void QueueIntake::stop() {
  stopping_ = true;
  pause_.end();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void QueueIntake::run() {
  base::name_thread("outbox-queue");
  int failures = 0;
  while (!stopping_) {
    failures = run_once() ? 0 : failures + 1;
    if (failures > 0) pause_.wait(options_.pause.equal_jitter(failures, random_));
  }
}

bool QueueIntake::run_once() {
  auto held = broker_.receive(options_.queue, {.max_messages = options_.batch, .wait = options_.wait});
  if (!held) {
    health_.fails(without_addresses(held.error().message), std::chrono::steady_clock::now());
    return false;
  }
  health_.works();
  std::vector<Disposition> dispositions;
  bool well = true;
  for (const broker::Message& message : (*held)->messages()) {
    // After trouble the rest is not tried: it is given back in its order.
    const Result result = well ? take(message) : Result::released;
    ++messages_[static_cast<std::size_t>(result)];
    well = well && result != Result::released;
    Disposition disposition = Disposition::acknowledge;
    if (result == Result::rejected || result == Result::conflicting) disposition = Disposition::reject;
    if (result == Result::released) disposition = Disposition::release;
    dispositions.push_back(disposition);
  }
  if (dispositions.empty()) return true;
  const auto settled = (*held)->settle(dispositions);
  if (settled) return well;
  // They come again, and are known then.
  base::log_warning(
      "outbox", "messages of a queue could not be settled",
      {{"connection", options_.connection}, {"queue", options_.queue}, {"cause", settled.error().message}});
  return false;
}

QueueIntake::Result QueueIntake::take(const broker::Message& message) {
  auto payloads = read(message);
  if (!payloads) return Result::rejected;
  return accept(message, *std::move(payloads));
}

// What a sender wrote may be the name or address of a person: the log has only where it is wrong.
void QueueIntake::log_rejected(const broker::Message& message, const std::string& why, const std::string& kind) const {
  const auto untold = rejections_.admit(kind.empty() ? why : kind);
  if (!untold) return;
  base::log_warning("outbox", "a message was rejected",
                    {{"connection", options_.connection},
                     {"queue", options_.queue},
                     {"message_id", message.id},
                     {"cause", why},
                     {"others", std::to_string(*untold)}});
}

std::optional<std::vector<Payload>> QueueIntake::read(const broker::Message& message) const {
  if (!message.fault.empty()) {
    log_rejected(message, "it cannot be read");
    return std::nullopt;
  }
  if (json::has_too_many_values(message.body)) {
    log_rejected(message, "it has more than " + std::to_string(json::most_values) + " values");
    return std::nullopt;
  }
  json::FieldErrors errors;
  json::Document document;
  std::vector<Payload> payloads;
  if (document.parse(message.body, errors)) {
    const base::TimePoint now = clock_.now();
    const auto take = [&](json::Element element, const std::string& path) {
      auto payload = read_payload(element, path, now, errors);
      if (!payload) return;
      if (outbox_.refuses_callback(payload->callback_url))
        errors.add(path + (path.empty() ? "" : ".") + "callback_url", leads_inside_rule);
      payloads.push_back(*std::move(payload));
    };
    json::FieldErrors ignored;
    json::Fields fields(document.root(), "", ignored);
    if (fields.any("data", Need::optional)) {
      json::Fields batch(document.root(), "", errors);
      const auto list = batch.list("data", Need::required, options_.max_emails);
      if (list && list->empty()) batch.refuse("data", "must have at least one element");
      batch.refuse_others();
      for (std::size_t i = 0; list && i < list->size(); ++i) take((*list)[i], json::element_path("data", i));
    } else {
      take(document.root(), "");
    }
  }
  if (errors.empty()) return payloads;
  const std::string& field = errors.list().front().field;
  if (field.empty())
    log_rejected(message, "it is not an e-mail in JSON");
  else
    log_rejected(message, "invalid field: " + field, "invalid field");
  return std::nullopt;
}

QueueIntake::Result QueueIntake::accept(const broker::Message& message, std::vector<Payload> payloads) {
  std::vector<Identified> identified;
  for (std::size_t i = 0; i < payloads.size(); ++i)
    if (!payloads[i].id.empty()) identified.push_back({i, payloads[i].id, hex_hash(to_json(payloads[i]))});
  std::optional<Outbox::KeyedRequest> keyed;
  if (!message.id.empty())
    keyed = {"queue:" + hex_hash(options_.connection + "\n" + options_.queue + "\n" + message.id),
             request_hash(payloads), options_.key_life};
  const auto answer =
      outbox_.accept(std::move(payloads), options_.tenant, keyed, [](const std::vector<AcceptOutcome>& outcomes) {
        return "{\"emails\":" + std::to_string(outcomes.size()) + "}";
      });
  if (answer) return judge(message, *answer, identified);
  if (answer.error().code == base::ErrorCode::invalid) {
    log_rejected(message, "the store refused it");
    return Result::rejected;
  }
  base::log_warning("outbox", "a message could not be accepted",
                    {{"queue", options_.queue}, {"message_id", message.id}, {"cause", answer.error().message}});
  return Result::released;
}

QueueIntake::Result QueueIntake::judge(const broker::Message& message, const AcceptAnswer& answer,
                                       const std::vector<Identified>& identified) {
  switch (answer.status) {
    case AcceptStatus::replayed:
      return judge_repeat(message, identified);
    case AcceptStatus::in_progress:
    case AcceptStatus::no_room:
    case AcceptStatus::unknown:
      return Result::released;
    case AcceptStatus::other_request:
      log_rejected(message, "its id was already used by a message with other contents");
      return Result::conflicting;
    case AcceptStatus::unreadable_key:
      log_rejected(message, "the record of its id cannot be read, so that it may have been accepted before");
      return Result::rejected;
    case AcceptStatus::done:
      break;
  }
  return judge_outcomes(message, answer, identified);
}

QueueIntake::Result QueueIntake::judge_outcomes(const broker::Message& message, const AcceptAnswer& answer,
                                                const std::vector<Identified>& identified) {
  // Without an id there is no key, and each e-mail stands alone: those that have no id of their own may come twice.
  for (const AcceptOutcome& outcome : answer.outcomes)
    if (outcome.error && outcome.error != AcceptError::duplicated_id) return Result::released;
  const auto is_duplicate = [](const AcceptOutcome& outcome) { return outcome.error == AcceptError::duplicated_id; };
  const auto accepted =
      answer.outcomes.size() - static_cast<std::size_t>(std::ranges::count_if(answer.outcomes, is_duplicate));
  emails_ += accepted;
  for (const Identified& email : identified) {
    if (!is_duplicate(answer.outcomes[email.index])) continue;
    const Known known = find(email);
    if (known == Known::not_now) return Result::released;
    if (known != Known::same) return refuse_conflict(message, email);
  }
  return accepted == 0 ? Result::repeated : Result::accepted;
}

QueueIntake::Result QueueIntake::judge_repeat(const broker::Message& message,
                                              const std::vector<Identified>& identified) {
  for (const Identified& email : identified) {
    const Known known = find(email);
    if (known == Known::not_now) return Result::released;
    if (known == Known::other) return refuse_conflict(message, email);
  }
  return Result::repeated;
}

QueueIntake::Result QueueIntake::refuse_conflict(const broker::Message& message, const Identified& email) const {
  log_rejected(message, "an e-mail with the id " + email.id + " was already accepted, with other contents",
               "other contents");
  return Result::conflicting;
}

QueueIntake::Known QueueIntake::find(const Identified& email) {
  const auto stored = outbox_.payload(email.id, options_.tenant, [](std::size_t) { return true; });
  if (stored) {
    // Other programs may have written it in their own way.
    const auto payload = parse_payload(*stored);
    return payload && hex_hash(to_json(*payload)) == email.hash ? Known::same : Known::other;
  }
  const base::ErrorCode code = stored.error().code;
  if (code == base::ErrorCode::not_found) return Known::absent;
  if (code != base::ErrorCode::io && code != base::ErrorCode::exhausted) return Known::other;  // it stays unreadable
  base::log_warning("outbox", "an e-mail that a message names could not be read",
                    {{"queue", options_.queue}, {"email", email.id}, {"cause", stored.error().message}});
  return Known::not_now;
}

std::string QueueIntake::labels() const {
  return "connection=\"" + escaped(options_.connection) + "\",queue=\"" + escaped(options_.queue) + "\"";
}

void QueueIntake::append_metrics(const std::vector<const QueueIntake*>& intakes, std::string& out) {
  base::append_metric_head(out, "postino_outbox_queue_messages_total", "counter",
                           "Messages read from a queue of e-mails, by connection, queue and result.");
  for (const QueueIntake* intake : intakes)
    for (std::size_t i = 0; i < result_count; ++i)
      out.append("postino_outbox_queue_messages_total{")
          .append(intake->labels())
          .append(",result=\"")
          .append(result_names[i])
          .append("\"} ")
          .append(std::to_string(intake->messages_[i].load()))
          .append("\n");
  base::append_metric_head(out, "postino_outbox_queue_emails_total", "counter",
                           "E-mails accepted from a queue, by connection and queue.");
  for (const QueueIntake* intake : intakes)
    out.append("postino_outbox_queue_emails_total{")
        .append(intake->labels())
        .append("} ")
        .append(std::to_string(intake->emails_.load()))
        .append("\n");
}

}  // namespace postino::outbox
