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

}  // namespace postino::store
