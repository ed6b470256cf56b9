// Adds up the capacity that one request consumes, by table and index, and takes it from what they have when throughput
// is enforced.
#pragma once

#include <vector>

#include "engine/items/throughput_enforcement.h"
#include "store/capacity.h"
#include "store/read_allowance.h"

namespace postino::engine {

class Consumption {
 public:
  // What is taken is given back if the allowance of a read turns out to be exhausted.
  Consumption(const Core& core, store::ReturnConsumedCapacity mode, Access access,
              store::ReadAllowance* allowance = nullptr)
      : mode_(mode), access_(access), enforced_(core.options.enforce_throughput), allowance_(allowance) {}

  void add_table(const Table& table, double units) {
    if (active()) add(table, nullptr, units);
  }
  void add_index(const Table& table, const Index& index, double units) {
    if (active()) add(table, &index, units);
  }
  // A write that turned `before` into `after`, with what it did to the indexes; transactions count double.
  void add_write(const Table& table, const StoredItemPointer& before, const StoredItemPointer& after,
                 const std::vector<IndexEffect>& effects, double factor = 1);

  void mark_transactional_write();
  void mark_transactional_read();

  // One per table, in the order they were first used; without the parts when only totals were asked for.
  std::vector<store::ConsumedCapacity> all() &&;
  // For requests on one table.
  std::optional<store::ConsumedCapacity> one() &&;

 private:
  bool active() const { return mode_ != store::ReturnConsumedCapacity::none || enforced_; }
  void add(const Table& table, const Index* index, double units);
  store::ConsumedCapacity& of(const std::string& table_name);

  store::ReturnConsumedCapacity mode_;
  Access access_;
  bool enforced_;
  store::ReadAllowance* allowance_;
  std::vector<store::ConsumedCapacity> tables_;
};

}  // namespace postino::engine
