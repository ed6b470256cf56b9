#include "outbox/store_ledger/email_item.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "base/hash.h"
#include "base/timestamp.h"
#include "outbox/email/last_time.h"
#include "outbox/store_ledger/store_layout.h"
#include "store/shard_note.h"

namespace postino::outbox {

namespace {

using item::AttributeValue;
using item::Item;
using item::List;
using item::Map;

constexpr std::string_view dead_callbacks = "DEAD-CALLBACK";

AttributeValue milliseconds_value(base::TimePoint time) { return base::epoch_milliseconds(time); }

// Attributes of the _META record that come and go or change with a move, in one place: absent ones are removed.
struct Field {
  std::string_view name;
  std::optional<AttributeValue> value;
};

template <class Elements, class Encode>
std::optional<AttributeValue> list_of(const Elements& elements, const Encode& encode) {
  if (elements.empty()) return std::nullopt;
  List list;
  for (const auto& element : elements) list.push_back(encode(element));
  return AttributeValue(std::move(list));
}

std::optional<AttributeValue> text_if_any(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return AttributeValue(text);
}

std::optional<AttributeValue> count_if_any(int count) {
  if (count == 0) return std::nullopt;
  return AttributeValue(count);
}

std::optional<AttributeValue> flag(bool set) {
  if (!set) return std::nullopt;
  return AttributeValue(true);
}

AttributeValue recipient_value(const Recipient& recipient) {
  Map map{{"Address", recipient.address}, {"State", name_of(recipient.state)}};
  if (!recipient.reply.empty()) map.set("Reply", recipient.reply);
  return map;
}

AttributeValue bounce_value(const Bounce& bounce) {
  return Map{{"At", base::format_timestamp(bounce.at)},
             {"Diagnostic", bounce.diagnostic},
             {"Permanent", bounce.permanent},
             {"Recipient", bounce.recipient},
             {"Status", bounce.status}};
}

AttributeValue reached_value(const Email& email) {
  Map reached;
  for (const State state : all_states())
    if (const int count = email.reached[static_cast<std::size_t>(state)]; count > 0)
      reached.set(std::string(name_of(state)), count);
  if (email.rescues > 0) reached.set(std::string(rescued_in_a_row), email.rescues);
  if (email.unknown_outcomes > 0) reached.set(std::string(unknown_outcomes_name), email.unknown_outcomes);
  return reached;
}

std::vector<Field> changing_fields(const Email& email, int shards) {
  const std::string queue = queue_of(email, shards);
  const int shard = shard_of(email.id, shards);
  return {
      {"Version", AttributeValue(email.version)},
      {"Reached", reached_value(email)},
      {"Listing", AttributeValue(queue_name(listed_state(email.state), shard))},
      {"TenantListing",
       text_if_any(email.tenant.empty() ? "" : tenant_listing(email.tenant, listed_state(email.state), shard))},
      {"Queue", text_if_any(queue)},
      {"DueAt", queue.empty() ? std::nullopt : std::optional(milliseconds_value(*email.due_at))},
      {"LeaseOwner", text_if_any(email.owner)},
      {"OutcomeUnknown", flag(email.outcome_unknown)},
      {"InternalReason", flag(email.internal_reason)},
      {"Attempts", count_if_any(email.attempts)},
      {"BegunAgainAt", email.begun_again_at ? std::optional(milliseconds_value(*email.begun_again_at)) : std::nullopt},
      {"CallbackAttempts", count_if_any(email.callback_attempts)},
      {"CallbackDead", flag(email.callback_dead)},
      {"CallbackError", text_if_any(email.callback_error)},
      {"HeldFrom", email.held_from ? std::optional(AttributeValue(name_of(*email.held_from))) : std::nullopt},
      {"Recipients", list_of(email.recipients, recipient_value)},
      {"SettledAt", email.settled_at ? std::optional(milliseconds_value(*email.settled_at)) : std::nullopt},
  };
}

// What is said when the e-mail is accepted and stays.
std::vector<Field> lasting_fields(const Email& email) {
  return {
      {"CreatedAt", milliseconds_value(email.created_at)},
      {"ListedAt", AttributeValue(listing_position(email))},
      {"SendAt", email.send_at ? std::optional(milliseconds_value(*email.send_at)) : std::nullopt},
      {"Tenant", text_if_any(email.tenant)},
      {"Acceptance", text_if_any(email.acceptance_token)},
      {"CallbackUrl", text_if_any(email.callback_url)},
      {"Tags", list_of(email.tags, [](const std::string& tag) { return AttributeValue(tag); })},
      {"Sender", text_if_any(email.sender)},
      {"Subject", text_if_any(email.subject)},
      {"Bounces", list_of(email.bounces, bounce_value)},
      {"KeptSince", email.kept_since ? std::optional(milliseconds_value(*email.kept_since)) : std::nullopt},
  };
}

enum class AttributeKind { text, count, version, time, flag, list, map };
struct KnownAttribute {
  std::string_view name;
  AttributeKind kind;
};

constexpr std::array meta_attributes = {
    KnownAttribute{"Attributes", AttributeKind::map},      KnownAttribute{"Version", AttributeKind::version},
    KnownAttribute{"CreatedAt", AttributeKind::time},      KnownAttribute{"SendAt", AttributeKind::time},
    KnownAttribute{"DueAt", AttributeKind::time},          KnownAttribute{"SettledAt", AttributeKind::time},
    KnownAttribute{"Tenant", AttributeKind::text},         KnownAttribute{"Acceptance", AttributeKind::text},
    KnownAttribute{"LeaseOwner", AttributeKind::text},     KnownAttribute{"CallbackUrl", AttributeKind::text},
    KnownAttribute{"CallbackError", AttributeKind::text},  KnownAttribute{"HeldFrom", AttributeKind::text},
    KnownAttribute{"Sender", AttributeKind::text},         KnownAttribute{"OutcomeUnknown", AttributeKind::flag},
    KnownAttribute{"InternalReason", AttributeKind::flag}, KnownAttribute{"CallbackDead", AttributeKind::flag},
    KnownAttribute{"Attempts", AttributeKind::count},      KnownAttribute{"CallbackAttempts", AttributeKind::count},
    KnownAttribute{"Recipients", AttributeKind::list},     KnownAttribute{"Tags", AttributeKind::list},
    KnownAttribute{"Bounces", AttributeKind::list},        KnownAttribute{"Reached", AttributeKind::map},
    KnownAttribute{"Subject", AttributeKind::text},        KnownAttribute{"BegunAgainAt", AttributeKind::time},
    KnownAttribute{"KeptSince", AttributeKind::time},
};
constexpr std::array latest_attributes = {
    KnownAttribute{"Latest", AttributeKind::text},      KnownAttribute{"Reason", AttributeKind::text},
    KnownAttribute{"UpdatedAt", AttributeKind::text},   KnownAttribute{"PayloadFilePath", AttributeKind::text},
    KnownAttribute{"EmlFilePath", AttributeKind::text},
};

bool is_whole_within(const AttributeValue& value, std::int64_t least, std::int64_t most) {
  const auto* number = value.get_if<item::Number>();
  const auto whole = number != nullptr ? number->to_int64() : std::nullopt;
  return whole && *whole >= least && *whole <= most && item::Number(*whole) == *number;
}

// What it must be for this kind; nullptr when it is.
const char* missed_kind(const AttributeValue& value, AttributeKind kind) {
  constexpr std::int64_t most_moves = 1'000'000'000;
  switch (kind) {
    case AttributeKind::text:
      return value.get_if<std::string>() != nullptr ? nullptr : "a string";
    case AttributeKind::count:
      return is_whole_within(value, -most_moves, most_moves) ? nullptr : "a whole number";
    case AttributeKind::version:
      return is_whole_within(value, 1, most_moves) ? nullptr : "a whole number from 1 on";
    case AttributeKind::time:
      return is_whole_within(value, 0, last_millisecond) ? nullptr : "a time in milliseconds";
    case AttributeKind::flag:
      return value.get_if<bool>() != nullptr ? nullptr : "true or false";
    case AttributeKind::list:
      return value.get_if<List>() != nullptr ? nullptr : "a list";
    case AttributeKind::map:
      return value.get_if<Map>() != nullptr ? nullptr : "a map";
  }
  return nullptr;
}

// Another program may have written anything. What is there and of another kind is not passed over as if it were absent:
// an e-mail would be sent before its time, or given up for a false reason.
base::Result<void> check_kinds(const Map& map, std::span<const KnownAttribute> attributes) {
  for (const KnownAttribute& each : attributes) {
    const AttributeValue* value = map.find(each.name);
    const char* const missed = value != nullptr ? missed_kind(*value, each.kind) : nullptr;
    if (missed != nullptr) return base::fail(base::ErrorCode::corrupt, std::string(each.name) + " must be " + missed);
  }
  return {};
}

base::Result<void> check_recipients(const Map& meta) {
  const AttributeValue* const value = meta.find("Recipients");
  const List none;
  for (const AttributeValue& each : value != nullptr ? *value->get_if<List>() : none) {
    const Map* const recipient = each.get_if<Map>();
    const AttributeValue* const address = recipient != nullptr ? recipient->find("Address") : nullptr;
    const auto* const text = address != nullptr ? address->get_if<std::string>() : nullptr;
    if (text == nullptr || text->empty())
      return base::fail(base::ErrorCode::corrupt, "Recipients must be maps with an Address");
  }
  return {};
}

// How often each state was reached tells the name of its next line of history.
base::Result<void> check_reached(const Map& meta) {
  constexpr std::int64_t most_moves = 1'000'000'000;
  const AttributeValue* const value = meta.find("Reached");
  if (value == nullptr) return {};
  for (const item::Attribute& each : *value->get_if<Map>())
    if (!is_whole_within(each.value, 0, most_moves))
      return base::fail(base::ErrorCode::corrupt, "Reached must have whole numbers from 0 on");
  return {};
}

base::Result<void> check_meta(const Item& meta) {
  TRY_VOID(check_kinds(meta, meta_attributes));
  for (const std::string_view name : {"Attributes", "Version", "CreatedAt"})
    if (!meta.contains(name)) return base::fail(base::ErrorCode::corrupt, std::string(name) + " is missing");
  TRY_VOID(check_kinds(*meta.find("Attributes")->get_if<Map>(), latest_attributes));
  TRY_VOID(check_reached(meta));
  return check_recipients(meta);
}

// Reads attributes with their types; what is missing takes the default.
class AttributeFields {
 public:
  explicit AttributeFields(const Map& map) : map_(map) {}

