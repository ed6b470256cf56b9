// Pages of lists, as services show their records, and their cursors: opaque to callers, checked when they come back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::store {

template <class T>
struct Page {
  std::vector<T> entries;
  std::string cursor;  // empty at the end; opaque to callers, and refused where it is of another list
  int unreadable = 0;  // records that cannot be read, and are left out; the log names them
};

// `list` names the list, and whatever chooses from it: a cursor is good for that list alone.
std::string make_cursor(std::string_view list, std::string_view position);
// invalid when it is not one of ours, or that of another list.
base::Result<std::string> read_cursor(std::string_view list, std::string_view cursor);

// For a list of which each tenant sees its own part: around the cursor of the list. One of another tenant is refused
// like that of another list. Without a tenant, and where there is no cursor, nothing is changed.
std::string tenant_cursor(const std::string& tenant, const std::string& cursor);
base::Result<std::string> read_tenant_cursor(const std::string& tenant, const std::string& cursor);

}  // namespace postino::store
