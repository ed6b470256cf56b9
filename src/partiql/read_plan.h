// How a SELECT is read: as items by key, as queries one after the other, or as a scan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "partiql/filter.h"
#include "partiql/interval.h"
#include "partiql/source.h"

namespace postino::partiql {

// A run of items that lie together in the table or index.
struct KeyRange {
  item::AttributeValue partition;
  Interval range;
};

enum class ReadSetting {
  statement,    // alone: anything goes
  batch,        // one item by its key
  transaction,  // the same, and keys of a wrong type are left to the store
};

struct ReadPlan {
  Source source;
  bool scan = false;
  std::vector<KeyRange> ranges;  // disjoint, in the order to read them; nothing to read when empty
  bool forward = true;
  std::optional<Filter> filter;  // what the ranges let through and the statement does not want
  std::optional<std::vector<Column>> columns;
  std::vector<std::string> fetched;  // attributes to ask the store for, when there are columns

  // The key of the item, when the range holds one at most and the source is a table.
  std::optional<item::Key> key_of(const KeyRange& range) const;
};

// `filter` is the statement's WHERE clause.
store::Answer<ReadPlan> plan_read(store::Store& store, const Select& select, std::optional<Filter> filter,
                                  const Parameters& parameters, ReadSetting setting, bool consistent);

}  // namespace postino::partiql
