// Cursors of listings: opaque to callers, checked when they come back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::outbox {

std::string make_cursor(std::string_view position);
// invalid when it is not one of ours.
base::Result<std::string> read_cursor(std::string_view cursor);

}  // namespace postino::outbox
