#include "backup/master_key.h"

#include "backup/sealing.h"
#include "base/hash.h"

namespace postino::backup {

namespace {

constexpr std::string_view around = " \t\r\n";

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

MasterKey::MasterKey(std::string secret)
    : secret_(std::move(secret)), id_(base::to_hex(base::hmac_sha256(secret_, "postino master key")).substr(0, 16)) {}

base::Result<MasterKey> MasterKey::parse(std::string_view text) {
  constexpr const char* rule = "a master key must be 64 hexadecimal digits (openssl rand -hex 32 makes one)";
  const std::size_t begin = text.find_first_not_of(around);
  if (begin == std::string_view::npos) return base::invalid(rule);
  text = text.substr(begin, text.find_last_not_of(around) - begin + 1);
  if (text.size() != 2 * sealing_key_bytes) return base::invalid(rule);
  std::string secret;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit_of(text[i]);
    const int low = digit_of(text[i + 1]);
    if (high < 0 || low < 0) return base::invalid(rule);
    secret.push_back(static_cast<char>(high * 16 + low));
  }
  return MasterKey(std::move(secret));
}

}  // namespace postino::backup
