#include "base/hash.h"

#include <openssl/sha.h>
#include <xxhash.h>

namespace postino::base {

std::uint64_t fast_hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    text.push_back(digits[static_cast<unsigned char>(byte) >> 4]);
    text.push_back(digits[static_cast<unsigned char>(byte) & 0xF]);
  }
  return text;
}

}  // namespace postino::base
