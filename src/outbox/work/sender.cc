#include "outbox/work/sender.h"

#include <algorithm>

#include "mail/address.h"
#include "outbox/email/payload.h"
#include "smtp/retry_hint.h"

namespace postino::outbox {

namespace {

constexpr std::chrono::seconds pause_without_suppressions{5};
constexpr std::chrono::seconds pause_without_payload{60};

// The longer, the more often it was put off: each time adds lines to its history.
base::Milliseconds pause_after_objection(const Email& email) {
  constexpr base::Milliseconds first = std::chrono::minutes(1);
  constexpr int most_doublings = 6;
  const int claims = email.reached[index_of(State::processing)];
  return first * (1 << std::clamp(claims - email.attempts, 0, most_doublings));
}

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
      return mail::is_same_address(address, suppression.address);
    });
  });
}

}  // namespace

base::Result<void> Sender::commit_to(const Email& email, const Leases& leases) const {
  const auto check_lease = [&]() -> base::Result<void> {
    if (!leases.holds(email)) return base::fail(base::ErrorCode::conflict, "the lease of the e-mail has expired");
    return {};
  };
  TRY_VOID(check_lease());
  if (email.outcome_unknown) return {};
  TRY(Change change, decide(email, event::MessageEnding{}, policy_, clock_.now()));
  TRY_VOID(amend(ledger_, std::move(change)));
  return check_lease();  // writing may have taken long
}

base::Result<std::string> Sender::message_of(const Email& email, MessageRoom& room) const {
  auto message = fresh_ != nullptr ? fresh_->take(email.id) : std::nullopt;
  if (!message)
    return read_contents(ledger_.spool(), SpoolKind::message, email.id, email.message_path,
                         [&](std::size_t bytes) { return room.take(bytes); });
  room = std::move(message->room);
  return std::move(message->text);
}

std::optional<Event> Sender::send(const Email& email, std::vector<Suppression> suppressed,
                                  std::vector<std::string> recipients, const Leases& leases, MessageRoom& room) const {
  const auto message = message_of(email, room);
  if (!message) {
    using enum base::ErrorCode;
    if (message.error().code == exhausted && room.is_waiting()) return std::nullopt;
    if (message.error().code == corrupt) return event::MessageLost{std::move(suppressed), message.error().message};
    // What is not there may be in the spool that another server uses, or be restored.
    if (message.error().code == not_found && missing_ != nullptr) missing_->miss(email.id, message.error().message);
    smtp::SendResult trouble;
    trouble.reply.text = message.error().message;
    return event::SendingAttempted{std::move(suppressed), std::move(trouble)};
  }
  if (missing_ != nullptr) missing_->found(email.id);
  smtp::Envelope envelope;
  envelope.sender = envelope_sender_.empty() ? email.sender : envelope_sender_;
  envelope.recipients = std::move(recipients);
  envelope.envelope_id = email.id;
  smtp::SendResult result =
      transport_.deliver({email, std::move(envelope), *message}, [&] { return commit_to(email, leases); });
  // Broken off before the end of the message, because this process ends: that was no attempt.
  const bool is_over = shutdown_deadline_ != nullptr && shutdown_deadline_->is_over();
  if (is_over && result.session_failed && !result.outcome_unknown) return event::GivenBack{};
  return event::SendingAttempted{std::move(suppressed), std::move(result)};
}

// Another program has removed them, or its record came without any and the payload could not say more.
std::optional<Event> Sender::without_recipients(const Email& email, MessageRoom& room) const {
  const auto text = read_contents(ledger_.spool(), SpoolKind::payload, email.id, email.payload_path,
                                  [&](std::size_t bytes) { return room.take(bytes); });
  if (!text && text.error().code == base::ErrorCode::exhausted && room.is_waiting()) return std::nullopt;
  if (!text && text.error().code == base::ErrorCode::io)
    return event::SendingPostponed{text.error().message, clock_.now() + pause_without_payload};
  if (!text && text.error().code == base::ErrorCode::not_found) {
    if (missing_ != nullptr) missing_->miss(email.id, text.error().message);
    if (clock_.now() - tried_from(email) < policy_.give_up_after)
      return event::SendingPostponed{text.error().message, clock_.now() + pause_without_payload};
  }
  std::string reason = "the record of the e-mail has no recipients";
  if (!text) {
    reason += ", and its payload cannot be read: " + text.error().message;
  } else if (const auto payload = parse_payload(*text); !payload) {
    reason += ", and its payload is invalid: " + payload.error().message;
  }
  return event::MessageLost{{}, std::move(reason)};
}

std::optional<Event> Sender::work(const Email& email, const Leases& leases, MessageRoom& room) const {
  // It waits until the service that objects has cancelled it, or objects no longer.
  if (auto why = objection_ ? objection_(email) : std::nullopt)
    return event::SendingPostponed{*std::move(why), clock_.now() + pause_after_objection(email)};
  if (email.recipients.empty()) return without_recipients(email, room);
  std::vector<std::string> recipients = pending_addresses(email);
  auto suppressed = suppressions_.find(email.tenant, recipients);
  if (!suppressed)
    return event::SendingPostponed{suppressed.error().message, clock_.now() + pause_without_suppressions};
  remove_suppressed(recipients, *suppressed);
  if (recipients.empty()) {
    smtp::SendResult nothing_to_do;
    nothing_to_do.severity = smtp::Severity::permanent;
    return event::SendingAttempted{*std::move(suppressed), std::move(nothing_to_do)};
  }
  return send(email, *std::move(suppressed), std::move(recipients), leases, room);
}

DestinationNames domains_of(const Email& email) {
  DestinationNames domains;
  for (const Recipient& recipient : email.recipients)
    if (recipient.state == RecipientState::pending) domains.push_back(mail::domain_of(recipient.address));
  std::ranges::sort(domains);
  const auto repeated = std::ranges::unique(domains);
  domains.erase(repeated.begin(), repeated.end());
  return domains;
}

std::vector<std::pair<std::string, base::Milliseconds>> pauses_asked_for(const smtp::SendResult& result) {
  std::vector<std::pair<std::string, base::Milliseconds>> pauses;
  for (const smtp::RecipientResult& recipient : result.recipients)
    if (const auto wait = smtp::retry_hint(recipient.reply); wait && smtp::is_about_domain(recipient.reply))
      pauses.emplace_back(mail::domain_of(recipient.address), *wait);
  return pauses;
}

}  // namespace postino::outbox
