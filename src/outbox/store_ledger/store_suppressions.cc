#include "outbox/store_ledger/store_suppressions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "mail/address.h"
#include "store/list_cursor.h"

namespace postino::outbox {

namespace {

// A tenant's are on one shelf: they are few, and are listed in the order of their addresses.
constexpr std::string_view shelf_prefix = "suppressions/";
std::string shelf_of(const std::string& tenant) { return std::string(shelf_prefix) + tenant; }

item::Key key_of(const std::string& tenant, const std::string& address) {
  return {{"Shelf", shelf_of(tenant)}, {"Address", mail::comparable_address(address)}};
}

Suppression suppression_of(const item::Item& item) {
  const auto since = base::parse_timestamp(item::attribute_text(item, "Since"));
  return {item::attribute_text(item, "Address"), item::attribute_text(item, "Reason"),
          since ? *since : base::TimePoint()};
}

}  // namespace

base::Result<void> StoreSuppressions::add(const std::string& tenant, const Suppression& suppression) {
  store::PutItemRequest put;
  put.table_name = table_;
  put.item = key_of(tenant, suppression.address);
  put.item.set("Reason", suppression.reason);
  put.item.set("Since", base::format_timestamp(suppression.since));
  const auto answer = retry_([&] { return store_.put_item(put); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return {};
}

base::Result<bool> StoreSuppressions::remove(const std::string& tenant, const std::string& address) {
  store::DeleteItemRequest request;
  request.table_name = table_;
  request.key = key_of(tenant, address);
  request.return_values = store::ReturnValues::all_old;
  const auto answer = retry_([&] { return store_.delete_item(request); });
  if (!answer) return base::propagate(store::as_error(answer.error()));
  return answer->attributes.has_value();
}

// All in one request, however many recipients an e-mail has and whose list they may be in.
base::Result<std::vector<Suppression>> StoreSuppressions::find(const std::string& tenant,
                                                               const std::vector<std::string>& addresses) {
  std::set<std::string> wanted;
  for (const std::string& address : addresses) wanted.insert(mail::comparable_address(address));
  std::vector<item::Key> keys;
  for (const std::string& address : wanted) {
    keys.push_back(key_of("", address));
    if (!tenant.empty()) keys.push_back(key_of(tenant, address));
  }
  std::map<std::string, Suppression> for_all;
  std::map<std::string, Suppression> of_tenant;
  for (std::size_t begin = 0; begin < keys.size(); begin += store::max_batch_get_keys) {
    const auto first = keys.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto size = static_cast<std::ptrdiff_t>(std::min(store::max_batch_get_keys, keys.size() - begin));
    TRY(const std::vector<item::Item> items, read({first, first + size}));
    for (const item::Item& item : items) {
      const bool is_for_all = item::attribute_text(item, "Shelf") == shelf_of("");
      (is_for_all ? for_all : of_tenant).emplace(item::attribute_text(item, "Address"), suppression_of(item));
    }
  }
  // The list for all comes first.
  for_all.merge(of_tenant);
  std::vector<Suppression> found;
  for (const std::string& address : addresses)
    if (const auto each = for_all.find(mail::comparable_address(address)); each != for_all.end())
      found.push_back(each->second);
  return found;
}

base::Result<std::vector<item::Item>> StoreSuppressions::read(std::vector<item::Key> keys) {
  store::BatchGetItemRequest request;
  store::BatchGetTable table;
  table.table_name = table_;
  table.consistent_read = true;
  table.keys = std::move(keys);
  request.tables.push_back(std::move(table));
  std::vector<item::Item> items;
  while (!request.tables.empty()) {
    auto answer = retry_([&] { return store_.batch_get_item(request); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
    for (auto& found : answer->tables) std::ranges::move(found.items, std::back_inserter(items));
    request.tables = std::move(answer->unprocessed);
  }
  return items;
}

base::Result<SuppressionPage> StoreSuppressions::list(const std::string& tenant, const std::string& cursor, int limit) {
  store::QueryRequest query;
  query.table_name = table_;
  query.key_condition = "Shelf = :shelf";
  query.placeholders.values = item::Map{{":shelf", shelf_of(tenant)}};
  query.limit = limit;
  if (!cursor.empty()) {
    TRY(const std::string address, store::read_cursor("suppressions", cursor));
    query.exclusive_start_key = key_of(tenant, address);
  }
  const auto page = retry_([&] { return store_.query(query); });
  if (!page) return base::propagate(store::as_error(page.error()));
  SuppressionPage result;
  for (const item::Item& item : page->items) result.suppressions.push_back(suppression_of(item));
  if (page->last_evaluated_key) result.cursor = store::make_cursor("suppressions", result.suppressions.back().address);
  return result;
}

base::Result<std::vector<std::string>> StoreSuppressions::tenants() {
  std::set<std::string> tenants;
  store::ScanRequest scan;
  scan.table_name = table_;
  scan.projection = "Shelf";
  scan.consistent_read = true;
  do {
    const auto page = retry_([&] { return store_.scan(scan); });
    if (!page) return base::propagate(store::as_error(page.error()));
    for (const item::Item& item : page->items)
      if (const std::string shelf = item::attribute_text(item, "Shelf"); shelf.starts_with(shelf_prefix))
        tenants.insert(shelf.substr(shelf_prefix.size()));
    scan.exclusive_start_key = page->last_evaluated_key;
  } while (scan.exclusive_start_key);
  return std::vector<std::string>(tenants.begin(), tenants.end());
}

}  // namespace postino::outbox
