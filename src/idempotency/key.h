// The keys by which callers say that equal requests are one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"

namespace postino::idempotency {

inline constexpr std::size_t longest_key = 255;

inline bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= longest_key && std::ranges::all_of(text, base::is_printable_ascii);
}

// What callers are told when it is none.
inline std::string key_rule() {
  return "must have 1 to " + std::to_string(longest_key) + " printable ASCII characters";
}

}  // namespace postino::idempotency
