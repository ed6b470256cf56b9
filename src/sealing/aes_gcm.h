// AES-256-GCM: what is sealed can be neither read nor changed without the key.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"

namespace postino::sealing {

inline constexpr std::size_t key_bytes = 32;
inline constexpr std::size_t seal_overhead = 12 + 16;  // a nonce before the contents, a tag behind them

// Random bytes for keys, secrets and nonces.
std::string random_bytes(base::Random& random, std::size_t count);

// `bound` is not in what is returned; it must be the same when it is unsealed. The nonce is random: one key is for up
// to 2^32 calls.
std::string seal(std::string_view key, std::string_view contents, std::string_view bound, base::Random& random);

// nullopt when it was sealed with another key or bound to something else, or is not as it was.
std::optional<std::string> unseal(std::string_view key, std::string_view sealed, std::string_view bound);

}  // namespace postino::sealing
