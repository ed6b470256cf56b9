#include "support/letters.h"

#include <algorithm>

#include "base/text.h"
#include "mail/address.h"
#include "support/customer_view.h"
#include "support/record/handover.h"

namespace postino::support {

namespace {

constexpr std::size_t most_recipients = 20;

std::string filled(std::string text, const Ticket& ticket) {
  const std::pair<std::string_view, std::string> values[] = {{"{ticket_id}", ticket.id},
                                                             {"{status}", std::string(name_of(ticket.status))}};
  for (const auto& [name, value] : values)
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  return text;
}

// One that may stand in a header as it is.
bool is_plain_message_id(std::string_view id) {
  return !id.empty() && std::ranges::all_of(id, [](char letter) {
    return base::is_printable_ascii(letter) && letter != ' ' && letter != '<' && letter != '>';
  });
}

// "a@b c@d" -> "<a@b> <c@d> ".
std::string bracketed(std::string_view ids) {
  std::string text;
  while (!ids.empty()) {
    const std::size_t end = std::min(ids.find(' '), ids.size());
    if (is_plain_message_id(ids.substr(0, end))) text.append("<").append(ids.substr(0, end)).append("> ");
    ids.remove_prefix(std::min(end + 1, ids.size()));
  }
  return text;
}

OrRefusal<mail::Mailbox> mailbox_in(const std::string& field, const std::string& text) {
  auto mailbox = mail::parse_mailbox(text);
  if (!mailbox) return refuse_field(field, mailbox.error().message);
  return *std::move(mailbox);
}

}  // namespace

void Letters::check(const Letter& letter, const Scope& scope, FieldRules& rules) {
  if (scope.customer_id) return rules.add("letter", "must be left out by callers that belong to a customer");
  rules.word("letter.kind", letter.kind, outbox::PayloadLimits::tag_bytes);
  rules.line("letter.subject", letter.subject, 1, TicketLimits::subject);
  rules.text("letter.text", letter.text, letter.html.empty() ? 1 : 0, TicketLimits::email_bytes);
  rules.text("letter.html", letter.html, 0, TicketLimits::email_bytes);
  if (letter.text.size() + letter.html.size() > TicketLimits::email_bytes)
    rules.add("letter.text", "must not take more than " + std::to_string(TicketLimits::email_bytes) +
                                 " bytes together with letter.html");
  if (letter.to.size() > most_recipients)
    rules.add("letter.to", "must not have more than " + std::to_string(most_recipients) + " addresses");
  for (std::size_t i = 0; i < std::min(letter.to.size(), most_recipients); ++i)
    rules.address("letter.to[" + std::to_string(i) + "]", letter.to[i]);
  if (!letter.key.empty()) rules.name("letter.key", letter.key, TicketLimits::key_bytes);
}

std::optional<Letter> Letters::acknowledgement(const TicketCustomer& customer) const {
  if (!rules_.acknowledges || customer.contact_email.empty()) return std::nullopt;
  Letter letter;
  letter.kind = "acknowledgement";
  letter.subject = "We have received your request [{ticket_id}]";
  letter.text = "Your request is with us. Its number is {ticket_id}.\n\nTo add something, answer this e-mail.\n";
  return letter;
}

std::optional<Letter> Letters::escalation_notice(const std::string& engineer) const {
  const auto address = rules_.engineers.find(engineer);
  if (address == rules_.engineers.end()) return std::nullopt;
  Letter letter;
  letter.kind = "escalation";
  letter.subject = "Ticket {ticket_id} is escalated to you";
  letter.text = "The ticket {ticket_id} is {status} and waits for you.\n";
  letter.to = {address->second};
  return letter;
}

std::string Letters::new_email_id(const Letter& letter, const std::string& ticket_id, const Actor& actor,
                                  base::Random& random) {
  if (letter.key.empty()) return base::make_uuid(random);
  return outbox::derived_uuid("ticket e-mail\n" + actor.scope.tenant + "\n" + actor.scope.customer_id.value_or("") +
                              "\n" + ticket_id + "\n" + letter.key);
}

OrRefusal<Letters::Prepared> Letters::prepare(const Letter& letter, const StoredTicket& stored,
                                              const std::string& email_id, const Actor& actor,
                                              base::TimePoint now) const {
  const Ticket& ticket = stored.ticket;
  if (rules_.from.empty())
    return refuse(RefusalKind::no_sender,
                  "tickets have no sender for e-mails: configure tickets.from (--tickets-from)");
  if (letter.to.empty() && ticket.customer.contact_email.empty())
    return refuse_field("letter.to", "is required, because the ticket has no customer.contact_email");
  Prepared prepared;
  outbox::Payload& payload = prepared.payload;
  payload.id = email_id;
  TRY(payload.from, mailbox_in("tickets.from", rules_.from));
  if (!rules_.reply_to.empty()) {
    TRY(payload.reply_to, mailbox_in("tickets.reply_to", rules_.reply_to));
  }
  TicketEmail& email = prepared.email;
  email.to = letter.to.empty() ? std::vector{ticket.customer.contact_email} : letter.to;
  for (const std::string& to : email.to) {
    TRY(mail::Mailbox mailbox, mailbox_in("letter.to", to));
    payload.to.push_back(std::move(mailbox));
  }
  payload.subject = filled(letter.subject, ticket);
  payload.body_text = filled(letter.text, ticket);
  payload.body_html = filled(letter.html, ticket);
  payload.tags = {"support", letter.kind};
  // What goes to others is no part of the customer's thread.
  if (is_plain_message_id(stored.last_message_id) && is_with_customer(email, ticket)) {
    const std::string last = "<" + stored.last_message_id + ">";
    payload.custom_headers = {{"In-Reply-To", last}, {"References", bracketed(stored.references) + last}};
    email.in_reply_to = stored.last_message_id;
  }
  // The rules for e-mails of all callers hold here, too.
  if (auto checked = outbox::parse_payload(outbox::to_json(payload)))
    payload = *std::move(checked);
  else
    return refuse_field("letter", "cannot be an e-mail: " + checked.error().message);

  email.ticket_id = ticket.id;
  email.email_id = email_id;
  email.message_id = mail_.message_id_of(email_id, payload.from.address);
  email.kind = letter.kind;
  email.from = payload.from.address;
  email.subject = payload.subject;
  email.text = payload.body_text.empty() ? payload.body_html : payload.body_text;
  email.by = actor.known_as();
  email.at = now;
  email.sort = email_sort(email);
  return prepared;
}

void Letters::enclose(TicketChange& change, Prepared prepared, const Keys& keys, const TicketStore& store) {
  continue_thread(change.after, prepared.email);
  if (!change.email) {
    change.event.details.set("email_id", prepared.email.email_id);
    change.event.details.set("email_kind", prepared.email.kind);
  }
  if (change.email) {
    store.expect_handovers();
    change.beside.emplace_back(
        store.put(handover_item({prepared.payload.id, keys.tenant(), outbox::to_json(prepared.payload)})));
  } else {
    change.email = std::move(prepared.payload);
  }
  change.beside.emplace_back(store.put(email_item(keys, prepared.email)));
  change.beside.emplace_back(store.put(mail_reference_item(keys, prepared.email), "attribute_not_exists(PK)"));
}

void Letters::continue_thread(StoredTicket& stored, const TicketEmail& email) {
  constexpr std::size_t most_bytes = 600;  // of the ids before it: the oldest are dropped
  // An id that cannot stand in a header is none that the next e-mail could go on with.
  if (!is_with_customer(email, stored.ticket) || !is_plain_message_id(email.message_id)) return;
  if (is_plain_message_id(stored.last_message_id))
    stored.references.append(stored.references.empty() ? "" : " ").append(stored.last_message_id);
  while (stored.references.size() > most_bytes)
    stored.references.erase(0, std::min(stored.references.find(' '), stored.references.size() - 1) + 1);
  stored.last_message_id = email.message_id;
}

}  // namespace postino::support
