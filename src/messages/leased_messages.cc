#include "messages/leased_messages.h"

#include <algorithm>

#include "base/log.h"

namespace postino::messages {

using broker::Disposition;
using broker::FailureKind;

namespace {

std::vector<broker::Message> to_messages(const std::vector<StoredMessage>& stored) {
  std::vector<broker::Message> messages;
  messages.reserve(stored.size());
  for (const StoredMessage& message : stored) messages.push_back(to_message(message));
  return messages;
}

}  // namespace

broker::Failure failure_of(const store::Error& error) {
  const base::Error plain = store::as_error(error);
  FailureKind kind = FailureKind::refused;  // there is something to be put right
  if (plain.code == base::ErrorCode::exhausted) kind = FailureKind::exhausted;
  if (plain.code == base::ErrorCode::io) kind = FailureKind::lost;
  return {kind, "the store failed: " + plain.message, {}};
}

LeasedMessages::LeasedMessages(std::shared_ptr<LocalQueue> queue, std::shared_ptr<LocalQueue> dead,
                               std::vector<StoredMessage> stored, base::Milliseconds kept_until)
    : Held(to_messages(stored)),
      queue_(std::move(queue)),
      dead_(std::move(dead)),
      stored_(std::move(stored)),
      kept_until_(kept_until) {}

LeasedMessages::~LeasedMessages() {
  if (is_settled_ || stored_.empty()) return;
  // If that does not work, the leases end by themselves.
  if (const auto released = release(); !released)
    base::log_warning("messages", "messages could not be returned to their queue",
                      {{"queue", queue_->name()}, {"cause", released.error().message}});
}

QueueMove LeasedMessages::move_of(const StoredMessage& message, Disposition disposition) const {
  if (disposition == Disposition::acknowledge || (disposition == Disposition::reject && dead_ == nullptr))
    return {message, std::nullopt};
  StoredMessage to = message;
  to.shelf = Shelf::ready;
  to.position = message.ready_position;
  if (disposition == Disposition::reject) {
    to.queue = dead_->name();
    to.position = dead_->next_position();
    to.deliveries = 0;
  }
  return {message, std::move(to)};
}

broker::Result<void> LeasedMessages::settle(const std::vector<Disposition>& dispositions) {
  if (dispositions.size() != stored_.size())
    return broker::refuse(FailureKind::invalid, "each message must have one disposition");
  if (std::exchange(is_settled_, true))
    return broker::refuse(FailureKind::invalid, "the messages were already settled");
  std::vector<QueueMove> moves;
  for (std::size_t i = 0; i < stored_.size(); ++i) moves.push_back(move_of(stored_[i], dispositions[i]));
  const MoveReport report = queue_->table().move(moves);
  if (std::ranges::find(dispositions, Disposition::release) != dispositions.end()) queue_->returned();
  if (dead_ != nullptr && std::ranges::find(dispositions, Disposition::reject) != dispositions.end()) dead_->returned();
  if (report.trouble) return base::propagate(failure_of(*report.trouble));
  const auto gone = std::ranges::count(report.done, false);
  if (gone == 0) return {};
  return broker::refuse(FailureKind::lost, "the lease of " + std::to_string(gone) + " of " +
                                               std::to_string(stored_.size()) + " messages had expired");
}

}  // namespace postino::messages
