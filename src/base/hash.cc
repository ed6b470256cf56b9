#include "base/hash.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include "base/check.h"

namespace postino::base {

namespace {

// Setting one up costs more than to use it.
class Hmac {
 public:
  Hmac() {
    static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    static char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                     OSSL_PARAM_construct_end()};
    context_ = EVP_MAC_CTX_new(algorithm);
    CHECK(context_ != nullptr && EVP_MAC_CTX_set_params(context_, parameters) == 1);
  }
  ~Hmac() { EVP_MAC_CTX_free(context_); }
  Hmac(const Hmac&) = delete;
  Hmac& operator=(const Hmac&) = delete;

  std::string compute(std::string_view key, std::string_view text) {
    std::string result(32, '\0');
    std::size_t size = 0;
    CHECK(EVP_MAC_init(context_, bytes(key), key.size(), nullptr) == 1);
    CHECK(EVP_MAC_update(context_, bytes(text), text.size()) == 1);
    CHECK(EVP_MAC_final(context_, reinterpret_cast<unsigned char*>(result.data()), &size, result.size()) == 1);
    CHECK(size == result.size());
    return result;
  }

 private:
  static const unsigned char* bytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  }
  EVP_MAC_CTX* context_;
};

}  // namespace

std::uint64_t fast_hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string sha256(std::string_view bytes) {
  // To look the algorithm up costs more than to hash a short text.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  CHECK(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, algorithm,
                   nullptr) == 1);
  return digest;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  thread_local Hmac instance;
  return instance.compute(key, text);
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
