#include "sealing/sealer.h"

#include <optional>

#include "base/check.h"
#include "base/hash.h"

namespace postino::sealing {

namespace {

// The form: this letter, the name of the key, and what was sealed.
constexpr char form = 1;
constexpr std::size_t name_bytes = 8;

std::string short_digest(std::string_view key) {
  return base::hmac_sha256(key, "postino name of a sealing key").substr(0, name_bytes);
}

}  // namespace

std::string name_of_key(std::string_view key) { return base::to_hex(short_digest(key)); }

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
  return std::string(1, form) + first_ + sealing::seal(keys_.find(first_)->second, text, about, random_);
}

base::Result<std::string> Sealer::open(std::string_view sealed, std::string_view about) const {
  if (sealed.size() < 1 + name_bytes + seal_overhead || sealed[0] != form)
    return base::fail(base::ErrorCode::corrupt, "it does not have the form of what is sealed");
  const std::string_view name = sealed.substr(1, name_bytes);
  const auto key = keys_.find(name);
  if (key == keys_.end())
    return base::fail(base::ErrorCode::not_found,
                      "it was sealed with the sealing key " + base::to_hex(name) + ", and there is only " + name_);
  std::optional<std::string> text = unseal(key->second, sealed.substr(1 + name_bytes), about);
  if (!text) return base::fail(base::ErrorCode::corrupt, "it was changed, or belongs to something else");
  return *std::move(text);
}

}  // namespace postino::sealing
