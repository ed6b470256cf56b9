// What Query and Scan ask for, checked: the table or index, what is filtered and shown.
#pragma once

#include <optional>

#include "engine/catalog/core.h"
#include "expr/expression.h"
#include "store/item_operations.h"

namespace postino::engine {

struct PageView {
  TablePointer table;
  const Index* index = nullptr;  // nullptr: the table itself
  std::optional<expr::BoundCondition> filter;
  std::optional<expr::BoundProjection> projection;
  bool count_only = false;
  bool fetch_items = false;  // a local index lacks attributes that are asked for: read the items themselves
};

// The rules for Select that need no table. Query reports one of them like a constraint on the shape of the request, and
// Scan does not.
enum class SelectWording { plain, constraint };
store::Answer<void> check_select(const store::ReadPage& request, SelectWording wording);

// Finds table and index and checks what is asked of them. The view's expressions are bound already.
store::Answer<void> find_source(const Core& core, const store::ReadPage& request, PageView& view);

// The stored key that an exclusive start key names, in the table or the index.
store::Answer<std::string> start_position(const PageView& view, const item::Key& start, std::string_view invalid);

// The key that a page ends with: the table's key attributes and the index's.
item::Key position_of(const PageView& view, const item::Item& item);

}  // namespace postino::engine
