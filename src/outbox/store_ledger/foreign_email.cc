#include "outbox/store_ledger/foreign_email.h"

#include <algorithm>

#include "base/timestamp.h"
#include "outbox/email/last_time.h"
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

// A second since 1970, as TTL has it.
std::optional<std::int64_t> second_in(const Map& map, std::string_view name) {
  const AttributeValue* value = map.find(name);
  const item::Number* number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  const auto whole = number != nullptr ? number->to_int64() : std::nullopt;
  if (!whole || *whole < 0) return std::nullopt;
  return std::min(*whole, last_second);
}

// When the other program wants the record to be removed. Postino writes the same time twice; another one is told. Where
// nothing guards what is not finished, Postino writes it once for the time being, which is `own`.
std::optional<base::TimePoint> expiry_told(const Item& meta, std::optional<std::int64_t> own) {
  const auto theirs = second_in(attributes_in(meta), "TTL");
  const auto top = second_in(meta, "TTL");
  const bool is_theirs = !meta.contains("Version") || theirs != (top ? top : own);
  const auto told = theirs ? theirs : top;
  return told && is_theirs ? std::optional(base::from_epoch_milliseconds(*told * 1'000)) : std::nullopt;
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

// The version that the e-mail had when the line was reached: that of the last line before it. A line that tells no time
// comes before those of later states.
std::int64_t version_at(const Item& late, const std::vector<Item>& lines, const Email& email) {
  const auto time = base::parse_timestamp(own_text(attributes_in(late), "UpdatedAt"));
  const auto state = state_in(own_text(late, "Status"));
  if (state == email.state) return email.version;
  std::int64_t before = 0;
  std::int64_t after = email.version + 1;
  for (const Item& line : lines) {
    const auto entry = is_foreign_line(line) ? std::nullopt : history_entry_of(line);
    const auto reached = entry ? parse_state(entry->status) : std::nullopt;
    if (!reached) continue;
    if (time && entry->at <= *time) before = std::max(before, entry->version);
    if (index_of(*reached) > index_of(*state)) after = std::min(after, entry->version);
  }
  return time ? before : after - 1;
}

Item completed_line(Item line, const Email& email, std::int64_t version, const RecordLife& life) {
  Map attributes = attributes_in(line);
  const std::string status = own_text(line, "Status");
  if (!attributes.contains("UpdatedAt")) attributes.set("UpdatedAt", base::format_timestamp(email.updated_at));
  if (!attributes.contains("Reason"))
    attributes.set("Reason", state_in(status) == email.state ? email.reason : std::string());
  attributes.set("Version", version);
  if (!attributes.contains("TTL")) attributes.set("TTL", base::epoch_seconds(life.expires));
  line.erase("TTL");
  if (life.has_begun) line.set("TTL", base::epoch_seconds(life.expires));
  line.set("Attributes", std::move(attributes));
  return line;
}

// Attributes that Postino does not know stay; of its own, those that are not there any more go.
Item merged(const Item& before, const Email& email, const RecordLife& life, int shards) {
  constexpr std::string_view may_go[] = {"TenantListing",  "Queue",
                                         "DueAt",          "LeaseOwner",
                                         "OutcomeUnknown", "InternalReason",
                                         "Attempts",       "CallbackAttempts",
                                         "CallbackDead",   "CallbackError",
                                         "HeldFrom",       "Recipients",
                                         "SettledAt",      "SendAt",
                                         "CallbackUrl",    "Tags",
                                         "Sender",         "Bounces",
                                         "BegunAgainAt",   "Subject",
                                         "KeptSince",      "TTL"};
  Item item = before;
  for (const std::string_view name : may_go) item.erase(name);
  Map attributes = attributes_in(before);
  for (const item::Attribute& each : meta_item(email, life, shards)) {
    if (each.name != "Attributes") {
      item.set(each.name, each.value);
      continue;
    }
    for (const item::Attribute& inner : *each.value.get_if<Map>()) attributes.set(inner.name, inner.value);
  }
  item.set("Attributes", std::move(attributes));
  return item;
}

// In the mark of an e-mail.
constexpr const char* counted_name = "Counted";

}  // namespace

void note_counted(const Item& meta, Item& mark) {
  const auto email = counted_email_of(meta);
  if (!email || !*email) return;
  Map counted{{"Latest", name_of((*email)->state)},
              {"CreatedAt", base::epoch_milliseconds((*email)->created_at)},
              {"KeptFrom", base::epoch_milliseconds(kept_from(**email))},
              {"Version", (*email)->version}};
  if (!(*email)->tenant.empty()) counted.set("Tenant", (*email)->tenant);
  mark.set(counted_name, std::move(counted));
}

void keep_counted(const Item& before, Item& mark) {
  if (const AttributeValue* counted = before.find(counted_name)) mark.set(counted_name, *counted);
}

void drop_counted(Item& mark) { mark.erase(counted_name); }

// Postino may have moved it after the mark was made: its lines say where to.
std::optional<Email> lost_email(const EmailRecords& records) {
  const AttributeValue* value = records.mark ? records.mark->find(counted_name) : nullptr;
  const Map* counted = value != nullptr ? value->get_if<Map>() : nullptr;
  if (counted == nullptr) return std::nullopt;
  const auto number = [&](std::string_view name) {
    const AttributeValue* each = counted->find(name);
    const item::Number* found = each != nullptr ? each->get_if<item::Number>() : nullptr;
    return found != nullptr ? found->to_int64().value_or(0) : 0;
  };
  const auto state = parse_state(own_text(*counted, "Latest"));
  if (!state) return std::nullopt;
  // It is there yet, or is counted where it is.
  if (records.meta && counted_state(*records.meta)) {
    const AttributeValue* created = records.meta->find("CreatedAt");
    if (created != nullptr && *created == AttributeValue(number("CreatedAt"))) return std::nullopt;
  }
  Email email;
  email.tenant = own_text(*counted, "Tenant");
  email.state = *state;
  email.kept_since = base::from_epoch_milliseconds(number("KeptFrom"));
  email.version = number("Version");
  for (const Item& line : records.lines) {
    const auto entry = is_foreign_line(line) ? std::nullopt : history_entry_of(line);
    const auto reached = entry ? parse_state(entry->status) : std::nullopt;
    if (!reached || entry->version <= email.version) continue;
    email.version = entry->version;
    email.state = *reached;
  }
  return email;
}

bool is_foreign_line(const Item& line) {
  const Map attributes = attributes_in(line);
  const AttributeValue* version = attributes.find("Version");
  return state_in(own_text(line, "Status")).has_value() &&
         (version == nullptr || version->get_if<item::Number>() == nullptr);
}

bool waits_for_adoption(const Item& meta) { return !meta.contains("Version") || !meta.contains("CreatedAt"); }

bool needs_adoption(const Item& meta) {
  if (waits_for_adoption(meta)) return true;
  const auto email = email_of(meta);
  if (!email) return false;
  // Another process may have been told another number of shards: each of them will do.
  const State listed = listed_state(email->state);
  const std::string queue = own_text(meta, "Queue");
  const std::string tenant_listing = own_text(meta, "TenantListing");
  if (!is_shard_of(own_text(meta, "Listing"), partition_of("", listed))) return true;
  if (own_text(meta, "ListedAt") != listing_position(*email)) return true;
  if (email->tenant.empty() ? !tenant_listing.empty()
                            : !is_shard_of(tenant_listing, partition_of(email->tenant, listed)))
    return true;
  if (!waits_in(*email, queue)) return true;
  return queue.empty() ? must_be_queued(email->state) : kind_of(email->state) == StateKind::resting;
}

// What is worked on is listed where it waited, so that its queue says more.
std::optional<State> counted_state(const Item& meta) {
  const auto listed = state_in(own_text(meta, "Listing"));
  const auto queued = state_in(own_text(meta, "Queue"));
  return listed && queued && listed_state(*queued) == *listed ? queued : listed;
}

base::Result<std::optional<Email>> counted_email_of(const Item& meta) {
  // What is wrong with another program's record is not that it lacks what only Postino writes.
  TRY(Email email, waits_for_adoption(meta) ? foreign_email_of(meta, base::TimePoint()) : email_of(meta));
  const auto counted = counted_state(meta);
  if (waits_for_adoption(meta) && (!counted || !meta.contains("CreatedAt"))) return std::nullopt;
  if (counted && needs_adoption(meta)) email.state = *counted;
  return std::optional<Email>(std::move(email));
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
                                   base::TimePoint now, int shards, bool is_guarded) {
  const Item& meta = *records.meta;
  const bool is_new = !meta.contains("Version");
  const bool is_moved = is_new || counted_state(meta) != email.state;
  const std::vector<Item> theirs = foreign_lines(records.lines);
  count_lines(records.lines, email);
  const std::int64_t former = is_new ? 0 : email.version;
  // Other programs tell whole seconds: time does not go back for that.
  for (const Item& line : records.lines)
    if (const auto entry = history_entry_of(line); entry && entry->version > 0 && parse_state(entry->status))
      email.updated_at = std::max(email.updated_at, entry->at);
  email.version = former + std::max<std::int64_t>(1, static_cast<std::int64_t>(theirs.size()));
  // The due time is that of the queue it is in.
  const bool is_elsewhere = !is_shard_of(own_text(meta, "Queue"), name_of(email.state));
  if (is_moved || (is_elsewhere && !email.callback_dead)) email.due_at.reset();
  event.is_new = is_new;
  event.is_moved = is_moved;
  event.expires =
      expiry_told(meta, is_guarded ? std::nullopt : std::optional(base::epoch_seconds(kept_from(email) + policy.keep)));
  const std::optional<base::TimePoint> told = event.expires;
  TRY(Change change, decide(std::move(email), std::move(event), policy, now));
  email = std::move(change.after);
  AdoptedEmail result;
  const base::TimePoint agreed = email.kept_since ? kept_from(email) + policy.keep : expiry_of(email, policy);
  const RecordLife life(told.value_or(agreed), is_guarded || is_finished(email));
  result.meta = merged(meta, email, life, shards);
  for (std::size_t i = 0; i < theirs.size(); ++i)
    result.lines.push_back(completed_line(theirs[i], email, former + static_cast<std::int64_t>(i) + 1, life));
  result.email = std::move(email);
  return result;
}

std::vector<Item> late_lines(const EmailRecords& records, const Email& email, const RecordLife& life) {
  std::vector<Item> lines;
  for (const Item& line : foreign_lines(records.lines))
    lines.push_back(completed_line(line, email, version_at(line, records.lines, email), life));
  return lines;
}

}  // namespace postino::outbox
