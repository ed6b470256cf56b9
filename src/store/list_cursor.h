// Cursors of lists: opaque to callers, checked when they come back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::store {

// `list` names the list, and whatever chooses from it: a cursor is good for that list alone.
std::string make_cursor(std::string_view list, std::string_view position);
// invalid when it is not one of ours, or that of another list.
base::Result<std::string> read_cursor(std::string_view list, std::string_view cursor);

// For a list of which each tenant sees its own part: around the cursor of the list. One of another tenant is refused
// like that of another list. Without a tenant, and where there is no cursor, nothing is changed.
std::string tenant_cursor(const std::string& tenant, const std::string& cursor);
base::Result<std::string> read_tenant_cursor(const std::string& tenant, const std::string& cursor);

}  // namespace postino::store
