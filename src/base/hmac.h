// Keyed hashes, for signatures.
#pragma once

#include <string>
#include <string_view>

namespace postino::base {

// HMAC-SHA-256, 32 raw bytes.
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace postino::base
