#include "outbox/ledger/course.h"

#include <algorithm>

namespace postino::outbox {

namespace {

// Fills in what the server said about those that were tried.
void settle_recipients(Email& email, const mail::SendResult& result) {
  for (const mail::RecipientResult& each : result.recipients)
    for (Recipient& recipient : email.recipients) {
      if (recipient.state != RecipientState::pending || recipient.address != each.address) continue;
      recipient.reply = each.reply.text;
      if (each.severity == mail::Severity::success) recipient.state = RecipientState::delivered;
      if (each.severity == mail::Severity::permanent) recipient.state = RecipientState::refused;
    }
}

std::size_t count(const Email& email, RecipientState state) {
  return static_cast<std::size_t>(std::ranges::count(email.recipients, state, &Recipient::state));
}

// The words of the first recipient in this state: one server says much the same to all.
std::string words(const Email& email, RecipientState state) {
  const auto recipient = std::ranges::find_if(
      email.recipients, [&](const Recipient& each) { return each.state == state && !each.reply.empty(); });
  return recipient == email.recipients.end() ? "" : recipient->reply;
}

}  // namespace

const std::string& Course::callback_url(const Email& email) const {
  return email.callback_url.empty() ? rules_.default_callback_url : email.callback_url;
}

Move Course::to(const Email& email, State state, std::string reason) const {
  Move move{email, email, std::nullopt, "", std::nullopt};
  if (kind_of(email.state) == StateKind::waiting) move.through = claimed_form(email.state);
  move.after.state = state;
  move.after.reason = std::move(reason);
  move.after.owner.clear();
  move.after.due_at.reset();
  move.after.outcome_unknown = false;
  return move;
}

Move Course::settled(const Email& email, State state, std::string reason, base::TimePoint now) const {
  Move move = to(email, state, std::move(reason));
  move.after.settled_at = now;
  move.after.callback_attempts = 0;
  if (!callback_url(email).empty()) move.after.due_at = now;
  return move;
}

Move Course::built(const Email& email, std::string message, base::TimePoint now) const {
  Move move = to(email, State::ready, "");
  move.message = std::move(message);
  move.after.due_at = email.send_at ? std::max(*email.send_at, now) : now;
  return move;
}

Move Course::invalid(const Email& email, std::string reason, base::TimePoint now) const {
  return settled(email, State::invalid, std::move(reason), now);
}

Move Course::intake_again(const Email& email, const std::string& reason, base::TimePoint now) const {
  Move move = to(email, State::accepted, email.reason);
  move.note = reason;
  const int times = email.reached[static_cast<std::size_t>(State::intaking)];
  move.after.due_at = now + rules_.callback.equal_jitter(times + 1, random_);
  return move;
}

Move Course::failed(const Email& email, std::string reason, bool internal, base::TimePoint now) const {
  Move move = settled(email, State::failed, std::move(reason), now);
  move.after.internal_reason = internal;
  return move;
}

Move Course::send_later(const Email& email, std::string reason, base::TimePoint due, bool tried) const {
  Move move = to(email, State::ready, std::move(reason));
  move.after.due_at = due;
  if (!tried) --move.after.attempts;
  return move;
}

Move Course::retry(const Email& email, const std::string& reason, base::TimePoint now) const {
  const bool enough = email.attempts >= rules_.max_attempts || now - kept_from(email) >= rules_.give_up_after;
  if (enough)
    return failed(email, "given up after " + std::to_string(email.attempts) + " attempts: " + reason, false, now);
  return send_later(email, reason, now + rules_.sending.equal_jitter(email.attempts, random_), true);
}

Move Course::after_sending(const Email& email, const mail::SendResult& result, base::TimePoint now) const {
  if (result.outcome_unknown) {
    if (rules_.unknown_outcome == UnknownOutcomePolicy::resend)
      return retry(email, "outcome unknown: " + result.reply.text, now);
    Move move = to(email, State::held, "outcome unknown: " + result.reply.text);
    move.after.held_from = State::ready;
    move.after.outcome_unknown = true;
    return move;
  }
  Email tried = email;
  if (!result.session_failed) settle_recipients(tried, result);
  const std::size_t pending = count(tried, RecipientState::pending);
  const std::size_t delivered = count(tried, RecipientState::delivered);
  Move move;
  if (pending > 0) {
    move = retry(tried, result.reply.text, now);
    // Some have it: to fail now would be wrong about them.
    if (move.after.state == State::failed && delivered > 0) move = settled(tried, State::sent, move.after.reason, now);
  } else if (delivered == 0) {
    move = failed(tried, words(tried, RecipientState::refused), false, now);
  } else {
    std::string reason =
        result.severity == mail::Severity::success ? result.reply.text : words(tried, RecipientState::delivered);
    if (delivered < tried.recipients.size())
      reason = "delivered to " + std::to_string(delivered) + " of " + std::to_string(tried.recipients.size()) +
               " recipients: " +
               words(tried,
                     count(tried, RecipientState::refused) > 0 ? RecipientState::refused : RecipientState::suppressed);
    move = settled(tried, State::sent, std::move(reason), now);
  }
  move.before = email;
  return move;
}

Move Course::called_back(const Email& email, base::TimePoint) const {
  Move move = to(email, *acknowledged_form(email.state), email.reason);
  move.after.callback_error.clear();
  return move;
}

Move Course::callback_failed(const Email& email, std::string error, std::optional<base::Milliseconds> after,
                             bool hopeless, base::TimePoint now) const {
  Move move = to(email, *rescued_form(email.state), email.reason);
  move.note = "callback failed: " + error;
  move.after.callback_error = std::move(error);
  move.after.callback_dead = hopeless || email.callback_attempts >= rules_.max_callback_attempts;
  base::Milliseconds wait = rules_.callback.equal_jitter(email.callback_attempts, random_);
  if (after) wait = std::clamp(*after, wait, base::Milliseconds(std::chrono::hours(24)));
  move.after.due_at = move.after.callback_dead ? now : now + wait;
  return move;
}

Move Course::rescued(const Email& email, base::TimePoint now) const {
  const std::string note = "rescued from " + std::string(name_of(email.state)) + ": its lease had ended";
  if (email.outcome_unknown && rules_.unknown_outcome == UnknownOutcomePolicy::hold) {
    Move move = to(email, State::held, "outcome unknown: the worker was lost after the end of the message");
    move.after.held_from = State::ready;
    move.after.outcome_unknown = true;
    move.only_unrenewed = true;
    return move;
  }
  Move move = to(email, *rescued_form(email.state), email.reason);
  move.note = email.outcome_unknown ? note + "; outcome unknown" : note;
  move.after.due_at = now;
  move.only_unrenewed = true;
  return move;
}

}  // namespace postino::outbox
