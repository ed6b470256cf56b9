#include "outbox/store_ledger/store_expiry.h"

#include "outbox/ledger/spool.h"
#include "outbox/store_ledger/email_item.h"
#include "store/count_mender.h"

namespace postino::outbox {

namespace {

std::string text_in(const item::Item& item, std::string_view name) {
  const item::AttributeValue* value = item.find(name);
  const std::string* text = value != nullptr ? value->get_if<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

// What is no number is over; a number that is too large for a time is later than all times.
bool is_before(const item::Item& item, std::string_view name, base::TimePoint now) {
  const item::AttributeValue* value = item.find(name);
  const item::Number* number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return number == nullptr || *number <= item::Number(base::epoch_seconds(now));
}

// A record that cannot be read is another program's, unless it waits for work here.
bool is_over(const item::Item& meta) {
  const auto email = email_of(meta);
  return email ? is_finished(*email) : !meta.contains("Queue");
}

}  // namespace

bool StoreExpiry::may_expire(const std::string& table, const item::Item& item) const {
  if (table == tables_.emails)
    return text_in(item, "Status") == meta_status ? is_over(item) : is_email_over(text_in(item, "Id"));
  if (table == tables_.spool()) return is_email_over(id_in_spool_path(text_in(item, "SpoolPath")));
  if (table == tables_.counts()) return is_slice_over(item);
  return true;
}

bool StoreExpiry::is_email_over(const std::string& id) const {
  if (id.empty()) return true;
  store::GetItemRequest get;
  get.table_name = tables_.emails;
  get.key = meta_key(id);
  get.consistent_read = true;
  const auto answer = store_.get_item(get);
  if (!answer) return answer.error().type == store::ErrorType::resource_not_found;
  if (!answer->item) return true;
  return is_over(*answer->item) && is_before(*answer->item, "TTL", clock_.now());
}

// The counts of a day are spread over several slices, which go together.
bool StoreExpiry::is_slice_over(const item::Item& slice) const {
  const std::string name = text_in(slice, "Slice");
  store::QueryRequest query;
  query.table_name = tables_.counts();
  query.key_condition = "Tenant = :tenant AND begins_with(Slice, :day)";
  query.placeholders.values =
      item::Map{{":tenant", text_in(slice, "Tenant")}, {":day", name.substr(0, name.find('#') + 1)}};
  query.consistent_read = true;
  const auto page = store_.query(query);
  if (!page) return false;
  std::int64_t unfinished = 0;
  for (const item::Item& each : page->items)
    for (const State state : all_states())
      if (!may_be_finished(state)) store::add_count(unfinished, each, name_of(state));
  return unfinished <= 0;
}

}  // namespace postino::outbox
