#include "outbox/work/direct_dispatch.h"

#include "base/check.h"

namespace postino::outbox {

namespace {

// Larger ones would make the caller wait.
constexpr std::size_t largest_direct_payload = 128 << 10;

// What happens next to a new e-mail; its state allows it.
void go_on_with(NewEmail& email, Event event, const Policy& policy, base::TimePoint now) {
  auto change = then(std::move(email.change), std::move(event), policy, now);
  CHECK(change.has_value());
  email.change = *std::move(change);
}

}  // namespace

void DirectDispatch::Batch::take(NewEmail& email, Payload payload, base::TimePoint now) {
  const Intake& intake = dispatch_.intake_;
  if (!intake.is_quick() || email.payload.size() > largest_direct_payload || !payload.attachments.empty()) return;
  if (wanted_from(email.change.after) > now) return;  // there is time
  auto message = intake.build(email.change.after, std::move(payload));
  if (!message) return;  // intake will find the same, and say so where the caller looks
  go_on_with(email, event::MessageBuilt{*std::move(message)}, dispatch_.policy_, now);
  if (taken_.contains(email.change.after.id)) return;  // one of both will be refused
  auto place = dispatch_.senders_.reserve(email.change.after);
  if (!place) return;
  FreshMessage fresh{*email.change.message, MessageRoom(dispatch_.memory_)};
  fresh.room.take_anyway(fresh.text.size());  // it is small, and there already
  taken_.insert_or_assign(email.change.after.id, Taken{*std::move(place), std::move(fresh)});
  go_on_with(email, event::Claimed{dispatch_.owner_}, dispatch_.policy_, now);
}

void DirectDispatch::Batch::hand_over(const std::vector<AcceptOutcome>& outcomes) {
  if (taken_.empty()) return;
  std::vector<WorkerPlaces::Arrival> arrivals;
  for (const AcceptOutcome& outcome : outcomes) {
    if (!outcome.email || outcome.email->state != State::processing) continue;
    const auto taken = taken_.find(outcome.id);
    if (taken == taken_.end()) continue;  // another one with this id was accepted
    dispatch_.fresh_.put(outcome.id, std::move(taken->second.message));
    arrivals.push_back({*outcome.email, std::move(taken->second.place)});
    taken_.erase(taken);
  }
  std::vector<WorkerPlace> left_over;
  for (auto& [id, taken] : taken_) left_over.push_back(std::move(taken.place));
  taken_.clear();
  if (!arrivals.empty()) dispatch_.senders_.adopt(std::move(arrivals));
  if (!left_over.empty()) dispatch_.senders_.release(left_over);
}

}  // namespace postino::outbox
