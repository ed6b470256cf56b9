#include "outbox/work/sender.h"

#include <algorithm>

#include "base/text.h"
#include "mail/address.h"

namespace postino::outbox {

namespace {

std::vector<std::string> pending_addresses(const Email& email) {
  std::vector<std::string> addresses;
  for (const Recipient& recipient : email.recipients)
    if (recipient.state == RecipientState::pending &&
        std::ranges::find(addresses, recipient.address) == addresses.end())
      addresses.push_back(recipient.address);
  return addresses;
}

void mark_suppressed(Email& email, const std::vector<Suppression>& suppressions) {
  for (Recipient& recipient : email.recipients)
    for (const Suppression& suppression : suppressions)
      if (recipient.state == RecipientState::pending &&
          base::equal_ignoring_case(recipient.address, suppression.address)) {
        recipient.state = RecipientState::suppressed;
        recipient.reply = suppression.reason;
      }
}

}  // namespace

base::Result<void> Sender::commit_to(const Email& email, const Leases& leases) const {
  if (!leases.holds(email)) return base::fail(base::ErrorCode::conflict, "the lease of the e-mail is over");
  return email.outcome_unknown ? base::Result<void>() : ledger_.mark_outcome_unknown(email);
}

base::Result<std::string> Sender::message_of(const Email& email) const {
  auto message = fresh_ != nullptr ? fresh_->take(email.id) : std::nullopt;
  if (message) return std::move(*message);
  return spool_.read(email.message_path);
}

Move Sender::send(const Email& email, const Leases& leases) const {
  auto message = message_of(email);
  const base::TimePoint now = clock_.now();
  if (!message) {
    using enum base::ErrorCode;
    const bool for_good = message.error().code == not_found || message.error().code == corrupt;
    if (for_good) return course_.failed(email, message.error().message, true, now);
    mail::SendResult trouble;
    trouble.reply.text = message.error().message;
    return course_.after_sending(email, trouble, now);
  }
  mail::Envelope envelope;
  envelope.sender = envelope_sender_.empty() ? email.sender : envelope_sender_;
  envelope.recipients = pending_addresses(email);
  envelope.envelope_id = email.id;
  const mail::SendResult result =
      transport_.deliver({email, std::move(envelope), *message}, [&] { return commit_to(email, leases); });
  return course_.after_sending(email, result, clock_.now());
}

Move Sender::work(const Email& claimed, const Leases& leases) const {
  Email email = claimed;
  const base::TimePoint now = clock_.now();
  const auto suppressed = ledger_.find_suppressed(email.tenant, pending_addresses(email));
  if (!suppressed) return course_.send_later(claimed, suppressed.error().message, now + std::chrono::seconds(5), false);
  mark_suppressed(email, *suppressed);
  Move move;
  if (pending_addresses(email).empty()) {
    mail::SendResult nothing_to_do;
    nothing_to_do.severity = mail::Severity::permanent;
    move = course_.after_sending(email, nothing_to_do, now);
    if (move.after.reason.empty()) move.after.reason = "every recipient is on the suppression list";
  } else {
    const std::string destination = mail::domain_of(pending_addresses(email).front());
    if (const auto later = limits_.admit(destination, email.id, now))
      return course_.send_later(claimed, "waits for its turn: the limit of " + destination + " is reached", *later,
                                false);
    move = send(email, leases);
    limits_.done(destination);
  }
  move.before = claimed;
  return move;
}

}  // namespace postino::outbox
