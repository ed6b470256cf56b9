#include "backup/master_key.h"

#include <optional>

#include "base/hash.h"
#include "sealing/key_file.h"

namespace postino::backup {

namespace {

constexpr std::string_view around = " \t\r\n";

}  // namespace

MasterKey::MasterKey(std::string secret)
    : secret_(std::move(secret)), id_(base::to_hex(base::hmac_sha256(secret_, "postino master key")).substr(0, 16)) {}

base::Result<MasterKey> MasterKey::parse(std::string_view text) {
  constexpr const char* rule = "a master key must be 64 hexadecimal digits (openssl rand -hex 32 makes one)";
  const std::size_t begin = text.find_first_not_of(around);
  if (begin == std::string_view::npos) return base::invalid(rule);
  text = text.substr(begin, text.find_last_not_of(around) - begin + 1);
  std::optional<std::string> secret = sealing::key_of(text);
  if (!secret) return base::invalid(rule);
  return MasterKey(*std::move(secret));
}

}  // namespace postino::backup
