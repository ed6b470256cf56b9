#include <algorithm>

#include "base/hash.h"
#include "base/timestamp.h"
#include "reminders/record/guard_item.h"
#include "reminders/record/invoice.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

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
                   std::map<std::string, std::string> details, base::Random& random) {
  item::Item item = Keys::key(Keys(actor.tenant).audit(date_of(now_)),
                              base::format_timestamp(now_) + "#" + base::make_uuid(random).substr(0, 8));
  item.set("at", base::format_timestamp(now_));
  item.set("actor", actor.known_as());
  item.set("key", actor.key);
  item.set("from", actor.from);
  item.set("action", std::move(action));
  item.set("subject", std::move(subject));
  item::Map told;
  for (auto& [name, value] : details) told.set(name, std::move(value));
  item.set("details", std::move(told));
  store::TransactPut put;
  put.table_name = tables_.audit();
  put.item = std::move(item);
  put.condition = "attribute_not_exists(PK)";
  add(std::move(put));
}

std::size_t Commit::count_reminder(const Keys& keys, std::string_view customer_id, int by) {
  store::TransactUpdate update;
  update.table_name = tables_.tracking;
  update.key = Keys::key(keys.customer(customer_id), profile_sort);
  update.update = "ADD reminders_sent :by, version :one";
  update.condition = "attribute_exists(PK)";
  update.placeholders.values = item::Map{{":by", by}, {":one", 1}};
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

}  // namespace postino::reminders
