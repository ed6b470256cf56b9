// From a key condition to the range of stored keys it selects.
#pragma once

#include <vector>

#include "engine/catalog/item_keys.h"
#include "engine/catalog/table.h"
#include "expr/expression.h"
#include "store/error.h"

namespace postino::engine {

// Matches the conjuncts with the key of the table (index == nullptr) or of the index.
struct KeySelection {
  std::string partition;  // prefix of everything with these hash values
  KeyRange range;         // within the partition, what the conditions on range attributes leave
  bool has_range_condition = false;
};
store::Answer<KeySelection> select_keys(const Table& table, const Index* index,
                                        const std::vector<expr::KeyConjunct>& conjuncts);

}  // namespace postino::engine
