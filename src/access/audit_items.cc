#include "access/audit_items.h"

namespace postino::access {

store::Answer<void> AuditItems::walk(const std::string& partition, bool forward, const std::string& after,
                                     const See& see) const {
  store::QueryRequest query;
  query.table_name = table;
  query.key_condition = "PK = :partition";
  query.placeholders.values = item::Map{{":partition", partition}};
  query.consistent_read = true;
  query.forward = forward;
  if (!after.empty()) query.exclusive_start_key = item::Key{{"PK", partition}, {"SK", after}};
  do {
    TRY(store::PageResponse page, retry([&] { return store.query(query); }));
    for (const item::Item& item : page.items)
      if (!see(item)) return {};
    query.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (query.exclusive_start_key);
  return {};
}

store::Answer<std::optional<item::Item>> AuditItems::get(const std::string& partition,
                                                         const std::string& sort_key) const {
  store::GetItemRequest get;
  get.table_name = table;
  get.key = {{"PK", partition}, {"SK", sort_key}};
  get.consistent_read = true;
  TRY(store::GetItemResponse found, retry([&] { return store.get_item(get); }));
  return std::move(found.item);
}

}  // namespace postino::access
