#include "sealing/aes_gcm.h"

#include <openssl/evp.h>

#include <memory>

#include "base/check.h"

namespace postino::sealing {

namespace {

constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;
constexpr std::size_t most_at_once = std::size_t{1} << 30;  // OpenSSL counts in int

struct CipherDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, CipherDeleter>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

CipherContext begin_cipher(std::string_view key, std::string_view nonce, bool encrypts) {
  CHECK(key.size() == key_bytes && nonce.size() == nonce_bytes);
  CipherContext context(EVP_CIPHER_CTX_new());
  CHECK(context != nullptr);
  CHECK(EVP_CipherInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key), bytes_of(nonce),
                          encrypts ? 1 : 0) == 1);
  return context;
}

// `out` may be nullptr: the bytes are authenticated, and are no contents.
void update_cipher(EVP_CIPHER_CTX* context, std::string_view bytes, char* out) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, most_at_once);
    int written = 0;
    CHECK(EVP_CipherUpdate(context, reinterpret_cast<unsigned char*>(out), &written, bytes_of(part),
                           static_cast<int>(part.size())) == 1);
    if (out != nullptr) out += written;
    bytes.remove_prefix(part.size());
  }
}

}  // namespace

std::string random_bytes(base::Random& random, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) {
    std::uint64_t number = random.next();
    for (int i = 0; i < 8 && bytes.size() < count; ++i, number >>= 8) bytes += static_cast<char>(number & 0xFF);
  }
  return bytes;
}

std::string seal(std::string_view key, std::string_view contents, std::string_view bound, base::Random& random) {
  std::string sealed = random_bytes(random, nonce_bytes);
  sealed.resize(contents.size() + seal_overhead);
  const CipherContext context = begin_cipher(key, std::string_view(sealed).substr(0, nonce_bytes), true);
  update_cipher(context.get(), bound, nullptr);
  update_cipher(context.get(), contents, sealed.data() + nonce_bytes);
  int written = 0;
  unsigned char none[tag_bytes];
  CHECK(EVP_CipherFinal_ex(context.get(), none, &written) == 1 && written == 0);
  CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes,
                            sealed.data() + nonce_bytes + contents.size()) == 1);
  return sealed;
}

std::optional<std::string> unseal(std::string_view key, std::string_view sealed, std::string_view bound) {
  if (sealed.size() < seal_overhead) return std::nullopt;
  const CipherContext context = begin_cipher(key, sealed.substr(0, nonce_bytes), false);
  const std::string_view hidden = sealed.substr(nonce_bytes, sealed.size() - seal_overhead);
  std::string tag(sealed.substr(sealed.size() - tag_bytes));
  std::string contents(hidden.size(), '\0');
  update_cipher(context.get(), bound, nullptr);
  update_cipher(context.get(), hidden, contents.data());
  CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1);
  int written = 0;
  unsigned char none[tag_bytes];
  if (EVP_CipherFinal_ex(context.get(), none, &written) != 1) return std::nullopt;
  return contents;
}

}  // namespace postino::sealing
