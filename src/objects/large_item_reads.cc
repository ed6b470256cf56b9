// How items that were moved out come back.
#include <algorithm>
#include <set>

#include "base/hash.h"
#include "item/attribute_text.h"
#include "item/json_codec.h"
#include "objects/large_item_projection.h"
#include "objects/large_item_store.h"

namespace postino::objects {

namespace {

constexpr int reading_rounds = 64;                 // an item may be written again and again while it is read
constexpr std::size_t most_read_bytes = 16 << 20;  // of objects, for one answer

bool has_moved(const item::Item& item) { return item.contains(large_items_kind().attribute); }

// What its object takes. Of others' objects it is not known.
std::size_t object_bytes(const item::Item& item, const LargeItemLimits& limits) {
  if (!has_moved(item)) return 0;
  const item::AttributeValue* value = item.find(large_data_bytes);
  const auto* number = value != nullptr ? value->get_if<item::Number>() : nullptr;
  const auto bytes = number != nullptr ? number->to_int64() : std::nullopt;
  return bytes && *bytes >= 0 ? static_cast<std::size_t>(*bytes) : limits.whole;
}

std::size_t object_bytes(const std::vector<item::Item>& items, const LargeItemLimits& limits) {
  std::size_t sum = 0;
  for (const item::Item& item : items) sum += object_bytes(item, limits);
  return sum;
}

void tell_fault(item::Item& item, const item::Key& key, const std::string& what) {
  item.set(std::string(large_data_fault),
           "attributes of the item " + item::to_json(key) + " cannot be read from the object store: " + what);
}

tl::unexpected<store::Error> busy_item() {
  return store::refuse(store::ErrorType::transaction_conflict, "the item is being written again and again");
}

// A thread that must not wait does not wait for the object store.
bool must_not_wait(store::ReadAllowance* allowance) {
  if (allowance == nullptr) return false;
  allowance->exhaust();
  return true;
}

}  // namespace

store::Answer<LargeItemStore::Brought> LargeItemStore::bring_back(const LargeItemTable& table, item::Item& item,
                                                                  const Projected& projected) {
  item.erase(large_data_fault);  // only this function says so
  if (!has_moved(item)) return Brought::whole;
  const item::Key key = table.keyed.key_of(item);
  const auto damaged = [&](const std::string& what) {
    tell_fault(item, key, what);
    return Brought::damaged;
  };
  const std::string digest = item::attribute_text(item, large_data_sha256);
  const ObjectKind& kind = large_items_kind();
  // One without a digest was written by another program.
  std::optional<std::string> name = object_of_item(kind, table.keyed, objects_.bucket(), item);
  if (digest.empty()) {
    name = name_in_address(objects_.bucket(), item::attribute_text(item, kind.attribute));
    if (name && *name != seed_object_name(table.keyed, item)) name.reset();
  }
  if (!name) return damaged("the item names an object that is not its own");
  const auto bytes = objects_.get(*name);
  if (!bytes && bytes.error().code == base::ErrorCode::not_found) return Brought::gone;
  if (!bytes && (bytes.error().code == base::ErrorCode::io || bytes.error().code == base::ErrorCode::exhausted))
    return base::propagate(error_of_objects(bytes.error()));
  if (!bytes) return damaged(bytes.error().message);
  if (!digest.empty() && base::to_hex(base::sha256(*bytes)) != digest)
    return damaged("the object " + *name + " is not what was written");
  const auto moved = digest.empty() ? read_seed_object(*bytes) : read_large_object(*bytes, key);
  if (!moved) return damaged(moved.error().message + " (" + *name + ")");
  std::vector<std::string> names;
  for (const item::Attribute& attribute : *moved)
    if (!item.contains(attribute.name)) names.push_back(attribute.name);
  for (const item::Attribute& attribute : projected.of_moved(*moved))
    if (!item.contains(attribute.name)) item.set(attribute.name, attribute.value);
  item.erase(large_data_names);
  if (!names.empty()) item.set(std::string(large_data_names), item::StringSet(std::move(names)));
  return Brought::whole;
}

store::Answer<std::optional<item::Item>> LargeItemStore::read_again(const LargeItemTable& table, const item::Key& key,
                                                                    const Projected& projected) {
  store::GetItemRequest request;
  request.table_name = table.keyed.name;
  request.key = key;
  request.consistent_read = true;
  std::string missing;
  for (int round = 0; round < reading_rounds; ++round) {
    TRY(store::GetItemResponse found, inner().get_item(request));
    if (!found.item) return std::optional<item::Item>();
    TRY(Brought brought, bring_back(table, *found.item, Projected()));
    // An object goes after its item: if the item still refers to it, it is lost.
    const std::string address = item::attribute_text(*found.item, large_items_kind().attribute);
    if (brought == Brought::gone && address == missing) {
      tell_fault(*found.item, key, "the object is missing");
      brought = Brought::damaged;
    }
    if (brought != Brought::gone) return std::optional(projected.of_whole(*std::move(found.item)));
    missing = address;
  }
  return busy_item();
}

store::Answer<bool> LargeItemStore::complete(const LargeItemTable& table, item::Item& item,
                                             const Projected& projected) {
  const item::Key key = table.keyed.key_of(item);
  TRY(const Brought brought, bring_back(table, item, projected));
  if (brought != Brought::gone) {
    projected.finish(item);
    return true;
  }
  TRY(std::optional<item::Item> now, read_again(table, key, projected));
  if (!now) return false;
  item = *std::move(now);
  return true;
}

store::Answer<store::GetItemResponse> LargeItemStore::get_item(const store::GetItemRequest& request) {
  const LargeItemTable* const table = find(request.table_name);
  if (table == nullptr) return inner().get_item(request);
  store::GetItemRequest changed = request;
  const Projected projected = Projected::extend(table->keyed, changed.projection, changed.placeholders);
  TRY(store::GetItemResponse response, inner().get_item(changed));
  if (!response.item) return response;
  if (has_moved(*response.item) && must_not_wait(request.allowance)) return store::read_given_up();
  TRY(const bool is_there, complete(*table, *response.item, projected));
  if (!is_there) response.item.reset();
  return response;
}

store::Answer<void> LargeItemStore::complete_page(const LargeItemTable& table, store::PageResponse& page,
                                                  const Projected& projected) {
  std::vector<item::Item> items;
  items.reserve(page.items.size());
  for (item::Item& item : page.items) {
    TRY(const bool is_there, complete(table, item, projected));
    if (is_there)
      items.push_back(std::move(item));
    else
      --page.count;
  }
  page.items = std::move(items);
  return {};
}

template <class Request>
store::Answer<store::PageResponse> LargeItemStore::read_page(
    const Request& request, store::Answer<store::PageResponse> (store::Store::*function)(const Request&)) {
  const LargeItemTable* const table = find(request.table_name);
  // An index that does not project everything may lack what says where the rest is.
  if (table == nullptr || (request.index_name &&
                           std::ranges::find(table->whole_indexes, *request.index_name) == table->whole_indexes.end()))
    return (inner().*function)(request);
  Request changed = request;
  const Projected projected = Projected::extend(table->keyed, changed.projection, changed.placeholders);
  while (true) {
    TRY(store::PageResponse page, (inner().*function)(changed));
    const bool has_any = std::ranges::any_of(page.items, has_moved);
    if (has_any && must_not_wait(request.allowance)) return store::read_given_up();
    // A page of small items may stand for large ones. It gets shorter until all of it fits, or has one item.
    if (has_any && page.scanned_count > 1 && object_bytes(page.items, limits_) > most_read_bytes) {
      changed.limit = std::max(page.scanned_count / 2, 1);
      continue;
    }
    TRY_VOID(complete_page(*table, page, projected));
    return page;
  }
}

store::Answer<store::PageResponse> LargeItemStore::query(const store::QueryRequest& request) {
  return read_page(request, &store::Store::query);
}

store::Answer<store::PageResponse> LargeItemStore::scan(const store::ScanRequest& request) {
  return read_page(request, &store::Store::scan);
}

store::Answer<store::BatchGetItemResponse> LargeItemStore::batch_get_item(const store::BatchGetItemRequest& request) {
  if (std::ranges::none_of(request.tables, [&](const auto& each) { return find(each.table_name) != nullptr; }))
    return inner().batch_get_item(request);
  store::BatchGetItemRequest changed = request;
  std::vector<Projected> projected;
  for (store::BatchGetTable& each : changed.tables) {
    const LargeItemTable* const table = find(each.table_name);
    projected.push_back(table == nullptr ? Projected()
                                         : Projected::extend(table->keyed, each.projection, each.placeholders));
  }
  TRY(store::BatchGetItemResponse response, inner().batch_get_item(changed));
  // What was not read is told as it was asked for.
  for (store::BatchGetTable& left : response.unprocessed)
    for (const store::BatchGetTable& asked : request.tables)
      if (asked.table_name == left.table_name) {
        left.projection = asked.projection;
        left.placeholders = asked.placeholders;
      }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < response.tables.size(); ++i) {
    const LargeItemTable* const table = find(response.tables[i].table_name);
    if (table == nullptr) continue;
    std::vector<item::Item> items;
    for (item::Item& item : response.tables[i].items) {
      if (has_moved(item) && must_not_wait(request.allowance)) return store::read_given_up();
      const std::size_t size = object_bytes(item, limits_);
      // At least one comes back, so that a caller who asks again gets on.
      if (bytes > 0 && size > 0 && bytes + size > most_read_bytes) {
        auto left = std::ranges::find(response.unprocessed, table->keyed.name, &store::BatchGetTable::table_name);
        if (left == response.unprocessed.end()) {
          response.unprocessed.push_back(request.tables[i]);
          left = std::prev(response.unprocessed.end());
          left->keys.clear();
        }
        left->keys.push_back(table->keyed.key_of(item));
        continue;
      }
      bytes += size;
      TRY(const bool is_there, complete(*table, item, projected[i]));
      if (is_there) items.push_back(std::move(item));
    }
    response.tables[i].items = std::move(items);
  }
  return response;
}

