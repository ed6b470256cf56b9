#include "reminders/reminder_store.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "reminders/record/draft_item.h"
#include "reminders/record/guard_item.h"
#include "reminders/record/invoice.h"
#include "reminders/record/item_fields.h"
#include "reminders/record/sent_item.h"
#include "store/count_mender.h"
#include "store/table_setup.h"

namespace postino::reminders {

namespace {

// How far the time of another program's record may be from ours: clocks and zones differ.
constexpr base::Milliseconds foreign_delay = std::chrono::hours(24);
constexpr std::size_t worth_remembering = 100;  // reading so many again costs more than writing the guard
constexpr int guard_rounds = 4;
constexpr base::Milliseconds expiry_pause = std::chrono::hours(1);  // after all of the table was seen

// Behind every key that begins with SENT#.
constexpr std::string_view after_sent = "SENT$";

store::QueryRequest sent_since(const std::string& table, std::string pk, const std::string& from) {
  store::QueryRequest query;
  query.table_name = table;
  query.key_condition = "PK = :pk AND SK BETWEEN :from AND :until";
  query.placeholders.values =
      item::Map{{":pk", std::move(pk)}, {":from", std::string(sent_begin) + from}, {":until", after_sent}};
  // Texts are large, and decide nothing.
  query.projection = "PK, SK, customer_id, reminder_type, #status, sent_date, sent_at_ms, delivery_status, #ttl";
  query.placeholders.names = expr::Names{{"#status", "status"}, {"#ttl", std::string(ttl_attribute)}};
  query.consistent_read = true;
  return query;
}

// When a draft or sent reminder expires; nullopt for other items.
std::optional<base::TimePoint> end_of(const item::Item& item, const std::string& currency) {
  constexpr std::size_t time_length = 15;
  const std::string sort = item::attribute_text(item, "SK");
  const bool is_draft = sort.starts_with(draft_begin);
  if (!is_draft && !sort.starts_with(sent_begin)) return std::nullopt;
  const base::Milliseconds life = is_draft ? draft_life : sent_life;
  if (is_draft) {
    if (const auto draft = read_draft(item, currency)) return draft->created_at + life;
  } else {
    if (const auto sent = read_sent(item, currency)) return sent->sent_at + life;
  }
  const std::string_view id = std::string_view(sort).substr((is_draft ? draft_begin : sent_begin).size());
  const auto of_key = parse_key_time(id.substr(0, std::min(time_length, id.size())));
  return of_key ? std::optional(*of_key + life) : std::nullopt;
}

// Was a transaction given up only because others had its items each time? Then the store does not fail.
bool others_were_in_the_way(const store::Error& error) {
  return error.type == store::ErrorType::transaction_canceled && error.details != nullptr &&
         store::worth_repeating(error) &&
         std::ranges::find(error.details->reasons, "TransactionConflict", &store::CancellationReason::code) !=
             error.details->reasons.end();
}

// Of the events of this process: those of one millisecond are in the order in which they happened.
std::string next_in_order() {
  static std::atomic<std::uint64_t> events = 0;
  constexpr std::size_t digits = 10;
  const std::string number = std::to_string(events++);
  return std::string(digits - std::min(digits, number.size()), '0') + number;
}

// Whom an event is about; empty: no single customer.
std::string customer_of(const std::string& subject, const std::map<std::string, std::string>& details) {
  constexpr std::string_view customers = "customers/", drafts = "drafts/";
  if (const auto named = details.find("customer"); named != details.end()) return named->second;
  if (subject.starts_with(customers)) {
    const std::string_view rest = std::string_view(subject).substr(customers.size());
    return std::string(rest.substr(0, rest.find('/')));
  }
  if (!subject.starts_with(drafts)) return "";
  const auto draft = parse_draft_id(std::string_view(subject).substr(drafts.size()));
  return draft ? draft->customer_id : "";
}

}  // namespace

std::size_t Commit::put(item::Item item, std::optional<std::string> condition, expr::Placeholders placeholders) {
  store::TransactPut put;
  put.table_name = tables_.tracking;
  put.item = std::move(item);
  if (condition) put.condition.emplace(*std::move(condition));
  put.placeholders = std::move(placeholders);
  return add(std::move(put));
}

std::size_t Commit::add(store::TransactAction action) {
  actions_.push_back(std::move(action));
  return actions_.size() - 1;
}

std::size_t Commit::check(item::Key key, std::string condition, expr::Placeholders placeholders) {
  store::TransactConditionCheck check;
  check.table_name = tables_.tracking;
  check.key = std::move(key);
  check.condition.emplace(std::move(condition));
  check.placeholders = std::move(placeholders);
  return add(std::move(check));
}

void Commit::count(const Keys& keys, std::string_view name, std::string_view spread, std::int64_t by) {
  const auto shard = base::fast_hash(spread) % static_cast<std::uint64_t>(summary_shards);
  counts_.push_back(
      {keys.summary(date_of(now_)), std::string(counts_begin) + std::to_string(shard), std::string(name), by});
}

void Commit::audit(const Actor& actor, std::string action, std::string subject,
                   const std::map<std::string, std::string>& details, base::Random& random) {
  item::Item item =
      Keys::key(Keys(actor.tenant).audit(date_of(now_)),
                base::format_timestamp(now_) + "#" + next_in_order() + "#" + base::make_uuid(random).substr(0, 8));
  item.set("at", base::format_timestamp(now_));
  item.set("actor", actor.known_as());
  item.set("key", actor.key);
  item.set("from", actor.from);
  item.set("action", std::move(action));
  // Of one customer they are found by the index.
  if (const std::string customer = customer_of(subject, details); !customer.empty()) {
    item.set("GSI1PK", Keys(actor.tenant).customer(customer));
    item.set("GSI1SK", *item.find("SK"));
  }
  item.set("subject", std::move(subject));
  item::Map told;
  for (const auto& [name, value] : details) told.set(name, value);
  item.set("details", std::move(told));
  store::TransactPut put;
  put.table_name = tables_.audit();
  put.item = std::move(item);
  put.condition = "attribute_not_exists(PK)";
  add(std::move(put));
}

std::size_t Commit::count_reminder(const Keys& keys, std::string_view customer_id) {
  store::TransactUpdate update;
  update.table_name = tables_.tracking;
  update.key = Keys::key(keys.customer(customer_id), profile_sort);
  update.update = "ADD reminders_sent :one, version :one";
  update.condition = "attribute_exists(PK)";
  update.placeholders.values = item::Map{{":one", 1}};
  return add(std::move(update));
}

std::size_t Commit::uncount_reminder(const Keys& keys, std::string_view customer_id, std::int64_t counted) {
  store::TransactUpdate update;
  update.table_name = tables_.tracking;
  update.key = Keys::key(keys.customer(customer_id), profile_sort);
  if (counted > 0) {
    update.update = "ADD reminders_sent :less, version :one";
    update.condition = "reminders_sent > :none";
    update.placeholders.values = item::Map{{":less", -1}, {":none", 0}, {":one", 1}};
  } else {
    update.update = "ADD version :one";
    update.condition = "attribute_exists(PK) AND (attribute_not_exists(reminders_sent) OR reminders_sent <= :none)";
    update.placeholders.values = item::Map{{":none", 0}, {":one", 1}};
  }
  return add(std::move(update));
}

std::size_t Commit::move_guard(const Keys& keys, std::string_view customer_id, const Guard& seen, const Guard& next) {
  Guard moved = next;
  moved.version = seen.version + 1;
  if (seen.version == 0) return put(guard_item(keys, customer_id, moved), "attribute_not_exists(PK)");
  expr::Placeholders placeholders;
  placeholders.values = item::Map{{":seen", seen.version}};
  return put(guard_item(keys, customer_id, moved), "version = :seen", std::move(placeholders));
}

std::vector<store::TransactAction> Commit::take_actions() {
  std::ranges::stable_sort(counts_, {}, [](const DayCount& count) { return std::tie(count.pk, count.sk, count.name); });
  for (std::size_t i = 0; i < counts_.size();) {
    store::TransactUpdate update;
    update.table_name = tables_.tracking;
    update.key = Keys::key(counts_[i].pk, counts_[i].sk);
    expr::Names names;
    item::Map values;
    std::string text = "ADD";
    const DayCount& first = counts_[i];
    while (i < counts_.size() && counts_[i].pk == first.pk && counts_[i].sk == first.sk) {
      const std::string& name = counts_[i].name;
      std::int64_t by = 0;
      for (; i < counts_.size() && counts_[i].name == name && counts_[i].sk == first.sk && counts_[i].pk == first.pk;
           ++i)
        by += counts_[i].by;
      const std::string number = std::to_string(names.size());
      text.append(names.empty() ? " #c" : ", #c").append(number).append(" :c").append(number);
      names.emplace("#c" + number, name);
      values.set(":c" + number, by);
    }
    update.update.emplace(std::move(text));
    update.placeholders = {std::move(names), std::move(values)};
    actions_.emplace_back(std::move(update));
  }
  counts_.clear();
  return std::move(actions_);
}

Refusal refusal_of(const store::Error& error) {
  using enum store::ErrorType;
  const base::Error plain = store::as_error(error);
  RefusalKind kind = RefusalKind::unavailable;
  if (error.type == validation) kind = RefusalKind::invalid;
  if (error.type == internal_server_error) kind = RefusalKind::outcome_unknown;
  if (plain.code == base::ErrorCode::conflict || error.type == transaction_conflict ||
      error.type == transaction_in_progress || others_were_in_the_way(error))
    return {.kind = RefusalKind::busy, .message = "others change the same records; try again"};
  if (error.type == transaction_canceled && error.details != nullptr)
    for (const store::CancellationReason& reason : error.details->reasons)
      if (reason.code == store::cancellation_code(validation))
        return {.kind = RefusalKind::invalid, .message = "the store refused it: " + reason.message};
  return {.kind = kind, .message = "the store failed: " + plain.message};
}

Refusal refusal_of_read(const store::Error& error) {
  Refusal refusal = refusal_of(error);
  if (refusal.kind == RefusalKind::outcome_unknown) refusal.kind = RefusalKind::unavailable;
  return refusal;
}

Refusal refusal_of(const base::Error& error) {
  using enum base::ErrorCode;
  RefusalKind kind = RefusalKind::unavailable;
  if (error.code == invalid || error.code == malformed) kind = RefusalKind::invalid;
  if (error.code == corrupt) kind = RefusalKind::corrupt;
  if (error.code == io) kind = RefusalKind::outcome_unknown;
  if (error.code == conflict) kind = RefusalKind::busy;
  return {.kind = kind, .message = error.message};
}

std::string same_attributes(const item::Item& seen, std::span<const std::string> names,
                            expr::Placeholders& placeholders) {
  expr::Names marks;
  item::Map values;
  std::string condition = "attribute_exists(PK)";
  for (const std::string& name : names) {
    marks.emplace("#" + name, name);
    const item::AttributeValue* const value = seen.find(name);
    if (value == nullptr) {
      condition.append(" AND attribute_not_exists(#").append(name).append(")");
      continue;
    }
    condition.append(" AND #").append(name).append(" = :").append(name);
    values.set(":" + name, *value);
  }
  placeholders.names = std::move(marks);
  if (!values.empty()) placeholders.values = std::move(values);
  return condition;
}

std::vector<std::size_t> failed_conditions(const store::Error& error) {
  std::vector<std::size_t> places;
  if (error.type != store::ErrorType::transaction_canceled || error.details == nullptr) return places;
  for (std::size_t i = 0; i < error.details->reasons.size(); ++i)
    if (error.details->reasons[i].code == "ConditionalCheckFailed") places.push_back(i);
  return places;
}

ReminderStore::ReminderStore(store::Store& store, ReminderTables tables, Rules rules, const base::Clock& clock,
                             base::Random& random, store::Retry retry)
    : store_(store),
      tables_(std::move(tables)),
      rules_(std::move(rules)),
      clock_(clock),
      random_(random),
      retry_(std::move(retry)),
      shards_(store_, {tables_.tracking, Keys::key(std::string(shards_partition), current_sort)}, tables_.shards, 1,
              retry_) {}

std::vector<store::TableSetup> table_setups(const ReminderTables& tables) {
  using item::Type;
  std::vector<store::TableSetup> setups;
  for (const std::string& table : {tables.tracking, tables.audit()}) {
    store::CreateTableRequest request = store::table_request(table, {{"PK", Type::string}, {"SK", Type::string}});
    request.attribute_definitions.push_back({"GSI1PK", Type::string});
    request.attribute_definitions.push_back({"GSI1SK", Type::string});
    store::GlobalIndexDefinition index;
    index.name = std::string(status_index);
    index.key_schema = {{"GSI1PK", store::KeyRole::hash}, {"GSI1SK", store::KeyRole::range}};
    index.projection.type = store::ProjectionType::all;
    request.global_indexes = {index};
    const bool is_audit = table == tables.audit();
    if (is_audit && tables.marks_audit) request.tags = {{std::string(store::read_only_tag), "audit"}};
    setups.push_back({std::move(request), is_audit ? "" : std::string(ttl_attribute), true});
  }
  return setups;
}

base::Result<void> ReminderStore::prepare() {
  for (const store::TableSetup& wanted : table_setups(tables_)) {
    TRY_VOID(store::prepare_table(store_, wanted.request, wanted.expiry));
    const auto found = store_.describe_table(wanted.request.table_name);
    if (!found) return base::propagate(store::as_error(found.error()));
    // Another program may have made the table, or removed the index.
    TRY_VOID(store::add_missing_index(store_, wanted.request, *found));
  }
  // One that was there without it.
  const auto marked =
      tables_.marks_audit ? store::mark_read_only(store_, tables_.audit(), "audit") : base::Result<void>();
  if (!marked)
    base::log_warning("reminders", "the audit has no mark: under another name it would be open to changes",
                      {{"table", tables_.audit()}, {"cause", marked.error().message}});
  for (const std::string& table : {tables_.tracking, tables_.audit()}) {
    const auto backups = store_.describe_continuous_backups(table);
    if (backups && backups->enabled) continue;
    if (const auto enabled = store_.update_continuous_backups(table, {.enabled = true, .recovery_period_days = {}});
        !enabled)
      base::log_warning("reminders", "point-in-time recovery is not on",
                        {{"table", table}, {"cause", enabled.error().message}});
  }
  return shards_.look();
}

OrRefusal<std::optional<item::Item>> ReminderStore::get(const std::string& pk, const std::string& sk) {
  return get_from(tables_.tracking, Keys::key(pk, sk));
}

OrRefusal<Objection> ReminderStore::objection(const Keys& keys, const std::string& customer_id) {
  TRY(const std::optional<item::Item> item,
      get_from(tables_.audit(), Keys::key(keys.customer(customer_id), objection_sort)));
  if (!item) return Objection();
  auto objection = read_objection(*item);
  if (!objection) return base::propagate(refusal_of(objection.error()));
  return *std::move(objection);
}

OrRefusal<std::optional<item::Item>> ReminderStore::get_from(const std::string& table, item::Key key) {
  store::GetItemRequest request;
  request.table_name = table;
  request.key = std::move(key);
  request.consistent_read = true;
  auto answer = retry_([&] { return store_.get_item(request); });
  if (!answer) return base::propagate(refusal_of_read(answer.error()));
  return std::move(answer->item);
}

OrRefusal<std::vector<item::Item>> ReminderStore::get_all(const std::string& pk, const std::string& sk_begin,
                                                          std::size_t most) {
  store::QueryRequest request;
  request.table_name = tables_.tracking;
  request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  request.placeholders.values = item::Map{{":pk", pk}, {":begin", sk_begin}};
  request.consistent_read = true;
  std::vector<item::Item> items;
  do {
    TRY(QueryPage page, query(request));
    if (items.size() + page.items.size() > most)
      return refuse(RefusalKind::unavailable,
                    "there are more than " + std::to_string(most) + " records that begin with " + pk + "/" + sk_begin);
    std::ranges::move(page.items, std::back_inserter(items));
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  return items;
}

OrRefusal<ReminderStore::QueryPage> ReminderStore::query(store::QueryRequest request) {
  auto answer = retry_([&] { return store_.query(request); });
  if (!answer) return base::propagate(refusal_of_read(answer.error()));
  return QueryPage{std::move(answer->items), std::move(answer->last_evaluated_key)};
}

OrRefusal<base::TimePoint> ReminderStore::free_second(const std::string& pk, std::string_view begin,
                                                      const std::string& suffix, base::TimePoint from) {
  constexpr int keys_at_once = 200;
  const auto key_at = [&](base::TimePoint time) { return std::string(begin) + key_time(time) + "_" + suffix; };
  store::QueryRequest request;
  request.table_name = tables_.tracking;
  request.key_condition = "PK = :pk AND SK BETWEEN :from AND :until";
  request.projection = "SK";
  // Behind all digits.
  request.placeholders.values = item::Map{{":pk", pk}, {":from", key_at(from)}, {":until", std::string(begin) + "~"}};
  request.consistent_read = true;
  request.limit = keys_at_once;
  base::TimePoint second = from;
  do {
    TRY(QueryPage page, query(request));
    for (const item::Item& item : page.items) {
      const std::string taken = item::attribute_text(item, "SK");
      const std::string wanted = key_at(second);
      if (taken > wanted) return second;
      if (taken == wanted) second += std::chrono::seconds(1);
    }
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  return second;
}

void ReminderStore::let_expire(const item::Item& item) {
  if (item.contains(ttl_attribute)) return;
  const auto end = end_of(item, tables_.currency);
  if (!end) return;
  store::UpdateItemRequest update;
  update.table_name = tables_.tracking;
  update.key = Keys::key(item::attribute_text(item, "PK"), item::attribute_text(item, "SK"));
  update.update = "SET #ttl = :end";
  update.condition = "attribute_exists(PK) AND attribute_not_exists(#ttl)";
  update.placeholders.names = expr::Names{{"#ttl", std::string(ttl_attribute)}};
  update.placeholders.values = item::Map{{":end", base::epoch_seconds(*end)}};
  // The next reader of it tries again.
  const auto set = store_.update_item(update);
  const bool is_refused = !set && set.error().type != store::ErrorType::conditional_check_failed;
  if (is_refused && expiry_trouble_.fails(set.error().message))
    base::log_warning("reminders", "a record of another program does not expire yet",
                      {{"record", key_text(item)}, {"cause", set.error().message}});
  if (!is_refused && expiry_trouble_.works())
    base::log_info("reminders", "records of other programs get a time to expire again");
}

OrRefusal<void> ReminderStore::let_some_expire(int limit) {
  if (clock_.now() < next_expiry_) return {};
  store::ScanRequest request;
  request.table_name = tables_.tracking;
  request.filter = "attribute_not_exists(#ttl) AND (begins_with(SK, :draft) OR begins_with(SK, :sent))";
  request.placeholders.names = expr::Names{{"#ttl", std::string(ttl_attribute)}};
  request.placeholders.values = item::Map{{":draft", draft_begin}, {":sent", sent_begin}};
  request.limit = limit;
  request.exclusive_start_key = expiry_position_;
  auto page = store_.scan(request);
  if (!page) return base::propagate(refusal_of_read(page.error()));
  for (const item::Item& item : page->items) let_expire(item);
  expiry_position_ = std::move(page->last_evaluated_key);
  if (!expiry_position_) next_expiry_ = clock_.now() + expiry_pause;
  return {};
}

bool ReminderStore::mend_counts(const std::vector<store::TransactAction>& actions, const store::Error& error) {
  std::set<std::string> names;
  for (const store::TransactAction& action : actions) {
    const auto* const update = std::get_if<store::TransactUpdate>(&action);
    const item::AttributeValue* const sort = update != nullptr ? update->key.find("SK") : nullptr;
    if (sort == nullptr || !update->placeholders.names || !sort->as<std::string>().starts_with(counts_begin)) continue;
    for (const auto& [placeholder, name] : *update->placeholders.names) names.insert(name);
  }
  if (names.empty()) return false;
  store::TransactWriteItemsRequest request;
  request.actions = actions;
  return store::CountMender(store_, tables_.tracking, {names.begin(), names.end()}).mend(request, error);
}

OrRefusal<void> ReminderStore::write(Commit commit, std::vector<std::size_t>* failed) {
  constexpr int most_mendings = 4;
  store::TransactWriteItemsRequest request;
  request.actions = commit.take_actions();
  for (int mendings = 0;; ++mendings) {
    const auto answer = retry_.transact(store_, request);
    if (answer) return {};
    if (mendings < most_mendings && mend_counts(request.actions, answer.error())) continue;
    if (failed != nullptr) *failed = failed_conditions(answer.error());
    return base::propagate(refusal_of(answer.error()));
  }
}

OrRefusal<ReminderStore::SentRead> ReminderStore::add_sent(const Keys& keys, const std::string& customer_id,
                                                           const std::string& from, const std::string& without,
                                                           Guard& guard) {
  store::QueryRequest request = sent_since(tables_.tracking, keys.customer(customer_id), from);
  const std::string now = key_time(clock_.now());
  SentRead read;
  std::size_t let = 0;
  do {
    TRY(QueryPage page, query(request));
    read.count += page.items.size();
    for (const item::Item& item : page.items) {
      if (!item.contains(ttl_attribute) && let++ < most_let_expire) let_expire(item);
      const auto sent = read_sent(item, tables_.currency);
      if (!sent) {
        guard.unreadable = sent.error().message;
        continue;
      }
      // A key of the future would hide all that come until then.
      guard.seen = std::max(guard.seen, std::min(sent->id, now));
      const auto last = std::ranges::find(guard.last, sent->reminder_type, &LastSent::type);
      if (!sent->counts() || sent->id == without) {
        if (last == guard.last.end() || last->record != sent->id) continue;
        guard.last.erase(last);
        read.dropped = true;
      } else if (last == guard.last.end()) {
        guard.last.push_back({sent->reminder_type, sent->sent_at, sent->id});
        read.held.insert(sent->id);
      } else if (sent->sent_at > last->at || sent->id == last->record) {
        *last = {sent->reminder_type, sent->sent_at, sent->id};
        read.held.insert(sent->id);
      }
    }
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  return read;
}

OrRefusal<Guard> ReminderStore::guard_without(const Keys& keys, const std::string& customer_id, Guard guard,
                                              const std::string& record) {
  if (std::erase_if(guard.last, [&](const LastSent& last) { return last.record == record; }) > 0)
    TRY_VOID(add_sent(keys, customer_id, "", record, guard));
  return guard;
}

std::string ReminderStore::unsure_from(const Guard& guard) const {
  constexpr std::size_t time_length = 15;
  const std::string_view seen = guard.seen;
  const auto time = parse_key_time(seen.substr(0, std::min(time_length, seen.size())));
  if (!time) return "";
  // Others may write down late what they sent. What the rules no longer ask for does no harm.
  return key_time(std::min(*time, clock_.now() - rules_.longest_pause()) - foreign_delay);
}

OrRefusal<bool> ReminderStore::drop_gone(const Keys& keys, const std::string& customer_id,
                                         const std::set<std::string>& read, Guard& guard) {
  std::vector<LastSent> standing;
  for (const LastSent& last : guard.last) {
    if (!read.contains(last.record)) {
      TRY(const std::optional<item::Item> item, get(keys.customer(customer_id), std::string(sent_begin) + last.record));
      // After a year records expire. That they were sent stays true.
      if (!item && clock_.now() < last.at + sent_life) continue;
      if (item) {
        const auto sent = read_sent(*item, tables_.currency);
        if (!sent) guard.unreadable = sent.error().message;
        if (sent && !sent->counts()) continue;
      }
    }
    standing.push_back(last);
  }
  const bool dropped = standing.size() < guard.last.size();
  guard.last = std::move(standing);
  return dropped;
}

OrRefusal<Guard> ReminderStore::guard(const Keys& keys, const std::string& customer_id) {
  Guard guard;
  for (int round = 0; round < guard_rounds; ++round) {
    guard = Guard();
    TRY(const std::optional<item::Item> item, get(keys.customer(customer_id), std::string(guard_sort)));
    if (item) {
      auto stored = read_guard(*item);
      if (!stored) return base::propagate(refusal_of(stored.error()));
      guard = *std::move(stored);
    }
    const Guard stored = guard;
    TRY(SentRead read, add_sent(keys, customer_id, unsure_from(guard), "", guard));
    TRY(const bool were_gone, drop_gone(keys, customer_id, read.held, guard));
    if (read.dropped || were_gone) {
      // The one before it counts again, however old it is.
      TRY(const SentRead all, add_sent(keys, customer_id, "", "", guard));
      read.count += all.count;
    }
    const bool is_known = guard.seen == stored.seen && guard.last == stored.last;
    if (read.count < worth_remembering || is_known) return guard;
    Commit commit = begin();
    commit.move_guard(keys, customer_id, stored, guard);
    std::vector<std::size_t> failed;
    const auto written = write(std::move(commit), &failed);
    if (written) ++guard.version;
    // What was read is true in any case; a caller that writes on this version finds out that it is not the current one.
    if (written || failed.empty()) return guard;
  }
  return guard;
}

OrRefusal<Guard> ReminderStore::guard_of_history(const Keys& keys, const std::string& customer_id) {
  Guard guard;
  TRY_VOID(add_sent(keys, customer_id, "", "", guard));
  return guard;
}

OrRefusal<Guard> ReminderStore::shown_guard(const Keys& keys, const std::string& customer_id) {
  auto found = guard(keys, customer_id);
  if (!found && found.error().kind == RefusalKind::corrupt) return guard_of_history(keys, customer_id);
  return found;
}

OrRefusal<Guard> ReminderStore::mended_guard(const Keys& keys, const std::string& customer_id, const Actor& actor) {
  for (int round = 0;; ++round) {
    auto found = guard(keys, customer_id);
    if (found || found.error().kind != RefusalKind::corrupt || round == guard_rounds) return found;
    TRY(const std::optional<item::Item> item, get(keys.customer(customer_id), std::string(guard_sort)));
    if (!item || read_guard(*item)) continue;  // another caller was faster
    TRY(Guard again, guard_of_history(keys, customer_id));
    Commit commit = begin();
    // A version that no caller has seen: one that has decided on an earlier version decides again.
    again.version = base::epoch_milliseconds(commit.now());
    expr::Placeholders placeholders;
    const std::string names[] = {"last", "seen", "version"};
    std::string condition = same_attributes(*item, names, placeholders);
    commit.put(guard_item(keys, customer_id, again), std::move(condition), std::move(placeholders));
    commit.audit(actor, "customer.guard_made_anew", "customers/" + customer_id, {{"cause", found.error().message}},
                 random_);
    std::vector<std::size_t> failed;
    const auto written = write(std::move(commit), &failed);
    if (!written && failed.empty()) return base::propagate(written.error());
  }
}

}  // namespace postino::reminders
