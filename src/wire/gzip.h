// Compressed requests.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::wire {

// Fails with ErrorCode::exhausted when it would be larger than the limit, and with ErrorCode::malformed when it is not
// gzip or not all of it.
base::Result<std::string> gunzip(std::string_view compressed, std::size_t limit);

}  // namespace postino::wire
