// Pages of lists. Cursors are opaque to callers, and are refused when they are of another list.
#pragma once

#include <string>
#include <vector>

namespace postino::reminders {

inline constexpr int usual_page = 50;
inline constexpr int largest_page = 200;

struct PageRequest {
  std::string cursor;
  int limit = usual_page;
};

template <class T>
struct Page {
  std::vector<T> entries;
  std::string cursor;  // empty at the end
  int unreadable = 0;  // records that cannot be read, and are left out; the log names them
};

}  // namespace postino::reminders
