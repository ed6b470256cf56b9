// A page of a list, as services show their records.
#pragma once

#include <string>
#include <vector>

namespace postino::store {

template <class T>
struct Page {
  std::vector<T> entries;
  std::string cursor;  // empty at the end; opaque to callers, and refused where it is of another list
  int unreadable = 0;  // records that cannot be read, and are left out; the log names them
};

}  // namespace postino::store
