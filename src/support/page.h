// Pages of lists: what a caller may ask for.
#pragma once

#include <string>

#include "store/list_cursor.h"

namespace postino::support {

inline constexpr int largest_page = 500;
// Those of the former system.
inline constexpr int customer_page = 20;
inline constexpr int status_page = 100;
inline constexpr int operator_page = 50;
inline constexpr int event_page = 10;
inline constexpr int other_page = 50;

struct PageRequest {
  std::string cursor = {};
  int limit = 0;  // 0: the usual one of the list
};

using store::Page;

}  // namespace postino::support
