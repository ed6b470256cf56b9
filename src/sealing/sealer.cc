#include "sealing/sealer.h"

#include <openssl/evp.h>

#include <memory>

#include "base/check.h"
#include "base/hash.h"

namespace postino::sealing {

namespace {

// The form: this letter, the name of the key, the nonce, what was sealed, the tag.
constexpr char form = 1;
constexpr std::size_t name_bytes = 8;
constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;
constexpr std::size_t overhead = 1 + name_bytes + nonce_bytes + tag_bytes;

std::string short_digest(std::string_view key) {
  return base::hmac_sha256(key, "postino name of a sealing key").substr(0, name_bytes);
}

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

Cipher begin(const std::string& key, std::string_view nonce, bool seals) {
  static const EVP_CIPHER* const algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  CHECK(cipher != nullptr && algorithm != nullptr);
  CHECK(EVP_CipherInit_ex2(cipher.get(), algorithm, bytes_of(std::string_view(key)), bytes_of(nonce), seals ? 1 : 0,
                           nullptr) == 1);
  return cipher;
}

// `about` goes through without leaving anything behind but its part in the tag.
std::string run(EVP_CIPHER_CTX* cipher, std::string_view text, std::string_view about) {
  int size = 0;
  CHECK(EVP_CipherUpdate(cipher, nullptr, &size, bytes_of(about), static_cast<int>(about.size())) == 1);
  std::string out(text.size(), '\0');
  CHECK(EVP_CipherUpdate(cipher, bytes_of(out), &size, bytes_of(text), static_cast<int>(text.size())) == 1);
  return out;
}

}  // namespace

std::string name_of_key(std::string_view key) { return base::to_hex(short_digest(key)); }

std::string random_bytes(base::Random& random, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) {
    std::uint64_t number = random.next();
    for (int i = 0; i < 8 && bytes.size() < count; ++i, number >>= 8) bytes += static_cast<char>(number & 0xFF);
  }
  return bytes;
}

Sealer::Sealer(const std::vector<std::string>& keys, base::Random& random) : random_(random) {
  CHECK(!keys.empty());
  for (const std::string& key : keys) {
    CHECK(key.size() == key_bytes);
    keys_.emplace(short_digest(key), key);
  }
  first_ = short_digest(keys.front());
  name_ = base::to_hex(first_);
}

std::string Sealer::seal(std::string_view text, std::string_view about) const {
  const std::string nonce = random_bytes(random_, nonce_bytes);
  const Cipher cipher = begin(keys_.find(first_)->second, nonce, true);
  std::string sealed;
  sealed.append(1, form).append(first_).append(nonce).append(run(cipher.get(), text, about));
  int size = 0;
  std::string rest(tag_bytes, '\0');
  CHECK(EVP_CipherFinal_ex(cipher.get(), bytes_of(rest), &size) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, rest.data()) == 1);
  return sealed.append(rest);
}

base::Result<std::string> Sealer::open(std::string_view sealed, std::string_view about) const {
  if (sealed.size() < overhead || sealed[0] != form)
    return base::fail(base::ErrorCode::corrupt, "it does not have the form of what is sealed");
  const std::string_view name = sealed.substr(1, name_bytes);
  const auto key = keys_.find(name);
  if (key == keys_.end())
    return base::fail(base::ErrorCode::not_found,
                      "it was sealed with the sealing key " + base::to_hex(name) + ", and there is only " + name_);
  const Cipher cipher = begin(key->second, sealed.substr(1 + name_bytes, nonce_bytes), false);
  std::string text = run(cipher.get(), sealed.substr(1 + name_bytes + nonce_bytes, sealed.size() - overhead), about);
  std::string tag(sealed.substr(sealed.size() - tag_bytes));
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1);
  int size = 0;
  std::string rest(tag_bytes, '\0');
  if (EVP_CipherFinal_ex(cipher.get(), bytes_of(rest), &size) != 1)
    return base::fail(base::ErrorCode::corrupt, "it was changed, or belongs to something else");
  return text;
}

}  // namespace postino::sealing
