// Objects that belong to items of a table: their names, and whose they are.
//
//   {kind}/{table}/{hash key}/{range key}/{version}{ending}
//   large-items/prod-tickets-unified/TICKET#tkt_1/METADATA/0197c2f0-....json
//
// The name says which item an object belongs to. An item refers to an object by its address in an attribute, and to
// none that belongs to another item. Each version is written once: so an item never leads to what another write has
// left.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "objects/object_store.h"
#include "store/store.h"

namespace postino::objects {

// A table, and what its keys are called: the hash key, and the range key where there is one.
struct KeyedTable {
  std::string name;
  std::vector<store::AttributeDefinition> keys;

  // The key of an item; of an item that lacks a part of it, what it has.
  item::Key key_of(const item::Map& item) const;
};

// As the store has it.
base::Result<KeyedTable> describe_keys(store::Store& store, const std::string& table);

// What kind of objects they are, and how items refer to them.
struct ObjectKind {
  std::string name;       // "large-items"
  std::string attribute;  // with the address: "large_data_uri"
  std::string ending;     // of names: ".json"
};

// nullopt when the key has no place in a name, because it is too long for that.
std::optional<std::string> name_for_item(const ObjectKind& kind, const KeyedTable& table, const item::Map& item,
                                         std::string_view version);

// The key of the item that an object belongs to; nullopt for a name of another form, kind or table, and for what is no
// name of an object.
std::optional<item::Key> owner_of_object(const ObjectKind& kind, const KeyedTable& table, std::string_view name);

// The object that an item refers to. nullopt when it refers to none, or to one that is not its own.
std::optional<std::string> object_of_item(const ObjectKind& kind, const KeyedTable& table, std::string_view bucket,
                                          const item::Map& item);

// An object store that cannot be used, as an error of a store. Of one that is known to be away it is an error that is
// not worth repeating: it was tried again already, and those who ask must not wait.
store::Error error_of_objects(const base::Error& error);

// What names of objects of this kind and table begin with.
std::string object_prefix(const ObjectKind& kind, const KeyedTable& table);

}  // namespace postino::objects
