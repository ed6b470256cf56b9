#include "outbox/store_ledger/store_count_expiry.h"

#include <algorithm>
#include <set>

#include "item/attribute_text.h"
#include "outbox/store_ledger/email_item.h"
#include "store/count_mender.h"
#include "store/retry.h"

namespace postino::outbox {

namespace {

// What has no time, or none that can be read, is kept for as long as the rest of its day.
bool is_to_be_kept(const item::Item& slice, base::TimePoint now) {
  const item::AttributeValue* const ttl = slice.find("TTL");
  const item::Number* const second = ttl != nullptr ? ttl->get_if<item::Number>() : nullptr;
  return second != nullptr && *second > item::Number(base::epoch_seconds(now));
}

std::int64_t count_unfinished(const std::vector<item::Item>& slices) {
  std::int64_t unfinished = 0;
  for (const item::Item& slice : slices)
    for (const State state : all_states())
      if (!may_be_finished(state)) store::add_count(unfinished, slice, name_of(state));
  return unfinished;
}

// On condition that it counts what was seen: an operator may be sending one of its e-mails again.
store::TransactDelete removal_of(const std::string& table, const item::Item& slice) {
  store::TransactDelete removal;
  removal.table_name = table;
  removal.key = {{"Tenant", *slice.find("Tenant")}, {"Slice", *slice.find("Slice")}};
  std::string condition;
  expr::Names names;
  item::Map values;
  for (const State state : all_states()) {
    const std::string number = std::to_string(static_cast<int>(state));
    const item::AttributeValue* const seen = slice.find(name_of(state));
    if (!condition.empty()) condition += " AND ";
    condition += seen == nullptr ? "attribute_not_exists(#s" + number + ")" : "#s" + number + " = :s" + number;
    names.emplace("#s" + number, std::string(name_of(state)));
    if (seen != nullptr) values.set(":s" + number, *seen);
  }
  removal.condition = store::ConditionExpression(std::move(condition));
  removal.placeholders.names = std::move(names);
  if (!values.empty()) removal.placeholders.values = std::move(values);
  return removal;
}

}  // namespace

base::Result<bool> StoreCountExpiry::run_once() {
  store::ScanRequest scan;
  scan.table_name = tables_.counts();
  scan.exclusive_start_key = std::exchange(next_, std::nullopt);
  const auto page = store_.scan(scan);
  if (!page) return base::propagate(store::as_error(page.error()));
  const base::TimePoint now = clock_.now();
  std::set<CountChanges::Slice> days;
  for (const item::Item& slice : page->items) {
    const std::string name = item::attribute_text(slice, "Slice");
    if (!is_to_be_kept(slice, now))
      days.insert({item::attribute_text(slice, "Tenant"), name.substr(0, name.find('#'))});
  }
  for (const CountChanges::Slice& day : days) TRY_VOID(remove_if_over(day));
  next_ = page->last_evaluated_key;
  return next_.has_value();
}

base::Result<void> StoreCountExpiry::remove_if_over(const CountChanges::Slice& day) {
  store::QueryRequest query;
  query.table_name = tables_.counts();
  query.key_condition = "Tenant = :tenant AND begins_with(Slice, :day)";
  query.placeholders.values = item::Map{{":tenant", day.tenant}, {":day", day.day + "#"}};
  query.consistent_read = true;
  const auto page = store_.query(query);
  if (!page) return base::propagate(store::as_error(page.error()));
  const std::vector<item::Item>& slices = page->items;
  const base::TimePoint now = clock_.now();
  const bool is_whole = !page->last_evaluated_key && slices.size() <= store::max_transaction_actions;
  if (slices.empty() || !is_whole || count_unfinished(slices) > 0 ||
      std::ranges::any_of(slices, [&](const item::Item& slice) { return is_to_be_kept(slice, now); }))
    return {};
  store::TransactWriteItemsRequest request;
  for (const item::Item& slice : slices) request.actions.emplace_back(removal_of(tables_.counts(), slice));
  const auto removed = store_.transact_write_items(request);
  if (removed || removed.error().type == store::ErrorType::transaction_canceled) return {};  // later, if it has changed
  return base::propagate(store::as_error(removed.error()));
}

}  // namespace postino::outbox
