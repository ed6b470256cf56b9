#include "support/ticket_writer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "access/caller_scope.h"
#include "base/log.h"
#include "item/attribute_text.h"
#include "item/plain_json.h"
#include "support/record/handover.h"

namespace postino::support {

namespace {

constexpr int change_rounds = 100;
constexpr std::size_t ticket_place = 0, event_place = 1;  // of a commit

// What others change: other servers the version or the count, other programs the rest.
constexpr std::array<std::string_view, 8> ticket_conditions = {
    "version", "event_day", "event_count", "status", "updated_at", "escalated_at", "assigned_to", "customer_id"};

item::Key key_of(const item::Item& item) {
  return Keys::key(item::attribute_text(item, "PK"), item::attribute_text(item, "SK"));
}

// Of a version or a number that is to be written.
OrRefusal<void> check_counted(const item::Item& item, std::int64_t number) {
  if (number <= TicketLimits::most_counted) return {};
  return refuse(RefusalKind::corrupt, "the record " + key_text(item) +
                                          " cannot be changed: version and event_count must stay below " +
                                          std::to_string(TicketLimits::most_counted));
}

// An update expression in the making.
class UpdateText {
 public:
  std::string name(const std::string& attribute) {
    for (const auto& [placeholder, known] : names_)
      if (known == attribute) return placeholder;
    std::string placeholder = "#a" + std::to_string(names_.size());
    names_.emplace(placeholder, attribute);
    return placeholder;
  }
  std::string value(const item::AttributeValue& value) {
    std::string placeholder = ":v" + std::to_string(values_.size());
    values_.set(placeholder, value);
    return placeholder;
  }
  void set(const std::string& path, const item::AttributeValue& to) {
    sets_.append(sets_.empty() ? "SET " : ", ").append(path).append(" = ").append(value(to));
  }
  void remove(const std::string& path) { removals_.append(removals_.empty() ? " REMOVE " : ", ").append(path); }
  // What makes one map of the other. Those of `data` are changed one by one, so that others may change their own.
  void add_difference(const item::Map& before, const item::Map& after, const std::string& parent, bool nested) {
    for (const item::Attribute& each : after) {
      if (parent.empty() && (each.name == "PK" || each.name == "SK")) continue;
      const item::AttributeValue* const old = before.find(each.name);
      if (old != nullptr && *old == each.value) continue;
      const auto* const old_map = old != nullptr ? old->get_if<item::Map>() : nullptr;
      const auto* const new_map = each.value.get_if<item::Map>();
      if (nested && each.name == "data" && old_map != nullptr && new_map != nullptr)
        add_difference(*old_map, *new_map, name(each.name) + ".", false);
      else
        set(parent + name(each.name), each.value);
    }
    for (const item::Attribute& each : before)
      if (!after.contains(each.name)) remove(parent + name(each.name));
  }

  // The attribute is as it was when the item was read.
  std::string unchanged(const item::Item& seen, const std::string& attribute) {
    const item::AttributeValue* const was = seen.find(attribute);
    if (was == nullptr) return "attribute_not_exists(" + name(attribute) + ")";
    return name(attribute) + " = " + value(*was);
  }

  bool is_empty() const { return sets_.empty() && removals_.empty(); }
  std::string text() const { return sets_ + removals_; }
  expr::Placeholders placeholders() && {
    return {std::move(names_), values_.empty() ? std::nullopt : std::optional(std::move(values_))};
  }

