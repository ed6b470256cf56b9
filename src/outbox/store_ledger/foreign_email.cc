#include "outbox/store_ledger/foreign_email.h"

#include <algorithm>

#include "base/timestamp.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_layout.h"

namespace postino::outbox {

namespace {

using item::AttributeValue;
using item::Item;
using item::Map;

std::string own_text(const Map& map, std::string_view name) {
  const AttributeValue* value = map.find(name);
  const std::string* text = value != nullptr ? value->get_if<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

Map attributes_in(const Item& item) {
  const AttributeValue* value = item.find("Attributes");
  const Map* map = value != nullptr ? value->get_if<Map>() : nullptr;
  return map != nullptr ? *map : Map();
}

// "READY#3" and "READY" are of the state READY.
std::optional<State> state_in(const std::string& text) { return parse_state(text.substr(0, text.find('#'))); }

std::optional<base::TimePoint> time_told(const Map& attributes, base::TimePoint now) {
  const auto time = base::parse_timestamp(own_text(attributes, "UpdatedAt"));
  if (!time || *time < base::TimePoint()) return std::nullopt;
  return std::min(*time, now);
}

bool must_be_queued(State state) {
  return kind_of(state) == StateKind::working || state == State::accepted || state == State::ready;
}

// "PROCESSING#2" is the second one.
int occurrence_of(const std::string& status) {
  const std::size_t mark = status.find('#');
  return mark == std::string::npos ? 1 : std::max(1, std::atoi(status.c_str() + mark + 1));
}

void count_lines(const std::vector<Item>& lines, Email& email) {
  for (const Item& line : lines) {
    const std::string status = own_text(line, "Status");
    if (const auto state = state_in(status)) {
      int& reached = email.reached[index_of(*state)];
      reached = std::max(reached, occurrence_of(status));
    }
  }
  int& reached = email.reached[index_of(email.state)];
  reached = std::max(reached, 1);
}

// What belonged to the state that it was in, and not to this one.
void leave_former_state(Email& email) {
  email.due_at.reset();
  email.owner.clear();
  email.rescues = 0;
  email.outcome_unknown = false;
  email.internal_reason = false;
  email.held_from.reset();
  email.callback_attempts = 0;
  email.callback_dead = false;
  email.callback_error.clear();
  const bool ended = email.state != State::held && may_be_finished(email.state) && email.state != State::cancelled;
  const bool calling = acknowledged_form(email.state).has_value();
  email.settled_at = ended || calling ? std::optional(email.updated_at) : std::nullopt;
}

// In the order in which an e-mail goes through its states.
std::vector<Item> foreign_lines(const std::vector<Item>& lines) {
  std::vector<Item> found;
  std::ranges::copy_if(lines, std::back_inserter(found), is_foreign_line);
  std::ranges::stable_sort(found, {}, [](const Item& line) {
    const auto state = state_in(own_text(line, "Status"));
    return state ? index_of(*state) : state_count;
  });
  return found;
}

Item completed_line(Item line, const Email& email, std::int64_t version, base::TimePoint expires) {
  Map attributes = attributes_in(line);
  const std::string status = own_text(line, "Status");
  if (!attributes.contains("UpdatedAt")) attributes.set("UpdatedAt", base::format_timestamp(email.updated_at));
  if (!attributes.contains("Reason"))
    attributes.set("Reason", state_in(status) == email.state ? email.reason : std::string());
  attributes.set("Version", version);
  attributes.set("TTL", base::epoch_seconds(expires));
  line.set("TTL", base::epoch_seconds(expires));
  line.set("Attributes", std::move(attributes));
  return line;
}

// Attributes that Postino does not know stay; of its own, those that are not there any more go.
Item merged(const Item& before, const Email& email, base::TimePoint expires) {
  constexpr std::string_view may_go[] = {
      "TenantListing",    "Queue",        "DueAt",         "LeaseOwner", "OutcomeUnknown", "InternalReason", "Attempts",
      "CallbackAttempts", "CallbackDead", "CallbackError", "HeldFrom",   "Recipients",     "SettledAt",      "SendAt",
      "CallbackUrl",      "Tags",         "Sender",        "Bounces",    "BegunAgainAt",   "Subject"};
  Item item = before;
  for (const std::string_view name : may_go) item.erase(name);
  Map attributes = attributes_in(before);
  for (const item::Attribute& each : meta_item(email, expires)) {
    if (each.name != "Attributes") {
      item.set(each.name, each.value);
      continue;
    }
    for (const item::Attribute& inner : *each.value.get_if<Map>()) attributes.set(inner.name, inner.value);
  }
  item.set("Attributes", std::move(attributes));
  return item;
}

}  // namespace

bool is_foreign_line(const Item& line) {
  const Map attributes = attributes_in(line);
  const AttributeValue* version = attributes.find("Version");
  return state_in(own_text(line, "Status")).has_value() &&
         (version == nullptr || version->get_if<item::Number>() == nullptr);
}

bool needs_adoption(const Item& meta) {
  if (!meta.contains("Version") || !meta.contains("CreatedAt")) return true;
  const auto email = email_of(meta);
  if (!email) return false;
  const int shard = shard_of(email->id);
  const State listed = listed_state(email->state);
  const std::string queue = own_text(meta, "Queue");
  if (own_text(meta, "Listing") != queue_name(listed, shard)) return true;
  if (own_text(meta, "ListedAt") != listing_position(*email)) return true;
  if (own_text(meta, "TenantListing") != (email->tenant.empty() ? "" : tenant_listing(email->tenant, listed, shard)))
    return true;
  if (queue != queue_of(*email)) return true;
  return queue.empty() ? must_be_queued(email->state) : kind_of(email->state) == StateKind::resting;
}

// What is worked on is listed where it waited, so that its queue says more.
std::optional<State> counted_state(const Item& meta) {
  const auto listed = state_in(own_text(meta, "Listing"));
  const auto queued = state_in(own_text(meta, "Queue"));
  return listed && queued && listed_state(*queued) == *listed ? queued : listed;
}

base::Result<Email> counted_email_of(const Item& meta) {
  TRY(Email email, email_of(meta));
  if (const auto counted = needs_adoption(meta) ? counted_state(meta) : std::nullopt) email.state = *counted;
  return email;
}

base::Result<Email> foreign_email_of(const Item& meta, base::TimePoint now) {
  const std::optional<base::TimePoint> told = time_told(attributes_in(meta), now);
  Item whole = meta;
  if (!meta.contains("Version")) whole.set("Version", 1);
  if (!meta.contains("CreatedAt")) whole.set("CreatedAt", base::epoch_milliseconds(told.value_or(now)));
  TRY(Email email, email_of(whole));
  email.updated_at = std::max(told.value_or(now), email.created_at);
  return email;
}

base::Result<AdoptedEmail> adopted(const EmailRecords& records, Email email, event::Adopted event, const Policy& policy,
                                   base::TimePoint now) {
  const Item& meta = *records.meta;
  const bool is_new = !meta.contains("Version");
  const bool is_moved = is_new || counted_state(meta) != email.state;
  const std::vector<Item> theirs = foreign_lines(records.lines);
  count_lines(records.lines, email);
  const std::int64_t former = is_new ? 0 : email.version;
  email.version = former + std::max<std::int64_t>(1, static_cast<std::int64_t>(theirs.size()));
  if (is_moved) {
    leave_former_state(email);
    if (kind_of(email.state) == StateKind::working) email.owner = foreign_owner;
    // Attempts of Postino count from now on, however long the other program has had it.
    if (is_new) email.begun_again_at = now;
  } else if (own_text(meta, "Queue") != queue_name(email.state, shard_of(email.id)) && !email.callback_dead) {
    email.due_at.reset();
  }
  AdoptedEmail result;
  if (is_moved || !is_outcome(email.state)) {
    TRY(Change change, decide(std::move(email), std::move(event), policy, now));
    email = std::move(change.after);
  }
  const base::TimePoint expires = expiry_of(email, policy);
  result.meta = merged(meta, email, expires);
  for (std::size_t i = 0; i < theirs.size(); ++i)
    result.lines.push_back(completed_line(theirs[i], email, former + static_cast<std::int64_t>(i) + 1, expires));
  result.email = std::move(email);
  return result;
}

std::vector<Item> late_lines(const EmailRecords& records, const Email& email, base::TimePoint expires) {
  std::vector<Item> lines;
  for (const Item& line : foreign_lines(records.lines)) lines.push_back(completed_line(line, email, 0, expires));
  return lines;
}

}  // namespace postino::outbox
