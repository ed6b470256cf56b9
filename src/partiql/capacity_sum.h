// Adds up the capacity that the parts of a statement or a batch consumed.
#pragma once

#include <optional>
#include <vector>

#include "store/capacity.h"

namespace postino::partiql {

class CapacitySum {
 public:
  void add(const std::optional<store::ConsumedCapacity>& consumed);

  std::vector<store::ConsumedCapacity> all() && { return std::move(tables_); }  // by table, in order of appearance
  std::optional<store::ConsumedCapacity> one() &&;                              // for what concerns a single table

 private:
  std::vector<store::ConsumedCapacity> tables_;
};

}  // namespace postino::partiql
