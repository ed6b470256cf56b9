#include "outbox/store_ledger/store_recount.h"

#include <algorithm>
#include <functional>

#include "item/attribute_text.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox/store_ledger/foreign_writes.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/store_tables.h"
#include "store/retry.h"

namespace postino::outbox {

namespace {

store::Answer<void> each_item(store::Store& store, const std::string& table,
                              const std::function<store::Answer<void>(const item::Item&)>& each) {
  store::ScanRequest scan;
  scan.table_name = table;
  scan.consistent_read = true;
  do {
    TRY(const store::PageResponse page, store.scan(scan));
    for (const item::Item& item : page.items) TRY_VOID(each(item));
    scan.exclusive_start_key = page.last_evaluated_key;
  } while (scan.exclusive_start_key);
  return {};
}

store::Answer<void> remove_slice(store::Store& store, const std::string& table, const item::Item& slice) {
  store::DeleteItemRequest request;
  request.table_name = table;
  request.key = {{"Tenant", *slice.find("Tenant")}, {"Slice", *slice.find("Slice")}};
  TRY(const store::WriteItemResponse removed, store.delete_item(request));
  static_cast<void>(removed);
  return {};
}

// What is gone is not counted any more: no later change may take it off the counts again.
store::Answer<void> forget_counted(store::Store& store, const std::string& table, item::Item mark) {
  const std::size_t attributes = mark.size();
  drop_counted(mark);
  if (mark.size() == attributes) return {};
  store::PutItemRequest put;
  put.table_name = table;
  put.item = std::move(mark);
  TRY(const store::WriteItemResponse written, store.put_item(put));
  static_cast<void>(written);
  return {};
}

store::Answer<void> count_anew(store::Store& store, const StoreTables& tables, base::Milliseconds keep) {
  CountChanges counts;
  TRY_VOID(each_item(store, tables.emails, [&](const item::Item& item) -> store::Answer<void> {
    const std::string status = item::attribute_text(item, "Status");
    if (status == mark_status) return forget_counted(store, tables.emails, item);
    if (status != meta_status) return {};
    if (const auto email = counted_email_of(item); email && *email) counts.entered(**email);
    return {};
  }));
  TRY_VOID(each_item(store, tables.counts(),
                     [&](const item::Item& slice) { return remove_slice(store, tables.counts(), slice); }));
  const std::vector<store::TransactAction> actions = counts.actions(tables.counts(), keep, 0);
  for (std::size_t first = 0; first < actions.size(); first += store::max_transaction_actions) {
    const std::size_t end = std::min(actions.size(), first + store::max_transaction_actions);
    store::TransactWriteItemsRequest request;
    request.actions.assign(actions.begin() + static_cast<std::ptrdiff_t>(first),
                           actions.begin() + static_cast<std::ptrdiff_t>(end));
    TRY(const store::TransactWriteItemsResponse written, store.transact_write_items(request));
    static_cast<void>(written);
  }
  return {};
}

}  // namespace

base::Result<void> recount(store::Store& store, const StoreTables& tables, base::Milliseconds keep) {
  if (!store.describe_table(tables.emails)) return {};
  if (!store.describe_table(tables.counts())) TRY_VOID(prepare_counts(store, tables));
  const auto counted = count_anew(store, tables, keep);
  if (!counted) return base::propagate(store::as_error(counted.error()));
  return {};
}

}  // namespace postino::outbox
