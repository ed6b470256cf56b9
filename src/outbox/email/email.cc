#include "outbox/email/email.h"

#include <algorithm>

namespace postino::outbox {

namespace {

// Records of version 0.1 say more than a relay can know.
constexpr std::string_view former_name_of_sent = "delivered";

}  // namespace

std::string_view name_of(RecipientState state) {
  using enum RecipientState;
  if (state == pending) return "pending";
  if (state == delivered) return "sent";
  return state == refused ? "refused" : "suppressed";
}

RecipientState parse_recipient_state(std::string_view name) {
  using enum RecipientState;
  for (const RecipientState state : {delivered, refused, suppressed})
    if (name == name_of(state)) return state;
  return name == former_name_of_sent ? delivered : pending;
}

bool is_finished(const Email& email) {
  if (is_outcome(email.state)) return !email.due_at || email.callback_dead;
  return may_be_finished(email.state);
}

bool may_have_gone_out(const Email& email) { return email.outcome_unknown || email.unknown_outcomes > 0; }

bool was_sent(State state) {
  using enum State;
  return state == sent || state == calling_sent || state == sent_acknowledged;
}

bool is_partly_sent(const Email& email) {
  return was_sent(email.state) && std::ranges::any_of(email.recipients, [](const Recipient& recipient) {
           return recipient.state != RecipientState::delivered;
         });
}

std::string_view public_reason(const Email& email) {
  if (!email.internal_reason) return email.reason;
  // What all recipients have is no error.
  return was_sent(email.state) && !is_partly_sent(email) ? "" : "internal error";
}

std::optional<Pipeline> pipeline_of(const Email& email) {
  if (!email.due_at || email.callback_dead) return std::nullopt;
  for (const Pipeline pipeline : {Pipeline::intake, Pipeline::send, Pipeline::callback})
    if (std::ranges::find(states_claimed_by(pipeline), email.state) != states_claimed_by(pipeline).end())
      return pipeline;
  return std::nullopt;
}

bool is_due(const Email& email, base::TimePoint now) { return pipeline_of(email) && *email.due_at <= now; }

bool is_lease_over(const Email& email, base::TimePoint now) {
  return kind_of(email.state) == StateKind::working && email.due_at && *email.due_at < now;
}

base::TimePoint latest_lease_end(base::TimePoint now, base::Milliseconds lease) {
  constexpr std::chrono::minutes margin{10};
  return now + 2 * lease + margin;
}

bool is_lease_impossible(const Email& email, base::TimePoint now, base::Milliseconds lease) {
  return kind_of(email.state) == StateKind::working && email.due_at && *email.due_at > latest_lease_end(now, lease);
}

}  // namespace postino::outbox
