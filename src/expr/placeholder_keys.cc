#include "expr/placeholder_keys.h"

#include <algorithm>
#include <utility>

#include "expr/syntax/lexer.h"

namespace postino::expr {
namespace {

// The code point that starts here, and the bytes that it takes. Text that is not UTF-8 is read byte by byte.
std::pair<std::uint32_t, std::size_t> next_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (length == 1 || text.size() < length) return {lead, 1};
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  return {code, length};
}

// A HashMap starts with sixteen buckets and doubles them whenever it is more than three quarters full.
std::size_t bucket_count(std::size_t keys) {
  std::size_t buckets = 16;
  while (keys > buckets / 4 * 3) buckets *= 2;
  return buckets;
}

}  // namespace

std::uint32_t java_hash(std::string_view text) {
  std::uint32_t hash = 0;
  while (!text.empty()) {
    const auto [code, length] = next_code_point(text);
    text.remove_prefix(length);
    if (code < 0x10000) {
      hash = hash * 31 + code;
    } else {  // Java hashes the two halves of a surrogate pair
      hash = hash * 31 + (0xD800 + ((code - 0x10000) >> 10));
      hash = hash * 31 + (0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  return hash;
}

std::vector<std::string_view> in_hash_order(std::vector<std::string_view> keys) {
  const auto mask = static_cast<std::uint32_t>(bucket_count(keys.size()) - 1);
  std::ranges::stable_sort(keys, {}, [mask](std::string_view key) {
    const std::uint32_t hash = java_hash(key);
    return (hash ^ hash >> 16) & mask;
  });
  return keys;
}

base::Result<void> check_placeholder_key(std::string_view map, char sign, std::string_view key) {
  const bool too_long = key.size() > max_placeholder_size;
  if (!too_long && is_placeholder(key, sign)) return {};
  std::string message(map);
  message += " contains invalid key: ";
  message +=
      too_long ? "The expression attribute map contains a key that is too long; key: \"" : "Syntax error; key: \"";
  message.append(key).append("\"");
  return base::invalid(std::move(message));
}

}  // namespace postino::expr
