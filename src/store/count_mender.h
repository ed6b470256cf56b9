// Counts that are kept in items with ADD, beside the items that they count.
//
// Any program may write to a table. Where one has put something else in the place of a count, the store refuses every
// transaction that adds to it. Counts only tell what can be found out from the items themselves, so that such a count
// must not stop any transaction: it is taken away, starts over at nothing, and is told of in the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace postino::store {

// For one caller and its transaction, as often as it has to be repeated.
class CountMender {
 public:
  // Of the counts with these names in a table.
  CountMender(Store& store, std::string table, std::vector<std::string_view> names)
      : store_(store), table_(std::move(table)), names_(std::move(names)) {}

  // After the transaction was cancelled with this error. True if it may succeed now; false if the counts were not its
  // trouble, or are damaged again and again.
  bool mend(const TransactWriteItemsRequest& request, const Error& error);

 private:
  bool mend(const item::Key& key);

  Store& store_;
  const std::string table_;
  const std::vector<std::string_view> names_;
  int rounds_ = 0;
};

// The count in an attribute; nothing when it is no whole number, or too large for one.
std::optional<std::int64_t> whole_count(const item::AttributeValue& value);

// Adds the count in an attribute to a sum. What is no number counts as nothing, of a fraction the whole part counts,
// and a sum ends at the largest number there is.
void add_count(std::int64_t& sum, const item::Item& item, std::string_view name);

}  // namespace postino::store