  std::string text(std::string_view name) const {
    const std::string* value = get<std::string>(name);
    return value != nullptr ? *value : std::string();
  }
  std::optional<std::int64_t> number(std::string_view name) const {
    const item::Number* value = get<item::Number>(name);
    return value != nullptr ? value->to_int64() : std::nullopt;
  }
  int count(std::string_view name) const { return static_cast<int>(number(name).value_or(0)); }
  bool flag(std::string_view name) const {
    const bool* value = get<bool>(name);
    return value != nullptr && *value;
  }
  std::optional<base::TimePoint> time(std::string_view name) const {
    const auto value = number(name);
    return value ? std::optional(base::from_epoch_milliseconds(*value)) : std::nullopt;
  }
  const Map* map(std::string_view name) const { return get<Map>(name); }
  const List& list(std::string_view name) const {
    static const List none;
    const List* value = get<List>(name);
    return value != nullptr ? *value : none;
  }

 private:
  template <class T>
  const T* get(std::string_view name) const {
    const AttributeValue* value = map_.find(name);
    return value != nullptr ? value->get_if<T>() : nullptr;
  }
  const Map& map_;
};

base::TimePoint time_of(const std::string& text) {
  const auto time = base::parse_timestamp(text);
  return time ? *time : base::TimePoint();
}

void read_item_lists(const AttributeFields& fields, Email& email) {
  for (const AttributeValue& tag : fields.list("Tags"))
    if (const auto* text = tag.get_if<std::string>()) email.tags.push_back(*text);
  for (const AttributeValue& value : fields.list("Recipients"))
    if (const Map* map = value.get_if<Map>()) {
      const AttributeFields recipient(*map);
      email.recipients.push_back(
          {recipient.text("Address"), parse_recipient_state(recipient.text("State")), recipient.text("Reply")});
    }
  for (const AttributeValue& value : fields.list("Bounces"))
    if (const Map* map = value.get_if<Map>()) {
      const AttributeFields bounce(*map);
      email.bounces.push_back({bounce.text("Recipient"), bounce.text("Status"), bounce.text("Diagnostic"),
                               bounce.flag("Permanent"), time_of(bounce.text("At"))});
    }
}

// What can change within a state.
std::vector<Field> amendable_fields(const Email& email, int shards) {
  const std::string queue = queue_of(email, shards);
  return {
      {"Queue", text_if_any(queue)},
      {"DueAt", queue.empty() ? std::nullopt : std::optional(milliseconds_value(*email.due_at))},
      {"OutcomeUnknown", flag(email.outcome_unknown)},
      {"CallbackAttempts", count_if_any(email.callback_attempts)},
      {"CallbackDead", flag(email.callback_dead)},
  };
}

// The rest of an update expression that begins with SET: fields that differ, and those that are written in any case.
// Their values are added.
std::string set_changed(const std::vector<Field>& before, std::vector<Field> after,
                        std::initializer_list<std::string_view> always, item::Map& values, std::string remove = "") {
  std::string set;
  for (std::size_t i = 0; i < after.size(); ++i) {
    Field& field = after[i];
    if (field.value == before[i].value && std::ranges::find(always, field.name) == always.end()) continue;
    const std::string name(field.name);
    if (!field.value) {
      remove += (remove.empty() ? " REMOVE " : ", ") + name;
      continue;
    }
    set.append(", ").append(name).append(" = :").append(name);
    values.set(":" + name, std::move(*field.value));
  }
  return set + remove;
}

// What an update expression sets for another life, and what it removes. Names and values are added.
std::string set_life(const std::optional<RecordLife>& life, expr::Placeholders& placeholders, item::Map& values) {
  if (!life) return "";
  placeholders.names = expr::Names{{"#ttl", "TTL"}};
  values.set(":ttl", base::epoch_seconds(life->expires));
  return life->has_begun ? ", #ttl = :ttl, Attributes.#ttl = :ttl" : ", Attributes.#ttl = :ttl";
}

std::string end_life(const std::optional<RecordLife>& life) { return life && !life->has_begun ? " REMOVE #ttl" : ""; }

}  // namespace

int shard_of(std::string_view id, int shards) {
  return static_cast<int>(base::fast_hash(id) % static_cast<std::uint64_t>(shards));
}

item::Key spool_note_key() { return {{"Id", "*spool"}, {"Status", "_SPOOL"}}; }

item::Key shards_key() { return {{"Id", "*shards"}, {"Status", "_SHARDS"}}; }

item::Key meta_key(const std::string& id) { return {{"Id", id}, {"Status", meta_status}}; }

std::string queue_name(State state, int shard) { return std::string(name_of(state)) + "#" + std::to_string(shard); }

std::string dead_callback_queue(int shard) { return std::string(dead_callbacks) + "#" + std::to_string(shard); }

std::string tenant_listing(const std::string& tenant, State state, int shard) {
  return tenant + "/" + queue_name(state, shard);
}

std::string listing_position(const Email& email) { return base::format_timestamp(email.created_at) + "#" + email.id; }

std::string queue_of(const Email& email, int shards) {
  if (!email.due_at) return "";
  const int shard = shard_of(email.id, shards);
  return email.callback_dead ? dead_callback_queue(shard) : queue_name(email.state, shard);
}

bool is_shard_of(std::string_view name, std::string_view partition) {
  if (!name.starts_with(partition) || name.size() == partition.size() || name[partition.size()] != '#') return false;
  const std::string_view shard = name.substr(partition.size() + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(shard.data(), shard.data() + shard.size(), number);
  // Written in the only way that Postino writes it.
  return error == std::errc() && number >= 0 && number < store::most_shards && shard == std::to_string(number);
}

std::string partition_of(const std::string& tenant, State state) {
  return (tenant.empty() ? "" : tenant + "/") + std::string(name_of(state));
}

bool waits_in(const Email& email, std::string_view queue) {
  if (!email.due_at) return queue.empty();
  return is_shard_of(queue, email.callback_dead ? dead_callbacks : name_of(email.state));
}

Item meta_item(const Email& email, const RecordLife& life, int shards) {
  const AttributeValue ttl = base::epoch_seconds(life.expires);
  std::vector<item::Attribute> attributes{{"Id", email.id},
                                          {"Status", meta_status},
                                          {"Attributes", Map{{"Latest", name_of(email.state)},
                                                             {"UpdatedAt", base::format_timestamp(email.updated_at)},
                                                             {"Reason", email.reason},
                                                             {"PayloadFilePath", email.payload_path},
                                                             {"EmlFilePath", email.message_path},
                                                             {"TTL", ttl}}}};
  if (life.has_begun) attributes.push_back({"TTL", ttl});
  std::vector<Field> lasting = lasting_fields(email);
  std::vector<Field> changing = changing_fields(email, shards);
  for (std::vector<Field>* const fields : {&lasting, &changing})
    for (Field& field : *fields)
      if (field.value) attributes.push_back({std::string(field.name), *std::move(field.value)});
  return Item(std::move(attributes));
}

base::Result<Email> email_of(const Item& meta) {
  const AttributeFields fields(meta);
  if (const auto sound = check_meta(meta); !sound)
    return base::fail(base::ErrorCode::corrupt,
                      "the record of e-mail " + fields.text("Id") + " cannot be read: " + sound.error().message);
  const AttributeFields attributes(*fields.map("Attributes"));
  const auto state = parse_state(attributes.text("Latest"));
  if (!state) return base::fail(base::ErrorCode::corrupt, "e-mail " + fields.text("Id") + " is in an unknown state");
  Email email;
  email.id = fields.text("Id");
  email.tenant = fields.text("Tenant");
  email.acceptance_token = fields.text("Acceptance");
  email.state = *state;
  email.reason = attributes.text("Reason");
  email.version = *fields.number("Version");
  email.created_at = *fields.time("CreatedAt");
  email.updated_at = time_of(attributes.text("UpdatedAt"));
  email.payload_path = attributes.text("PayloadFilePath");
  email.message_path = attributes.text("EmlFilePath");
  email.send_at = fields.time("SendAt");
  email.due_at = fields.time("DueAt");
  email.owner = fields.text("LeaseOwner");
  email.outcome_unknown = fields.flag("OutcomeUnknown");
  email.attempts = fields.count("Attempts");
  email.begun_again_at = fields.time("BegunAgainAt");
  email.callback_attempts = fields.count("CallbackAttempts");
  email.callback_dead = fields.flag("CallbackDead");
  email.callback_error = fields.text("CallbackError");
  email.callback_url = fields.text("CallbackUrl");
  email.held_from = parse_state(fields.text("HeldFrom"));
  email.sender = fields.text("Sender");
  email.subject = fields.text("Subject");
  email.internal_reason = fields.flag("InternalReason");
  email.settled_at = fields.time("SettledAt");
  email.kept_since = fields.time("KeptSince");
  read_item_lists(fields, email);
  if (const Map* reached = fields.map("Reached")) {
    const AttributeFields counts(*reached);
    for (const State each : all_states()) email.reached[static_cast<std::size_t>(each)] = counts.count(name_of(each));
    email.rescues = counts.count(rescued_in_a_row);
    email.unknown_outcomes = counts.count(unknown_outcomes_name);
  }
  return email;
}

Item line_item(const std::string& id, const NewLine& line, const RecordLife& life) {
  const AttributeValue ttl = base::epoch_seconds(life.expires);
  const HistoryEntry& entry = line.entry;
  Item item{{"Id", id},
            {"Status", line_name(entry.status, line.occurrence)},
            {"Attributes", Map{{"TTL", ttl},
                               {"UpdatedAt", base::format_timestamp(entry.at)},
                               {"Reason", entry.reason},
                               {"Version", entry.version}}}};
  if (life.has_begun) item.set("TTL", ttl);
  return item;
}

std::string line_name(std::string_view status, int occurrence) {
  return occurrence > 1 ? std::string(status) + "#" + std::to_string(occurrence) : std::string(status);
}

std::optional<HistoryEntry> history_entry_of(const Item& item) {
  const AttributeFields fields(item);
  const std::string status = fields.text("Status");
  const Map* map = fields.map("Attributes");
  if (status == meta_status || map == nullptr) return std::nullopt;
  const AttributeFields attributes(*map);
  return HistoryEntry{status.substr(0, status.find('#')), time_of(attributes.text("UpdatedAt")),
                      attributes.text("Reason"), attributes.number("Version").value_or(0)};
}

store::TransactUpdate meta_update(const std::string& table, const Change& change, int shards,
                                  const std::optional<RecordLife>& life) {
  const Email& before = change.before;
  const Email& after = change.after;
  store::TransactUpdate update;
  update.table_name = table;
  update.key = meta_key(before.id);
  item::Map values{{":from", name_of(before.state)},
                   {":seen", before.version},
                   {":latest", name_of(after.state)},
                   {":updated", base::format_timestamp(after.updated_at)},
                   {":reason", after.reason}};
  std::string set = "SET Attributes.Latest = :latest, Attributes.UpdatedAt = :updated, Attributes.Reason = :reason";
  if (after.message_path != before.message_path) {
    set += ", Attributes.EmlFilePath = :message";
    values.set(":message", after.message_path);
  }
  set += set_life(life, update.placeholders, values);
  // The version tells that nothing else has changed, so what is the same need not be written again. Two attributes are
  // written without a new version: a lease may have been renewed since, and its outcome may have become unknown.
  update.update = set + set_changed(changing_fields(before, shards), changing_fields(after, shards),
                                    {"DueAt", "OutcomeUnknown"}, values, end_life(life));
  std::string condition = "Version = :seen AND Attributes.Latest = :from";
  if (change.only_unrenewed && before.due_at) {
    condition += " AND DueAt = :due";
    values.set(":due", milliseconds_value(*before.due_at));
  }
  if (change.only_unrenewed && !before.outcome_unknown) condition += " AND attribute_not_exists(OutcomeUnknown)";
  update.condition = std::move(condition);
  update.placeholders.values = std::move(values);
  update.return_item_on_failure = true;
  return update;
}

store::UpdateItemRequest meta_amendment(const std::string& table, const Change& change, int shards,
                                        const std::optional<RecordLife>& life) {
  store::UpdateItemRequest update;
  update.table_name = table;
  update.key = meta_key(change.before.id);
  item::Map values{{":seen", change.before.version}};
  const std::string end = set_life(life, update.placeholders, values);
  update.update = "SET Version = :seen" + end +
                  set_changed(amendable_fields(change.before, shards), amendable_fields(change.after, shards), {},
                              values, end_life(life));
  update.condition = "Version = :seen";
  update.placeholders.values = std::move(values);
  return update;
}

store::TransactUpdate bounces_update(const std::string& table, const Change& change) {
  const std::size_t known = change.before.bounces.size();
  store::TransactUpdate update;
  update.table_name = table;
  update.key = meta_key(change.before.id);
  update.update = "SET Bounces = :bounces";
  update.condition = store::ConditionExpression(known == 0 ? "Version = :seen AND attribute_not_exists(Bounces)"
                                                           : "Version = :seen AND size(Bounces) = :known");
  update.placeholders.values =
      item::Map{{":bounces", *list_of(change.after.bounces, bounce_value)}, {":seen", change.before.version}};
  if (known > 0) update.placeholders.values->set(":known", static_cast<std::int64_t>(known));
  return update;
}

}  // namespace postino::outbox
