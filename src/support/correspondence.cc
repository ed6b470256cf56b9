#include "support/correspondence.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "item/attribute_text.h"
#include "json/string.h"
#include "mail/header_fields.h"
#include "mail/subject.h"
#include "support/customer_view.h"
#include "support/field_rules.h"

namespace postino::support {

namespace {

constexpr std::size_t most_references = 50;

// As much of it as is kept. Line ends and tabs stay.
std::string kept_text(std::string_view text, std::size_t most, bool& is_cut) {
  std::string kept;
  while (!text.empty() && !is_cut) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    const std::string_view piece = text.substr(0, end);
    const std::size_t before = kept.size();
    base::append_printable(kept, piece.ends_with('\r') ? piece.substr(0, piece.size() - 1) : piece, most);
    if (kept.size() + 4 >= most && kept.size() - before < piece.size()) is_cut = true;
    if (end < text.size() && kept.size() < most)
      kept += text[end];
    else if (end < text.size())
      is_cut = true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kept;
}

tl::unexpected<Refusal> refuse_answer() {
  return refuse(RefusalKind::unknown_answer, "the message answers no e-mail of a ticket");
}

// A letter that is a request by itself has its fields without "letter." before them.
Refusal without_letter(Refusal refusal) {
  constexpr std::string_view prefix = "letter.";
  const auto strip = [&](std::string& text) {
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
      text.erase(at, prefix.size());
  };
  if (refusal.faults.empty()) return refusal;
  refusal.message.clear();
  for (FieldFault& fault : refusal.faults) {
    strip(fault.field);
    strip(fault.rule);
    refusal.message.append(refusal.message.empty() ? "" : "; ").append(fault.field + " " + fault.rule);
  }
  return refusal;
}

std::string kept_line(std::string_view text, std::size_t most) {
  std::string kept;
  base::append_printable(kept, text, most);
  return kept;
}

}  // namespace

OrRefusal<std::optional<TicketEmail>> Correspondence::known(const Keys& keys, const std::string& message_id,
                                                            const Scope& scope) {
  TRY(const std::optional<item::Item> item, store_.get(Keys::key(keys.mail(message_id), mail_sort)));
  if (!item) return std::nullopt;
  const MailReference reference = read_mail_reference(*item);
  // Of a ticket that the caller may not see nothing is told, not even its id.
  const auto stored = store_.find(reference.ticket_id, scope);
  if (!stored) {
    if (stored.error().kind == RefusalKind::unknown_ticket) return std::nullopt;
    return base::propagate(stored.error());
  }
  TRY(const std::optional<item::Item> found, store_.get(Keys::key(keys.ticket(reference.ticket_id), reference.sort)));
  if (!found) return std::nullopt;
  auto email = read_email(*found);
  if (!email) return base::propagate(refusal_of(email.error()));
  return shown_to(scope, *std::move(email), stored->ticket);
}

OrRefusal<TakenEmail> Correspondence::send(const std::string& ticket_id, const Letter& letter, const Actor& actor) {
  FieldRules rules;
  if (actor.scope.customer_id) {
    TRY_VOID(store_.find(ticket_id, actor.scope));  // of others' tickets nothing is told
  }
  Letters::check(letter, actor.scope, rules);
  if (auto outcome = rules.outcome(); !outcome) return base::propagate(without_letter(std::move(outcome).error()));
  const Keys keys = store_.keys(actor.scope);
  const std::string email_id = Letters::new_email_id(letter, ticket_id, actor, store_.random());
  const base::TimePoint now = store_.clock().now();
  std::optional<TicketEmail> sent;
  bool is_repeated = false;
  const auto written = writer_.change(
      ticket_id, actor.scope,
      [&](const StoredTicket& stored, const std::vector<std::size_t>& failed) -> OrRefusal<TicketChange> {
        if (!failed.empty()) {
          is_repeated = true;
          return refuse(RefusalKind::key_reused, "an e-mail with this letter.key was sent before");
        }
        TicketChange change{.after = stored, .event = {}};
        change.event.at = now;
        change.event.type = std::string(email_sent_event);
        change.event.by = actor.known_as();
        auto prepared = letters_.prepare(letter, stored, email_id, actor, now);
        if (!prepared) return base::propagate(without_letter(std::move(prepared).error()));
        change.event.details = item::Map{{"subject", prepared->email.subject}};
        sent = prepared->email;
        Letters::enclose(change, *std::move(prepared), keys, store_);
        return change;
      });
  if (written) return TakenEmail{*std::move(sent), false};
  if (!is_repeated) return base::propagate(written.error());
  TRY(std::optional<TicketEmail> before, known(keys, sent->message_id, actor.scope));
  if (!before) return base::propagate(written.error());
  return TakenEmail{*std::move(before), true};
}

OrRefusal<std::string> Correspondence::ticket_of(const Keys& keys, const std::vector<std::string>& message_ids,
                                                 const Scope& scope) {
  std::vector<item::Key> wanted;
  for (const std::string& id : message_ids) wanted.push_back(Keys::key(keys.mail(id), mail_sort));
  TRY(const std::vector<item::Item> items, store_.get_many(wanted));
  std::map<std::string, std::string> tickets;
  for (const item::Item& item : items)
    tickets.emplace(item::attribute_text(item, "PK"), item::attribute_text(item, "ticket_id"));
  for (const std::string& id : message_ids) {
    const auto ticket = tickets.find(keys.mail(id));
    if (ticket == tickets.end()) continue;
    const auto stored = store_.find(ticket->second, scope);
    if (stored) return stored->ticket.id;
    if (stored.error().kind != RefusalKind::unknown_ticket) return base::propagate(stored.error());
  }
  return refuse_answer();
}

OrRefusal<TakenEmail> Correspondence::receive(const ReceivedMessage& message, const Actor& actor) {
  if (message.headers.size() > ReceivedLimits::headers)
    return refuse_field("headers", "must not take more than " + std::to_string(ReceivedLimits::headers) + " bytes");
  std::string_view rest = message.headers;
  const mail::HeaderFields headers = mail::HeaderFields::take(rest);
  TicketEmail email;
  email.received = true;
  const std::vector<std::string> own = message_ids_in(headers.value("Message-ID"), 1);
  // Without a name of its own, what it says is its name.
  email.message_id =
      own.empty() ? base::to_hex(base::sha256(message.headers + "\n" + message.text)) + "@received" : own.front();
  std::vector<std::string> answered = message_ids_in(headers.value("In-Reply-To"), most_references);
  if (!answered.empty()) email.in_reply_to = answered.front();
  // The last one is what it answers.
  std::vector<std::string> references = message_ids_in(headers.value("References"), 10 * most_references);
  std::ranges::reverse(references);
  references.resize(std::min(references.size(), most_references));
  for (std::string& each : references)
    if (std::ranges::find(answered, each) == answered.end()) answered.push_back(std::move(each));
  if (answered.empty()) return refuse_answer();

  const Keys keys = store_.keys(actor.scope);
  TRY(email.ticket_id, ticket_of(keys, answered, actor.scope));
  email.from = kept_line(headers.value("From"), TicketLimits::subject);
  email.subject = kept_line(mail::subject_of(message.headers + "\r\n\r\n"), 4 * TicketLimits::subject);
  email.text = kept_text(message.text, TicketLimits::email_bytes, email.is_cut);
  email.by = actor.known_as();
  email.brought_by_customer = actor.scope.customer_id.has_value();
  email.at = store_.clock().now();
  email.sort = email_sort(email);
  bool is_repeated = false;
  const auto written = writer_.change(
      email.ticket_id, actor.scope,
      [&](const StoredTicket& stored, const std::vector<std::size_t>& failed) -> OrRefusal<TicketChange> {
        if (!failed.empty()) {
          is_repeated = true;
          return refuse(RefusalKind::key_reused, "the message came before");
        }
        TicketChange change{.after = stored, .event = {}};
        change.event.at = email.at;
        change.event.type = std::string(email_received_event);
        change.event.by = email.by;
        change.event.details = item::Map{{"from", email.from}, {"subject", email.subject}};
        if (!own.empty()) Letters::continue_thread(change.after, email);  // no mailbox knows the id that we gave it
        change.beside.emplace_back(store_.put(email_item(keys, email)));
        change.beside.emplace_back(store_.put(mail_reference_item(keys, email), "attribute_not_exists(PK)"));
        return change;
      });
  if (written) return TakenEmail{std::move(email), false};
  if (!is_repeated) return base::propagate(written.error());
  TRY(std::optional<TicketEmail> before, known(keys, email.message_id, actor.scope));
  if (!before) return base::propagate(written.error());
  return TakenEmail{*std::move(before), true};
}

OrRefusal<TicketEmail> Correspondence::find(const std::string& message_id, const Actor& actor) {
  TRY(std::optional<TicketEmail> email, known(store_.keys(actor.scope), message_id, actor.scope));
  if (!email) return refuse_answer();
  return *std::move(email);
}

OrRefusal<Page<TicketEmail>> Correspondence::list(const std::string& ticket_id, const PageRequest& page,
                                                  const Actor& actor) {
  TRY(const StoredTicket stored, store_.find_readable(ticket_id, actor.scope));
  store::MergedListing listing;
  listing.name = "emails/" + ticket_id;
  listing.ranges = {{store_.keys(actor.scope).ticket(ticket_id), std::string(email_begin)}};
  listing.newest_first = true;
  if (actor.scope.customer_id)
    listing.shows = [&](const item::Item& item) {
      auto email = read_email(item);
      return email && shown_to(actor.scope, *std::move(email), stored.ticket);
    };
  TRY(const Page<item::Item> items, store_.list(std::move(listing), page, other_page, actor.scope));
  Page<TicketEmail> answer;
  answer.cursor = items.cursor;
  for (const item::Item& item : items.entries) {
    if (auto email = read_email(item)) {
      if (auto shown = shown_to(actor.scope, *std::move(email), stored.ticket))
        answer.entries.push_back(*std::move(shown));
    } else {
      base::log_warning("support", "an e-mail is left out of a list", {{"cause", email.error().message}});
      ++answer.unreadable;
    }
  }
  return answer;
}

}  // namespace postino::support
