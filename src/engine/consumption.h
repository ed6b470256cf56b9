// Adds up the capacity that one request consumes, by table and index.
#pragma once

#include <vector>

#include "engine/change.h"
#include "engine/table.h"
#include "store/capacity.h"

namespace postino::engine {

class Consumption {
 public:
  explicit Consumption(store::ReturnConsumedCapacity mode) : mode_(mode) {}

  bool wanted() const { return mode_ != store::ReturnConsumedCapacity::none; }

  void add_table(const std::string& table_name, double units);
  void add_index(const std::string& table_name, const Index& index, double units);
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
  store::ConsumedCapacity& of(const std::string& table_name);

  store::ReturnConsumedCapacity mode_;
  std::vector<store::ConsumedCapacity> tables_;
};

}  // namespace postino::engine
