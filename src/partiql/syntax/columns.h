// The columns of a SELECT: what they are called, and taking them from an item.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "item/value.h"
#include "partiql/syntax/syntax_tree.h"

namespace postino::partiql {

// The last name of the path with the places in lists after it: m.k[0] is "k[0]".
std::string column_name(const Path& path);

// A name that two columns share.
std::optional<std::string> repeated_column(const std::vector<Column>& columns);

// The columns that the item has. An item that has none of them gives an empty row.
item::Item take_columns(const std::vector<Column>& columns, const item::Item& item);

}  // namespace postino::partiql
