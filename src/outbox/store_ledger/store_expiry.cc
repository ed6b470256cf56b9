#include "outbox/store_ledger/store_expiry.h"

#include "item/attribute_text.h"
#include "outbox/ledger/spool.h"
#include "outbox/store_ledger/email_item.h"

namespace postino::outbox {

namespace {

// What is no number is over; a number that is too large for a time is later than all times.
bool is_before(const item::Item& item, std::string_view name, base::TimePoint now) {
  const item::AttributeValue* value = item.find(name);
  const item::Number* number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return number == nullptr || *number <= item::Number(base::epoch_seconds(now));
}

// Of a slice as CountChanges writes it, and not something else that another program has put there.
bool is_count_of_day(const item::Item& item) {
  return item::attribute_text(item, "Slice").find('#') != std::string::npos;
}

// A record that cannot be read is another program's, unless it waits for work here.
bool is_over(const item::Item& meta) {
  const auto email = email_of(meta);
  return email ? is_finished(*email) : !meta.contains("Queue");
}

}  // namespace

bool StoreExpiry::may_expire(const std::string& table, const item::Item& item) const {
  if (table == tables_.emails)
    return item::attribute_text(item, "Status") == meta_status ? is_over(item)
                                                               : is_email_over(item::attribute_text(item, "Id"));
  if (table == tables_.spool()) return is_email_over(id_in_spool_path(item::attribute_text(item, "SpoolPath")));
  if (table == tables_.counts()) return !is_count_of_day(item);
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

}  // namespace postino::outbox
