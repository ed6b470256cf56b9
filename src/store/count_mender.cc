#include "store/count_mender.h"

#include <limits>
#include <optional>
#include <variant>

#include "base/log.h"
#include "item/json_codec.h"

namespace postino::store {

namespace {

constexpr int most_rounds = 16;

std::optional<std::int64_t> count_in(const item::AttributeValue& value) {
  const auto* number = value.get_if<item::Number>();
  return number != nullptr ? number->to_int64() : std::nullopt;
}

}  // namespace

bool CountMender::mend(const TransactWriteItemsRequest& request, const Error& error) {
  if (error.type != ErrorType::transaction_canceled || error.details == nullptr) return false;
  const std::string wrong_type = cancellation_code(ErrorType::validation);
  const std::vector<CancellationReason>& reasons = error.details->reasons;
  bool mended = false;
  for (std::size_t i = 0; i < reasons.size() && i < request.actions.size(); ++i) {
    if (reasons[i].code != wrong_type) continue;
    const auto* update = std::get_if<TransactUpdate>(&request.actions[i]);
    if (update != nullptr && update->table_name == table_) mended |= mend(update->key);
  }
  return mended && ++rounds_ <= most_rounds;
}

bool CountMender::mend(const item::Key& key) {
  GetItemRequest get;
  get.table_name = table_;
  get.key = key;
  get.consistent_read = true;
  const auto found = store_.get_item(get);
  if (!found) return false;
  if (!found->item) return true;  // another caller has taken it away
  UpdateItemRequest update;
  update.table_name = table_;
  update.key = key;
  expr::Names names;
  item::Map values;
  std::string removal;
  std::string condition;  // another caller may have mended it meanwhile, and counted on
  std::string damaged;
  for (const std::string_view name : names_) {
    const item::AttributeValue* value = found->item->find(name);
    if (value == nullptr || count_in(*value)) continue;
    const std::string number = std::to_string(names.size());
    names.emplace("#c" + number, std::string(name));
    values.set(":c" + number, *value);
    removal.append(removal.empty() ? "REMOVE #c" : ", #c").append(number);
    condition.append(condition.empty() ? "#c" : " AND #c").append(number).append(" = :c").append(number);
    damaged.append(damaged.empty() ? "" : ", ").append(name);
  }
  if (names.empty()) return true;  // mended by another caller
  update.update = UpdateExpression(std::move(removal));
  update.condition = ConditionExpression(std::move(condition));
  update.placeholders.names = std::move(names);
  update.placeholders.values = std::move(values);
  const auto removed = store_.update_item(update);
  if (!removed) return removed.error().type == ErrorType::conditional_check_failed;
  base::log_error("store", "counts that another program had replaced by something else start over at nothing",
                  {{"table", table_}, {"key", item::to_json(key)}, {"counts", damaged}});
  return true;
}

std::optional<std::int64_t> whole_count(const item::AttributeValue& value) {
  const auto count = count_in(value);
  return count && item::Number(*count) == value.as<item::Number>() ? count : std::nullopt;
}

void add_count(std::int64_t& sum, const item::Item& item, std::string_view name) {
  const item::AttributeValue* value = item.find(name);
  const std::int64_t count = value != nullptr ? count_in(*value).value_or(0) : 0;
  if (__builtin_add_overflow(sum, count, &sum))
    sum = count < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

}  // namespace postino::store
