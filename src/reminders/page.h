// Pages of lists: what a caller may ask for.
#pragma once

#include <string>

#include "store/list_cursor.h"

namespace postino::reminders {

inline constexpr int usual_page = 50;
inline constexpr int largest_page = 200;

struct PageRequest {
  std::string cursor;
  int limit = usual_page;
};

using store::Page;

}  // namespace postino::reminders
