// Hashes with a fixed meaning: what they return is stored on disk and compared across versions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postino::base {

// XXH3, 64 bits, seed 0: fast, well distributed, not for secrets.
std::uint64_t fast_hash(std::string_view bytes);

// SHA-256, 32 raw bytes.
std::string sha256(std::string_view bytes);

// HMAC-SHA-256, 32 raw bytes: for signatures.
std::string hmac_sha256(std::string_view key, std::string_view text);

std::string to_hex(std::string_view bytes);

}  // namespace postino::base
