#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include "base/check.h"

namespace postino::base {

std::uint64_t fast_hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string sha256(std::string_view bytes) {
  // To look the algorithm up costs more than to hash a short text.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  CHECK(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, algorithm,
                   nullptr) == 1);
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
