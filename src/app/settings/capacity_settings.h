// What can be configured about the capacity planner.
#pragma once

#include <string>

#include "base/result.h"
#include "capacity/price_book.h"

namespace postino::app {

struct CapacitySettings {
  bool no_watch = false;  // of the store's own traffic
  std::string prices;     // a price file; empty: the prices that come with the program
};

// Those of the file that the settings name, or those that come with the program.
base::Result<capacity::PriceBook> read_prices(const CapacitySettings& settings);

// Can the price file be read?
base::Result<void> check(const CapacitySettings& settings);

}  // namespace postino::app
