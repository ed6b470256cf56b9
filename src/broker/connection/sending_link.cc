#include "broker/connection/sending_link.h"

#include <proton/condition.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/session.h>
#include <proton/terminus.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace postino::broker {

namespace {

std::string reason_of_rejection(pn_condition_t* condition) {
  if (condition == nullptr || !pn_condition_is_set(condition))
    return "the broker rejected the message without a reason, as RabbitMQ does when the queue is full";
  return to_failure(condition, FailureKind::rejected, "the broker rejected the message").message;
}

// Nothing while the broker has not made up its mind.
std::optional<SendingLink::Outcome> outcome_of(pn_delivery_t* delivery) {
  SendingLink::Outcome outcome;
  outcome.position = reinterpret_cast<std::uintptr_t>(pn_delivery_get_context(delivery));
  switch (pn_delivery_remote_state(delivery)) {
    case PN_ACCEPTED:
      outcome.confirmed = true;
      return outcome;
    case PN_REJECTED:
      outcome.reason = reason_of_rejection(pn_disposition_condition(pn_delivery_remote(delivery)));
      return outcome;
    case PN_RELEASED:
    case PN_MODIFIED:
      outcome.reason = "the broker did not accept the message";
      return outcome;
    default:
      if (!pn_delivery_settled(delivery)) return std::nullopt;
      outcome.reason = "the broker did not report the outcome of the message";
      return outcome;
  }
}

}  // namespace

void SendingLink::offer(std::vector<Outgoing> messages) {
  connection_->locked([&] { std::ranges::move(messages, std::back_inserter(waiting_)); });
  connection_->wake_links();
}

Result<std::vector<SendingLink::Outcome>> SendingLink::take(Deadline deadline) {
  const auto waited = await(
      deadline, [&] { return !outcomes_.empty(); }, "confirming messages to " + address_);
  // What was confirmed before the end counts.
  auto outcomes = connection_->locked([&] { return std::exchange(outcomes_, {}); });
  if (outcomes.empty() && !waited) return tl::unexpected(waited.error());
  return outcomes;
}

std::uint64_t SendingLink::largest_message() const {
  return connection_->locked([&] { return largest_message_; });
}

pn_link_t* SendingLink::make(pn_session_t* session, const char* name) {
  pn_link_t* const link = pn_sender(session, name);
  pn_link_set_snd_settle_mode(link, PN_SND_UNSETTLED);
  pn_link_set_rcv_settle_mode(link, PN_RCV_FIRST);
  pn_terminus_set_address(pn_link_target(link), address_.c_str());
  if (durable_) pn_terminus_set_durability(pn_link_target(link), PN_CONFIGURATION);
  return link;
}

bool SendingLink::is_attached() const { return pn_terminus_get_type(pn_link_remote_target(link_)) != PN_UNSPECIFIED; }

void SendingLink::on_open() { largest_message_ = pn_link_remote_max_message_size(link_); }

void SendingLink::flush() {
  if (link_ == nullptr) return;
  while (!waiting_.empty() && pn_link_credit(link_) > 0) {
    const Outgoing& next = waiting_.front();
    char tag[sizeof tag_];
    std::memcpy(tag, &++tag_, sizeof tag);
    pn_delivery_t* const delivery = pn_delivery(link_, pn_dtag(tag, sizeof tag));
    pn_delivery_set_context(delivery, reinterpret_cast<void*>(next.position));
    pn_link_send(link_, next.bytes.data(), next.bytes.size());
    pn_link_advance(link_);
    waiting_.pop_front();
  }
}

void SendingLink::on_delivery(pn_delivery_t* delivery) {
  if (!pn_delivery_updated(delivery)) return;
  auto outcome = outcome_of(delivery);
  if (!outcome) return;
  outcomes_.push_back(*std::move(outcome));
  connection_->note_change();
  pn_delivery_settle(delivery);
}

}  // namespace postino::broker
