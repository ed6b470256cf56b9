// Consumed capacity, as every operation can report it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "item/value.h"

namespace postino::store {

enum class ReturnConsumedCapacity { none, total, indexes };

// Units consumed in one table. The total includes the indexes; which parts are shown is the request's choice.
struct ConsumedCapacity {
  std::string table_name;
  double total = 0;
  double table = 0;
  std::map<std::string, double> global_indexes;
  std::map<std::string, double> local_indexes;
  bool transactional_read = false;  // transactions also show the total as read or write units
  bool transactional_write = false;
};

// Reported for writes to tables with local indexes, when asked for.
struct ItemCollectionMetrics {
  item::Key collection_key;
  double lower_gigabytes = 0;
  double upper_gigabytes = 0;
};

}  // namespace postino::store
