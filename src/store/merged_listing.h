// Pages of what several ranges of a table or an index hold, as one ordered list: shards of a partition, the states of a
// customer's tickets. A page costs a bounded number of reads, however much there is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "item/value.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::store {

// The entries of a partition whose sort keys begin with the prefix. The list is ordered by what follows it.
struct ListedRange {
  std::string partition;
  std::string prefix = {};
};

struct MergedListing {
  // Of the list and of everything that chooses from it: tenant, parameters, filters. A cursor of another one is
  // refused.
  std::string name;
  std::string table;
  std::string index = {};  // empty: the table itself, which is read consistently
  std::string partition_key = "PK";
  std::string sort_key = "SK";
  std::vector<std::string> table_keys = {"PK", "SK"};
  std::vector<ListedRange> ranges = {};
  bool newest_first = false;  // from the last sort key to the first
  // Bounds of what follows the prefix, both included; empty: none.
  std::string from = {};
  std::string to = {};
  // Entries of the same group stand together: it is a beginning of what follows the prefix. Within a group they are in
  // the order of `order`, which must differ for all entries. Without it they are in the order of their keys.
  std::function<std::string(std::string_view sort)> group = {};
  std::function<std::string(const item::Item&)> order = {};
  std::size_t most_sorted = 1'000;  // entries of a group; a larger one is in the order of its keys
  // Asked of a larger group: is the order of its keys another one? Then it is sorted all the same, up to so many
  // entries and bytes. Empty: it is not.
  std::function<Answer<bool>(const std::string& group)> is_disordered = {};
  std::size_t most_disordered = 10'000;
  std::size_t most_disordered_bytes = 8 << 20;
  // Leaves out entries for which it is false. Empty: all of them are shown.
  std::function<bool(const item::Item&)> shows = {};
  std::size_t most_read = 5'000;  // items for one page, give or take a piece
};

struct MergedPage {
  std::vector<item::Item> entries;
  std::string cursor;  // empty at the end
};

// Nothing when the cursor is of another list. A page may have fewer entries than `limit`, even none, and yet a cursor.
// What is written meanwhile neither repeats nor hides others.
Answer<std::optional<MergedPage>> read_merged(Store& store, const Retry& retry, const MergedListing& listing,
                                              const std::string& cursor, int limit);

// Behind every text that begins with this one.
std::string end_of_prefix(std::string_view prefix);

}  // namespace postino::store
