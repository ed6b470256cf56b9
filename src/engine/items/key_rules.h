// The rules for keys and items of a table, with DynamoDB's messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/table.h"
#include "item/value.h"
#include "store/error.h"

namespace postino::engine {

// What a batch is told that names an item twice.
inline constexpr std::string_view duplicate_keys = "Provided list of item keys contains duplicates";

// A key in a request: exactly the table's key attributes, of the right types, not empty, not too large.
store::Answer<void> check_key(const Table& table, const item::Key& key);

// The key attributes of an item to put. Messages name the attribute, which those of check_key do not.
store::Answer<void> check_item_key(const Table& table, const item::Item& item);

// An item to put: its key, its index keys, its size.
store::Answer<void> check_item(const Table& table, const item::Item& item);

// Index key attributes that an update left in the item: `changed` tells whether it touched an attribute, and
// `computed` whether it worked the value out instead of taking it from the request.
struct UpdatedAttribute {
  std::string_view name;
  bool computed = false;
};
store::Answer<void> check_updated_index_keys(const Table& table, const item::Item& item,
                                             const std::vector<UpdatedAttribute>& updated);

// Key values that are empty strings or binaries; asked separately where it must be known before anything else.
store::Answer<void> check_key_not_empty(const Table& table, const item::Map& item);

// The key attributes of an item.
item::Key key_of(const Table& table, const item::Item& item);
// Those of them that it has.
item::Key key_within(const Table& table, const item::Item& item);

// Key attributes of the table and of its indexes are scalars: no path of an expression leads into them. `entered` are
// the attributes that one does.
store::Answer<void> check_scalar_keys(const Table& table, const std::vector<std::string_view>& entered);

// What no request may contain anywhere: values nested too deep, attributes without a name.
store::Answer<void> check_attributes(const item::Map& item);

}  // namespace postino::engine