store::Answer<store::TransactGetItemsResponse> LargeItemStore::transact_get_items(
    const store::TransactGetItemsRequest& request) {
  if (std::ranges::none_of(request.gets, [&](const auto& get) { return find(get.table_name) != nullptr; }))
    return inner().transact_get_items(request);
  store::TransactGetItemsRequest changed = request;
  std::vector<Projected> projected;
  for (store::TransactGet& get : changed.gets) {
    const LargeItemTable* const table = find(get.table_name);
    projected.push_back(table == nullptr ? Projected()
                                         : Projected::extend(table->keyed, get.projection, get.placeholders));
  }
  std::set<std::string> missing;
  for (int round = 0; round < reading_rounds; ++round) {
    TRY(store::TransactGetItemsResponse response, inner().transact_get_items(changed));
    std::size_t bytes = 0;
    bool is_whole = true;
    for (std::size_t i = 0; i < response.items.size() && is_whole; ++i) {
      const LargeItemTable* const table = find(request.gets[i].table_name);
      std::optional<item::Item>& item = response.items[i];
      if (table == nullptr || !item) continue;
      if (has_moved(*item) && must_not_wait(request.allowance)) return store::read_given_up();
      bytes += object_bytes(*item, limits_);
      if (bytes > 2 * most_read_bytes)
        return store::refuse_invalid("the items of a transaction must not have more than " +
                                     std::to_string(2 * most_read_bytes) + " bytes in the object store");
      // All of them are read again when one has changed: together they show one moment.
      TRY(const Brought brought, bring_back(*table, *item, projected[i]));
      const std::string address = item::attribute_text(*item, large_items_kind().attribute);
      if (brought == Brought::gone && missing.insert(address).second) {
        is_whole = false;
        break;
      }
      if (brought == Brought::gone) tell_fault(*item, table->keyed.key_of(*item), "the object is missing");
      projected[i].finish(*item);
    }
    if (is_whole) return response;
  }
  return busy_item();
}

void LargeItemStore::complete_report(const LargeItemTable& table, store::WriteItemResponse& response) {
  if (!response.attributes) return;
  // The write is done. A caller is told of it, even if what was there before cannot be read any more.
  if (const auto brought = bring_back(table, *response.attributes, Projected()); brought && *brought == Brought::whole)
    Projected().finish(*response.attributes);
}

}  // namespace postino::objects
