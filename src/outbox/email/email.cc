#include "outbox/email/email.h"

#include <algorithm>

namespace postino::outbox {

std::string_view name_of(RecipientState state) {
  using enum RecipientState;
  if (state == pending) return "pending";
  if (state == delivered) return "delivered";
  return state == refused ? "refused" : "suppressed";
}

RecipientState parse_recipient_state(std::string_view name) {
  using enum RecipientState;
  for (const RecipientState state : {delivered, refused, suppressed})
    if (name == name_of(state)) return state;
  return pending;
}

std::optional<Pipeline> pipeline_of(const Email& email) {
  if (!email.due_at || email.callback_dead) return std::nullopt;
  for (const Pipeline pipeline : {Pipeline::intake, Pipeline::send, Pipeline::callback})
    if (std::ranges::find(states_claimed_by(pipeline), email.state) != states_claimed_by(pipeline).end())
      return pipeline;
  return std::nullopt;
}

}  // namespace postino::outbox