 private:
  std::string sets_;
  std::string removals_;
  expr::Names names_;
  item::Map values_;
};

}  // namespace

struct TicketWriter::Attempt {
  const std::string& ticket_id;
  const Scope& scope;
  const Keys keys;
  const std::string event_id;            // by which it knows its own work again
  std::optional<EventPlace> taken = {};  // of a day: the last number that is known to be taken
  std::vector<std::size_t> failed = {};  // in `beside`
  // Once the store has refused an update, the ticket is put as a whole: the attributes that are in the object store.
  std::optional<std::vector<std::string>> moved = {};
  StoredTicket after = {};  // when it is done
};

OrRefusal<StoredTicket> TicketWriter::change(const std::string& ticket_id, const Scope& scope, const Decide& decide) {
  constexpr std::size_t id_digits = 13;  // of a random UUID: enough among the events of a ticket
  Attempt attempt{.ticket_id = ticket_id,
                  .scope = scope,
                  .keys = store_.keys(scope),
                  .event_id = base::make_uuid(store_.random()).substr(0, id_digits)};
  for (int round = 0; round < change_rounds; ++round) {
    TRY(const bool done, try_once(attempt, decide));
    if (done) return std::move(attempt.after);
  }
  return refuse(RefusalKind::busy, "others change the ticket " + ticket_id + " all the time; try again");
}

OrRefusal<bool> TicketWriter::try_once(Attempt& attempt, const Decide& decide) {
  TRY(const StoredTicket stored, store_.find(attempt.ticket_id, attempt.scope));
  TRY(TicketChange change, decide(stored, attempt.failed));
  const EventPlace place = next_event_place(stored.events, change.event.at, attempt.taken);
  change.event.date = place.date;
  change.event.number = place.number;
  change.event.id = attempt.event_id;
  change.after.events = {place.date, place.number};
  change.after.item = stored.item;
  TRY_VOID(check_counted(stored.item, std::max(place.number, change.after.ticket.version)));

  const item::Item event = event_item(attempt.keys, stored.ticket.id, change.event);
  std::vector<store::TransactAction> actions;
  const std::optional<std::vector<std::string>> moved = std::exchange(attempt.moved, std::nullopt);
  item::Item after = ticket_item(attempt.keys, change.after, store_.tables().data);
  const item::Map data = item::map_or_json(*after.find("data")).value_or(item::Map());  // as it is written
  if (moved)
    actions.emplace_back(replacement(stored.item, std::move(after), ticket_conditions, *moved));
  else
    actions.emplace_back(update(stored.item, after, ticket_conditions));
  actions.emplace_back(store_.put(event, "attribute_not_exists(PK)"));
  // Others write 1000 where we write A1000.
  const std::size_t plain_event = actions.size();
  if (const std::string plain = plain_event_sort(place.date, place.number);
      plain != event_sort(place.date, place.number))
    actions.emplace_back(store::TransactConditionCheck{.table_name = store_.tables().tickets,
                                                       .key = Keys::key(attempt.keys.ticket(stored.ticket.id), plain),
                                                       .condition = "attribute_not_exists(PK)",
                                                       .placeholders = {}});
  const bool has_plain_event = actions.size() > plain_event;
  for (auto& action : filing_actions(attempt.keys, stored.filed, change.after.ticket))
    actions.push_back(std::move(action));
  const std::size_t beside = actions.size();
  std::ranges::move(change.beside, std::back_inserter(actions));
  const std::size_t answer_note = actions.size();
  if (change.note) actions.push_back(change.note(change.event));
  const std::size_t behind = actions.size();

  std::vector<std::size_t> failed;
  auto written = moved ? write_large(std::move(actions), change.email, attempt.scope.tenant, failed)
                       : write(std::move(actions), change.email, attempt.scope.tenant, failed);
  attempt.after = std::move(change.after);
  attempt.after.filed = filed_of(attempt.after.ticket);
  attempt.after.ticket.data = data;
  if (written) return true;
  const bool is_event_taken = std::ranges::find(failed, event_place) != failed.end() ||
                              (has_plain_event && std::ranges::find(failed, plain_event) != failed.end());
  if (is_event_taken || written.error().kind == RefusalKind::outcome_unknown) {
    // An attempt before the last one may have been done, although the store did not say so.
    const auto there = store_.get(key_of(event));
    if (there && *there && item::attribute_text(**there, "event_id") == attempt.event_id) return true;
  }
  if (failed.empty() && !moved && written.error().kind == RefusalKind::invalid) {
    TRY(attempt.moved, store_.moved_attributes(Keys::key(attempt.keys.ticket(stored.ticket.id), metadata_sort)));
    attempt.failed.clear();
    return false;
  }
  if (failed.empty()) return base::propagate(std::move(written).error());
  attempt.failed.clear();
  for (const std::size_t each : failed)
    if (each >= beside && each < answer_note) attempt.failed.push_back(each - beside);
  if (change.note && std::ranges::find(failed, answer_note) != failed.end())
    return refuse(RefusalKind::busy, "another request with the same idempotency key has taken over");
  if (failed.front() >= behind)
    return refuse(RefusalKind::busy, "the outbox has an e-mail of this id, which is not one of the ticket");
  // If the ticket has changed, its count says what is taken. Otherwise another program has taken the number.
  if (is_event_taken && std::ranges::find(failed, ticket_place) == failed.end()) {
    TRY(EventPlace last, last_taken(attempt.keys, attempt.ticket_id, place.date));
    last.number = std::max(last.number, place.number);
    attempt.taken = std::move(last);
  }
  return false;
}

OrRefusal<EventPlace> TicketWriter::last_taken(const Keys& keys, const std::string& ticket_id,
                                               const std::string& date) {
  // Numbers of others need not sort like ours; they end behind them, or among the last ones.
  constexpr int most_looked_at = 2'000;
  store::QueryRequest request;
  request.table_name = store_.tables().tickets;
  request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  request.projection = "SK";
  const std::string begin = std::string(event_begin) + date + "#";
  request.placeholders.values = item::Map{{":begin", begin}, {":pk", keys.ticket(ticket_id)}};
  request.consistent_read = true;
  request.forward = false;
  request.limit = most_looked_at;
  TRY(const store::PageResponse page, store_.query(request));
  EventPlace taken{date, 0};
  for (const item::Item& item : page.items)
    if (const auto number = parse_event_number(std::string_view(item::attribute_text(item, "SK")).substr(begin.size()));
        number && *number < TicketLimits::most_counted)
      taken.number = std::max(taken.number, *number);
  return taken;
}

std::vector<store::TransactAction> TicketWriter::filing_actions(const Keys& keys, const std::optional<Filed>& before,
                                                                const Ticket& ticket) const {
  std::vector<store::TransactAction> actions;
  for (Filing& filing : filings(keys, before, ticket)) {
    if (filing.item)
      actions.emplace_back(store_.put(*std::move(filing.item)));
    else
      actions.emplace_back(store_.removal(Keys::key(keys.ticket(ticket.id), filing.sort)));
  }
  return actions;
}

store::TransactUpdate TicketWriter::update(const item::Item& before, const item::Item& after,
                                           std::span<const std::string_view> unchanged) const {
  store::TransactUpdate update;
  update.table_name = store_.tables().tickets;
  update.key = key_of(before);
  UpdateText text;
  text.add_difference(before, after, "", true);
  std::string condition = "attribute_exists(PK)";
  for (const std::string_view name : unchanged)
    condition.append(" AND ").append(text.unchanged(before, std::string(name)));
  update.update.emplace(text.text());
  update.condition.emplace(std::move(condition));
  update.placeholders = std::move(text).placeholders();
  return update;
}

store::TransactPut TicketWriter::replacement(const item::Item& before, item::Item after,
                                             std::span<const std::string_view> unchanged,
                                             const std::vector<std::string>& moved) const {
  UpdateText text;
  std::string condition = "attribute_exists(PK)";
  for (const item::Attribute& each : before)
    if (each.name != "PK" && each.name != "SK" && std::ranges::find(moved, each.name) == moved.end())
      condition.append(" AND ").append(text.unchanged(before, each.name));
  for (const std::string_view name : unchanged)
    if (!before.contains(name)) condition.append(" AND ").append(text.unchanged(before, std::string(name)));
  store::TransactPut put = store_.put(std::move(after), std::move(condition));
  put.placeholders = std::move(text).placeholders();
  return put;
}

std::vector<store::TransactAction> TicketWriter::creation(const Keys& keys, TicketChange& change) {
  const EventPlace place = next_event_place({}, change.event.at, std::nullopt);
  change.event.date = place.date;
  change.event.number = place.number;
  change.after.events = {place.date, place.number};
  std::vector<store::TransactAction> actions;
  actions.emplace_back(store_.put(ticket_item(keys, change.after, store_.tables().data), "attribute_not_exists(PK)"));
  actions.emplace_back(store_.put(event_item(keys, change.after.ticket.id, change.event)));
  for (auto& action : filing_actions(keys, Filed(), change.after.ticket)) actions.push_back(std::move(action));
  change.after.filed = filed_of(change.after.ticket);
  return actions;
}

OrRefusal<void> TicketWriter::write(std::vector<store::TransactAction> actions,
                                    const std::optional<outbox::Payload>& email, const std::string& tenant,
                                    std::vector<std::size_t>& failed) {
  if (email && mail_.shares_commits()) {
    const access::CallerScope desk(tenant, "");
    const outbox::JoinedOutcome outcome = mail_.accept_with(*email, tenant, std::move(actions));
    if (outcome.email) return {};
    failed = failed_conditions(*outcome.error);
    return base::propagate(refusal_of(*outcome.error));
  }
  if (email) {
    store_.expect_handovers();
    actions.emplace_back(store_.put(handover_item({email->id, tenant, outbox::to_json(*email)})));
  }
  return store_.write(actions, &failed);
}

OrRefusal<void> TicketWriter::write_large(std::vector<store::TransactAction> actions,
                                          const std::optional<outbox::Payload>& email, const std::string& tenant,
                                          std::vector<std::size_t>& failed) {
  if (email) {
    store_.expect_handovers();
    actions.emplace_back(store_.put(handover_item({email->id, tenant, outbox::to_json(*email)})));
  }
  TRY_VOID(store_.write(actions, &failed));
  if (!email || !mail_.shares_commits()) return {};
  const access::CallerScope desk(tenant, "");
  if (const auto accepted = mail_.accept(*email, tenant); !accepted)
    base::log_warning("support", "an e-mail of a ticket is not in the outbox yet",
                      {{"email", email->id}, {"cause", accepted.error().message}});
  else
    (void)store_.write({store_.removal(handover_key(email->id))});  // one that stays is handed over once more: no harm
  return {};
}

OrRefusal<bool> TicketWriter::complete(const Keys& keys, const StoredTicket& stored) {
  TRY_VOID(check_counted(stored.item, stored.ticket.version));
  return complete(stored.item, ticket_item(keys, stored, store_.tables().data), ticket_conditions,
                  filing_actions(keys, stored.filed, stored.ticket));
}

OrRefusal<bool> TicketWriter::complete(const item::Item& before, const item::Item& after,
                                       std::span<const std::string_view> unchanged,
                                       std::vector<store::TransactAction> beside) {
  beside.insert(beside.begin(), update(before, after, unchanged));
  std::vector<std::size_t> failed;
  auto written = store_.write(beside, &failed);
  if (!written && failed.empty() && written.error().kind == RefusalKind::invalid) {
    TRY(const std::vector<std::string> moved, store_.moved_attributes(key_of(before)));
    beside.front() = replacement(before, after, unchanged, moved);
    written = store_.write(beside, &failed);
  }
  if (written) return true;
  if (!failed.empty()) return false;
  return base::propagate(std::move(written).error());
}

}  // namespace postino::support
