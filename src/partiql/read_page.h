// Reads one page of a planned SELECT.
#pragma once

#include <optional>
#include <vector>

#include "partiql/read_plan.h"

namespace postino::partiql {

// Where a page begins: in one of the plan's ranges (a scan counts as one), after a key of it.
struct PagePosition {
  std::size_t range = 0;
  std::optional<item::Key> after;
  friend bool operator==(const PagePosition&, const PagePosition&) = default;
};

struct ReadOptions {
  bool consistent = false;
  std::optional<int> limit;  // items examined
  store::ReturnConsumedCapacity return_consumed_capacity = store::ReturnConsumedCapacity::none;
  store::ReadAllowance* allowance = nullptr;
};

struct Page {
  std::vector<item::Item> items;
  std::optional<PagePosition> next;  // absent when there is no more
  std::optional<item::Key> last_evaluated_key;
  std::optional<store::ConsumedCapacity> consumed_capacity;
};

// The position must be one of the plan's. A page ends at the limit, or at about 1 MB, across all ranges.
store::Answer<Page> read_page(store::Store& store, const ReadPlan& plan, const ReadOptions& options,
                              const PagePosition& from);

// The attributes that the plan asks the store for, as a projection; nothing when it wants all.
std::optional<store::ProjectionExpression> projection_of(const ReadPlan& plan, Substitutions& substitutions);

}  // namespace postino::partiql
