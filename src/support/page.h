// Pages of lists. Cursors are opaque to callers, and are refused when they are of another list.
#pragma once

#include <string>
#include <vector>

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

template <class T>
struct Page {
  std::vector<T> entries;
  std::string cursor;  // empty at the end
  int unreadable = 0;  // records that cannot be read, and are left out; the log names them
};

}  // namespace postino::support
