#include "support/tickets.h"

#include <algorithm>
#include <iterator>

#include "item/plain_json.h"
#include "support/customer_view.h"
#include "support/field_rules.h"

namespace postino::support {

namespace {

constexpr int creation_rounds = 8;

void check_new(const NewTicket& ticket, const std::string& key, const Scope& scope, FieldRules& rules) {
  rules.name("customer.id", ticket.customer.id, TicketLimits::id_bytes);
  if (!scope.covers(ticket.customer.id)) rules.add("customer.id", "must be the customer that the caller belongs to");
  rules.line("customer.name", ticket.customer.name, 0, TicketLimits::name);
  if (!ticket.customer.contact_email.empty()) rules.address("customer.contact_email", ticket.customer.contact_email);
  rules.line("customer.account_tier", ticket.customer.account_tier, 0, TicketLimits::short_text);
  rules.line("asset.product_type", ticket.asset.product_type, 0, TicketLimits::short_text);
  rules.line("asset.model", ticket.asset.model, 0, TicketLimits::short_text);
  rules.line("asset.serial", ticket.asset.serial, 0, TicketLimits::short_text);
  rules.line("asset.firmware", ticket.asset.firmware, 0, TicketLimits::short_text);
  rules.text("symptom_text", ticket.symptom_text, TicketLimits::least_symptom, TicketLimits::symptom);
  rules.line("error_code", ticket.error_code, 0, TicketLimits::short_text);
  rules.one_of("priority", ticket.priority, {"P1", "P2", "P3", "P4"});
  if (!ticket.lang.empty()) rules.word("lang", ticket.lang, TicketLimits::lang_bytes);
  if (!key.empty()) rules.name("idempotency_key", key, TicketLimits::key_bytes);
  if (ticket.letter) Letters::check(*ticket.letter, scope, rules);
}

// Equal requests have equal texts.
std::string canonical_text(const NewTicket& ticket) {
  item::Map map;
  map.set("customer", item::List{ticket.customer.id, ticket.customer.name, ticket.customer.contact_email,
                                 ticket.customer.account_tier});
  map.set("asset",
          item::List{ticket.asset.product_type, ticket.asset.model, ticket.asset.serial, ticket.asset.firmware});
  map.set("symptom_text", ticket.symptom_text);
  map.set("error_code", ticket.error_code);
  map.set("priority", ticket.priority);
  map.set("lang", ticket.lang);
  if (ticket.letter) {
    map.set("letter", item::List{ticket.letter->kind, ticket.letter->subject, ticket.letter->text, ticket.letter->html,
                                 ticket.letter->key});
    map.set("letter_to", item::List(ticket.letter->to.begin(), ticket.letter->to.end()));
  }
  return item::to_plain_json(map);
}

Ticket ticket_of(const NewTicket& wanted, std::string id, base::TimePoint now) {
  Ticket ticket;
  ticket.id = std::move(id);
  ticket.customer = wanted.customer;
  ticket.asset = wanted.asset;
  ticket.symptom_text = wanted.symptom_text;
  ticket.error_code = wanted.error_code;
  ticket.priority = wanted.priority;
  ticket.lang = wanted.lang;
  ticket.created_at = now;
  ticket.created_text = write_time(now);
  ticket.updated_at = now;
  ticket.version = 1;
  return ticket;
}

Refusal with_current(Refusal refusal, const Ticket& ticket) {
  refusal.current_version = ticket.version;
  refusal.current_status = ticket.status;
  return refusal;
}

OrRefusal<void> check_seen(const Ticket& ticket, const Seen& seen) {
  const std::string now = "the ticket " + ticket.id + " has version " + std::to_string(ticket.version) + " and is " +
                          std::string(name_of(ticket.status));
  if (seen.version && *seen.version != ticket.version)
    return base::propagate(with_current({.kind = RefusalKind::other_version, .message = now}, ticket));
  if (seen.status && *seen.status != ticket.status)
    return base::propagate(with_current({.kind = RefusalKind::other_version, .message = now}, ticket));
  return {};
}

TicketEvent status_change(const Ticket& before, const Ticket& after, const Move& move, const Actor& actor,
                          base::TimePoint now) {
  TicketEvent event;
  event.at = now;
  event.type = std::string(status_event);
  event.by = actor.known_as();
  event.old_status = std::string(name_of(before.status));
  event.new_status = std::string(name_of(after.status));
  event.details = item::Map{{"new_status", event.new_status}, {"old_status", event.old_status}};
  if (!move.reason.empty()) event.details.set("reason", move.reason);
  if (!move.engineer.empty()) event.details.set("assigned_to", move.engineer);
  return event;
}

}  // namespace

OrRefusal<void> Tickets::add_letter(TicketChange& change, const std::optional<Letter>& letter,
                                    const std::string& email_id, const Actor& actor, const Keys& keys) const {
  if (!letter) return {};
  TRY(Letters::Prepared prepared, letters_.prepare(*letter, change.after, email_id, actor, change.event.at));
  Letters::enclose(change, std::move(prepared), keys, store_);
  return {};
}

OrRefusal<Created> Tickets::create(const NewTicket& wanted, const std::string& key, const Actor& actor,
                                   base::Milliseconds key_life) {
  FieldRules rules;
  check_new(wanted, key, actor.scope, rules);
  TRY_VOID(rules.outcome());
  const Keys keys = store_.keys(actor.scope);
  const base::TimePoint now = store_.clock().now();
  const std::string id = "tkt_" + base::make_uuid(store_.random());
  const std::optional<Letter> letter = wanted.letter ? wanted.letter : letters_.acknowledgement(wanted.customer);
  const std::string email_id = letter ? Letters::new_email_id(*letter, id, actor, store_.random()) : "";
  Creation own{id, std::string(name_of(TicketStatus::fresh)), write_time(now), ""};
  if (!key.empty()) own.request_hash = hash_of_request(canonical_text(wanted));

  for (int round = 0; round < creation_rounds; ++round) {
    TicketChange change;
    change.after.ticket = ticket_of(wanted, id, now);
    change.event.at = now;
    change.event.type = std::string(created_event);
    change.event.by = actor.known_as();
    change.event.new_status = own.status;
    TRY_VOID(add_letter(change, letter, email_id, actor, keys));
    std::vector<store::TransactAction> actions = writer_.creation(keys, change);
    std::ranges::move(change.beside, std::back_inserter(actions));
    const std::size_t record = actions.size();
    if (!key.empty()) {
      store::TransactPut put =
          store_.put(creation_item(keys, key, own, now, key_life), "attribute_not_exists(PK) OR #ttl < :now");
      put.placeholders.names = expr::Names{{"#ttl", std::string(ttl_attribute)}};
      put.placeholders.values = item::Map{{":now", base::epoch_seconds(now)}};
      actions.emplace_back(std::move(put));
    }
    std::vector<std::size_t> failed;
    auto written = writer_.write(std::move(actions), change.email, actor.scope.tenant, failed);
    if (written) return Created{own, false};
    const bool is_taken = std::ranges::find(failed, record) != failed.end();
    const bool is_unknown = written.error().kind == RefusalKind::outcome_unknown;
    if (!key.empty() && (is_taken || is_unknown)) {
      TRY(std::optional<Created> before, earlier(keys, key, own, now));
      if (before) return *std::move(before);
      if (is_unknown) return base::propagate(std::move(written).error());
      continue;  // it has expired, or was removed
    }
    // No other caller has this id: an attempt before the last one was done, although the store did not say so.
    if (std::ranges::find(failed, 0U) != failed.end()) return Created{own, false};
    return base::propagate(std::move(written).error());
  }
  return refuse(RefusalKind::busy, "others use the same idempotency key; try again");
}

OrRefusal<std::optional<Created>> Tickets::earlier(const Keys& keys, const std::string& key, const Creation& own,
                                                   base::TimePoint now) {
  TRY(const std::optional<item::Item> item, store_.get(Keys::key(keys.idempotency(key), metadata_sort)));
  if (!item) return std::nullopt;
  auto creation = read_creation(*item, now);
  if (!creation) {
    const item::AttributeValue* const ttl = item->find(ttl_attribute);
    const auto* const end = ttl != nullptr ? ttl->get_if<item::Number>() : nullptr;
    if (end != nullptr && *end < item::Number(base::epoch_seconds(now))) return std::nullopt;
    return refuse(RefusalKind::key_reused, "the idempotency key belongs to a record that names no ticket");
  }
  if (creation->ticket_id == own.ticket_id) return Created{own, false};
  if (!creation->request_hash.empty() && creation->request_hash != own.request_hash)
    return refuse(RefusalKind::key_reused, "the idempotency key belongs to a request with other contents");
  return Created{*std::move(creation), true};
}

OrRefusal<Ticket> Tickets::get(const std::string& id, const Actor& actor) {
  TRY(StoredTicket stored, store_.find(id, actor.scope));
  return shown_to(actor.scope, std::move(stored.ticket));
}

OrRefusal<std::vector<Ticket>> Tickets::get_many(const std::vector<std::string>& ids, const Actor& actor) {
  if (ids.size() > TicketLimits::many)
    return refuse_field("ids", "must not have more than " + std::to_string(TicketLimits::many) + " elements");
  TRY(std::vector<StoredTicket> stored, store_.find_many(ids, actor.scope));
  std::vector<Ticket> tickets;
  for (StoredTicket& each : stored) tickets.push_back(shown_to(actor.scope, std::move(each.ticket)));
  return tickets;
}

OrRefusal<Ticket> Tickets::move(const std::string& id, const Move& move, const Seen& seen, const Actor& actor,
                                const std::optional<Letter>& given) {
  FieldRules rules;
  rules.text("reason", move.reason, 0, TicketLimits::reason);
  if (move.to == TicketStatus::escalated)
    rules.name("engineer", move.engineer, TicketLimits::id_bytes);
  else if (!move.engineer.empty())
    rules.add("engineer", "must be left out, unless the ticket is escalated");
  if (given) Letters::check(*given, actor.scope, rules);
  TRY_VOID(rules.outcome());
  // The letter is for the customer or whom else it names; a listed engineer is told besides.
  const std::optional<Letter> notice = letters_.escalation_notice(move.engineer);
  const std::string email_id = given ? Letters::new_email_id(*given, id, actor, store_.random()) : "";
  const std::string notice_id = notice ? Letters::new_email_id(*notice, id, actor, store_.random()) : "";
  const Keys keys = store_.keys(actor.scope);
  const auto decide = [&](const StoredTicket& stored,
                          const std::vector<std::size_t>& failed) -> OrRefusal<TicketChange> {
    TRY_VOID(check_seen(stored.ticket, seen));
    if (!failed.empty()) return refuse(RefusalKind::key_reused, "an e-mail with this letter.key was sent before");
    const base::TimePoint now = store_.clock().now();
    auto next = moved(stored.ticket, move, now);
    if (!next)
      return base::propagate(
          with_current({.kind = RefusalKind::wrong_state, .message = next.error().message}, stored.ticket));
    TicketChange change{.after = stored, .event = status_change(stored.ticket, *next, move, actor, now)};
    change.after.ticket = *std::move(next);
    TRY_VOID(add_letter(change, given, email_id, actor, keys));
    TRY_VOID(add_letter(change, notice, notice_id, actor, keys));
    change.note_answer(actor, id);
    return change;
  };
  TRY(StoredTicket after, writer_.change(id, actor.scope, decide));
  return std::move(after.ticket);
}

OrRefusal<Ticket> Tickets::escalate(const std::string& id, const std::string& engineer, const std::string& reason,
                                    const Seen& seen, const Actor& actor, const std::optional<Letter>& letter) {
  return move(id, {.to = TicketStatus::escalated, .reason = reason, .engineer = engineer}, seen, actor, letter);
}

OrRefusal<Ticket> Tickets::deescalate(const std::string& id, const std::string& reason, const Seen& seen,
                                      const Actor& actor, const std::optional<Letter>& letter) {
  TRY(const StoredTicket stored, store_.find(id, actor.scope));
  TRY_VOID(check_seen(stored.ticket, seen));
  if (stored.ticket.status != TicketStatus::escalated)
    return base::propagate(with_current(
        {.kind = RefusalKind::wrong_state,
         .message = "the ticket " + id + " is " + std::string(name_of(stored.ticket.status)) + " and not ESCALATED"},
        stored.ticket));
  Seen exactly = seen;
  exactly.status = TicketStatus::escalated;
  return move(id, {.to = TicketStatus::processing, .reason = reason}, exactly, actor, letter);
}

OrRefusal<Ticket> Tickets::change_priority(const std::string& id, const std::string& priority, const Seen& seen,
                                           const Actor& actor) {
  FieldRules rules;
  rules.one_of("priority", priority, {"P1", "P2", "P3", "P4"});
  TRY_VOID(rules.outcome());
  {
    TRY(StoredTicket stored, store_.find(id, actor.scope));
    TRY_VOID(check_seen(stored.ticket, seen));
    if (stored.ticket.priority == priority) return std::move(stored.ticket);
  }
  const auto decide = [&](const StoredTicket& stored, const std::vector<std::size_t>&) -> OrRefusal<TicketChange> {
    TRY_VOID(check_seen(stored.ticket, seen));
    TicketChange change{.after = stored, .event = {}};
    change.event.at = store_.clock().now();
    change.event.type = std::string(priority_event);
    change.event.by = actor.known_as();
    change.event.details = item::Map{{"new_priority", priority}, {"old_priority", stored.ticket.priority}};
    change.after.ticket.priority = priority;
    change.after.ticket.updated_at = change.event.at;
    ++change.after.ticket.version;
    change.note_answer(actor, id);
    return change;
  };
  TRY(StoredTicket after, writer_.change(id, actor.scope, decide));
  return std::move(after.ticket);
}

}  // namespace postino::support
