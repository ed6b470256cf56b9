// The WHERE clause of a statement about one item: the item's key, and what else is asked of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "partiql/source.h"
#include "partiql/substitutions.h"

namespace postino::partiql {

struct KeyedWhere {
  item::Key key;                               // those key attributes for which there is an equality
  std::vector<const Expression*> conditions;   // all else that has to hold
  std::optional<std::string> conflicting_key;  // an attribute that has two values
};

// Takes the first equality on each key attribute. A second one on the same value is dropped; on another value it is a
// condition that cannot hold.
KeyedWhere split_where(const std::optional<Expression>& where, const KeyAttributes& key, const Parameters& parameters);

// Are they values that the table's key can have? In a transaction the store would report only the first statement with
// a wrong key.
store::Answer<void> check_key_types(const item::Map& key, const KeyAttributes& attributes);

bool is_complete(const item::Key& key, const KeyAttributes& attributes);

}  // namespace postino::partiql
