// Contents of e-mails, packed: a Zstandard frame with a checksum. One may be packed by what it has in common with
// another one: a message is much the same as the payload that it was built from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::outbox {

// nullopt when that would save too little. `similar` is needed to unpack it again. Safe to call from any thread.
std::optional<std::string> pack(std::string_view bytes, std::string_view similar = {});

// `size` is that of what was packed, and `similar` as it was then. corrupt when either is another one, or the frame is
// damaged. Safe to call from any thread.
base::Result<std::string> unpack(std::string_view packed, std::size_t size, std::string_view similar = {});

}  // namespace postino::outbox
