#include "outbox/work/short_way.h"

namespace postino::outbox {

namespace {

// Larger ones would make the caller wait.
constexpr std::size_t largest_payload = 128 << 10;

}  // namespace

void ShortWay::Acceptance::take(NewEmail& email, Payload payload) {
  if (!way_.intake_.is_quick() || email.payload.size() > largest_payload || !payload.attachments.empty()) return;
  const base::TimePoint now = way_.clock_.now();
  if (kept_from(email.email) > now) return;  // nobody waits for it
  email.email.created_at = now;
  auto message = way_.intake_.build(email.email, std::move(payload));
  if (!message) return;  // intake will find the same, and say so where the caller looks
  email.through = {State::accepted, State::intaking};
  email.email.state = State::ready;
  email.email.due_at = now;
  if (way_.pipelines_.reserve_sending()) {
    ++reserved_;
    messages_.insert_or_assign(email.email.id, *message);
    email.through.push_back(State::ready);
    email.email.state = State::processing;
    email.email.owner = way_.options_.owner;
    email.email.due_at = now + way_.options_.lease;
    email.email.attempts = 1;
    email.email.outcome_unknown = way_.options_.unknown_from_claim;
  }
  email.message = std::move(*message);
}

void ShortWay::Acceptance::hand_over(const std::vector<AcceptOutcome>& outcomes) {
  if (reserved_ == 0) return;
  std::vector<Email> emails;
  for (const AcceptOutcome& outcome : outcomes) {
    if (!outcome.email || outcome.email->state != State::processing) continue;
    const auto message = messages_.find(outcome.id);
    if (message != messages_.end()) way_.fresh_.put(outcome.id, std::move(message->second));
    emails.push_back(*outcome.email);
  }
  way_.pipelines_.adopt_sending(std::move(emails), reserved_);
  reserved_ = 0;
  messages_.clear();
}

}  // namespace postino::outbox
