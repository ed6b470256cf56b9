#include "outbox/email/email.h"

namespace postino::outbox {

std::string_view name_of(RecipientState state) {
  using enum RecipientState;
  if (state == pending) return "pending";
  if (state == delivered) return "delivered";
  return state == refused ? "refused" : "suppressed";
}

}  // namespace postino::outbox
