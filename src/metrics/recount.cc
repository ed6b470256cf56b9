#include "metrics/recount.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "item/attribute_text.h"

namespace postino::metrics {

namespace {

constexpr std::size_t actions_per_commit = 90;

store::TransactPut put_of(const std::string& table, item::Item item) {
  store::TransactPut put;
  put.table_name = table;
  put.item = std::move(item);
  return put;
}

std::string metric_name_of(const item::Item& item) { return item::attribute_text(item, name_attribute); }

}  // namespace

item::Key Recount::key_of(const item::Item& item) const {
  item::Key key;
  for (const store::KeyElement& element : keys_)
    if (const item::AttributeValue* const value = item.find(element.name)) key.set(element.name, *value);
  return key;
}

void Recount::add(const item::Item& item, const item::Key& key) {
  const auto counted = contribution_of(source_, item);
  if (counted) return tally_.add(*counted, now_);
  ++faults_;
  if (faulty_.size() < options_.most_set_aside)
    faulty_.push_back(set_aside_item(source_.name, source_.table, key, counted.error().message, now_));
}

void Recount::meet(const store::StreamRecord& record) {
  feed_.move_to(record);
  if (!source_.concerns(record.keys)) return;
  const std::uint64_t fingerprint = fingerprint_of(record.keys);
  const std::uint64_t part = part_of(fingerprint);
  if (part > pass_) return;  // a later pass finds it as it is then
  if (part == pass_ && met_.insert(fingerprint)) {
    if (record.new_image) add(*record.new_image, record.keys);
    return;
  }
  // What cannot be counted is told of when its item is met; here it counts as nothing.
  (void)tally_change(source_, record, now_, tally_);
}

void Recount::meet(const item::Item& item) {
  const item::Key key = key_of(item);
  if (!source_.concerns(key)) return;
  const std::uint64_t fingerprint = fingerprint_of(key);
  if (part_of(fingerprint) == pass_ && met_.insert(fingerprint)) add(item, key);
}

void Recount::meet_pages() {
  for (; !pages_.empty() && feed_.has_passed(pages_.front().read); pages_.pop_front())
    for (const item::Item& item : pages_.front().items) meet(item);
}

Outcome<void> Recount::catch_up(const Beginning& beginning, std::size_t waiting) {
  do {
    if (beginning.is_ending && beginning.is_ending()) return trouble(Trouble::temporary, "the follower ends");
    TRY_VOID(keeper_.renew());
    const auto changes = feed_.next(store::max_records_per_read, base::Milliseconds(0));
    if (!changes) return temporary(changes.error());
    if (!changes->missed.empty()) return trouble(Trouble::temporary, changes->missed);
    if (!feed_.is_open()) return trouble(Trouble::temporary, "the stream has ended");
    for (const store::StreamRecord& record : changes->records) meet(record);
    meet_pages();
  } while (pages_.size() > waiting);
  return {};
}

Outcome<void> Recount::pass(const Beginning& beginning) {
  met_.clear();
  store::ScanRequest request;
  request.table_name = source_.table;
  request.consistent_read = true;
  request.limit = options_.page;
  do {
    if (beginning.is_ending && beginning.is_ending()) return trouble(Trouble::temporary, "the follower ends");
    auto page = retry_([&] { return store_.scan(request); });
    if (!page) return temporary(page.error());
    const auto read = feed_.present_end();
    if (!read) return temporary(read.error());
    pages_.push_back({.items = std::move(page->items), .read = *read});
    TRY_VOID(catch_up(beginning, options_.waiting_pages));
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return catch_up(beginning, 0);
}

// What its items counted may have expired since: such figures are not counted again.
bool Recount::is_beyond(const item::Item& item) const {
  const std::string name = metric_name_of(item);
  const bool is_minutes = name.find("#minutes#") != std::string::npos;
  if (!source_.kept_for || (!is_minutes && name.find("#hours#") == std::string::npos)) return false;
  const Unit unit = is_minutes ? Unit::minutes : Unit::hours;
  const item::AttributeValue* const ttl = item.find(metrics_ttl);
  const auto* const number = ttl != nullptr ? ttl->get_if<item::Number>() : nullptr;
  const auto seconds = number != nullptr ? number->to_int64() : std::nullopt;
  if (!seconds) return false;
  const base::TimePoint end = base::from_epoch_milliseconds(*seconds * 1'000) - kept_of(unit);
  return end - span_of(unit) < now_ - *source_.kept_for;
}

std::vector<item::Item> Recount::new_items() const {
  std::vector<item::Item> items = tally_items(source_.name, tally_);
  std::erase_if(items, [&](const item::Item& item) { return is_beyond(item); });
  for (const std::string& name : source_.known_figures)
    if (!tally_.figures().contains({"", name})) items.push_back(figure_item(source_.name, {"", name}, Amount()));
  // Those of the company itself, and among them its figures, come last: they are replaced together with the checkpoint.
  std::ranges::stable_partition(items, [](const item::Item& item) {
    const std::string name = metric_name_of(item);
    return name.starts_with("TENANT#") || name.starts_with("history#");
  });
  return items;
}

Outcome<std::vector<store::TransactAction>> Recount::outdated(const std::vector<item::Item>& items) {
  std::set<std::string> names;
  for (const item::Item& item : items) names.insert(metric_name_of(item));
  std::vector<store::TransactAction> removals;
  store::ScanRequest request;
  request.table_name = keeper_.options().table;
  request.consistent_read = true;
  request.filter = "#source = :source";
  request.placeholders.names = expr::Names{{"#source", std::string(source_attribute)}};
  request.placeholders.values = item::Map{{":source", source_.name}};
  do {
    const auto page = retry_([&] { return store_.scan(request); });
    if (!page) return temporary(page.error());
    for (const item::Item& item : page->items) {
      if (names.contains(metric_name_of(item)) || is_beyond(item)) continue;
      store::TransactDelete removal;
      removal.table_name = request.table_name;
      removal.key = metric_key(metric_name_of(item));
      removals.emplace_back(std::move(removal));
    }
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return removals;
}

Outcome<void> Recount::replace() {
  const std::string& table = keeper_.options().table;
  const std::vector<item::Item> items = new_items();
  TRY(std::vector<store::TransactAction> actions, outdated(items));
  for (const SetAside& record : faulty_) actions.emplace_back(put_of(table, stored_form(record)));
  for (const item::Item& item : items) actions.emplace_back(put_of(table, item));
  std::size_t done = 0;
  while (actions.size() - done > actions_per_commit) {
    // So many that a full commit is left for the end.
    const std::size_t count = std::min(actions_per_commit, actions.size() - done - actions_per_commit);
    const auto begin = actions.begin() + static_cast<std::ptrdiff_t>(done);
    TRY_VOID(keeper_.commit_part({begin, begin + static_cast<std::ptrdiff_t>(count)}));
    done += count;
  }
  return keeper_.commit(keeper_.begun_at(*feed_.place()),
                        {actions.begin() + static_cast<std::ptrdiff_t>(done), actions.end()});
}

Outcome<std::uint64_t> Recount::run(const Beginning& beginning) {
  const auto table = store_.describe_table(source_.table);
  if (!table) return temporary(table.error());
  keys_ = table->key_schema;
  passes_ = static_cast<std::uint64_t>(table->item_count) / options_.keys_per_pass + 1;
  if (const auto begun = feed_.begin(store::ChangeFeed::Start::present); !begun) return temporary(begun.error());
  for (pass_ = 0; pass_ < passes_; ++pass_) TRY_VOID(pass(beginning));
  TRY_VOID(replace());
  if (faults_ > 0)
    base::log_error("metrics", "items cannot be counted",
                    {{"table", source_.table}, {"count", std::to_string(faults_)}, {"first", faulty_.front().reason}});
  base::log_info("metrics", "counted again", {{"table", source_.table}});
  return faulty_.size();
}

}  // namespace postino::metrics
