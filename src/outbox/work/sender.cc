#include "outbox/work/sender.h"

#include <algorithm>

#include "base/text.h"
#include "mail/address.h"

namespace postino::outbox {

namespace {

constexpr std::chrono::seconds pause_without_suppressions{5};

// Of pending recipients, each once.
std::vector<std::string> pending_addresses(const Email& email) {
  std::vector<std::string> addresses;
  for (const Recipient& recipient : email.recipients)
    if (recipient.state == RecipientState::pending &&
        std::ranges::find(addresses, recipient.address) == addresses.end())
      addresses.push_back(recipient.address);
  return addresses;
}

void remove_suppressed(std::vector<std::string>& addresses, const std::vector<Suppression>& suppressed) {
  std::erase_if(addresses, [&](const std::string& address) {
    return std::ranges::any_of(suppressed, [&](const Suppression& suppression) {
      return base::equal_ignoring_case(address, suppression.address);
    });
  });
}

}  // namespace

base::Result<void> Sender::commit_to(const Email& email, const Leases& leases) const {
  if (!leases.holds(email)) return base::fail(base::ErrorCode::conflict, "the lease of the e-mail has expired");
  if (email.outcome_unknown) return {};
  TRY(Change change, decide(email, event::MessageEnding{}, policy_, clock_.now()));
  return amend(ledger_, std::move(change));
}

base::Result<std::string> Sender::message_of(const Email& email) const {
  auto message = fresh_ != nullptr ? fresh_->take(email.id) : std::nullopt;
  if (message) return std::move(*message);
  return ledger_.spool().read(email.message_path);
}

Event Sender::send(const Email& email, std::vector<Suppression> suppressed, std::vector<std::string> recipients,
                   const Leases& leases) const {
  const auto message = message_of(email);
  if (!message) {
    using enum base::ErrorCode;
    const bool for_good = message.error().code == not_found || message.error().code == corrupt;
    if (for_good) return event::MessageLost{std::move(suppressed), message.error().message};
    mail::SendResult trouble;
    trouble.reply.text = message.error().message;
    return event::SendingAttempted{std::move(suppressed), std::move(trouble)};
  }
  mail::Envelope envelope;
  envelope.sender = envelope_sender_.empty() ? email.sender : envelope_sender_;
  envelope.recipients = std::move(recipients);
  envelope.envelope_id = email.id;
  mail::SendResult result =
      transport_.deliver({email, std::move(envelope), *message}, [&] { return commit_to(email, leases); });
  return event::SendingAttempted{std::move(suppressed), std::move(result)};
}

Event Sender::work(const Email& email, const Leases& leases) const {
  std::vector<std::string> recipients = pending_addresses(email);
  auto suppressed = suppressions_.find(email.tenant, recipients);
  const base::TimePoint now = clock_.now();
  if (!suppressed) return event::SendingPostponed{suppressed.error().message, now + pause_without_suppressions};
  remove_suppressed(recipients, *suppressed);
  if (recipients.empty()) {
    mail::SendResult nothing_to_do;
    nothing_to_do.severity = mail::Severity::permanent;
    return event::SendingAttempted{*std::move(suppressed), std::move(nothing_to_do)};
  }
  const std::string destination = mail::domain_of(recipients.front());
  if (const auto later = limits_.admit(destination, email.id, now))
    return event::SendingPostponed{"postponed: the limit for " + destination + " is reached", *later};
  Event event = send(email, *std::move(suppressed), std::move(recipients), leases);
  limits_.done(destination);
  return event;
}

}  // namespace postino::outbox
