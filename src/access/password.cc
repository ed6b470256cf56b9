#include "access/password.h"

#include <sodium.h>

#include <charconv>
#include <optional>

namespace postino::access {

namespace {

constexpr unsigned long long passes = 2;
// Of hashes that others have made: what a sign-in may cost at most.
constexpr std::uint64_t most_kibibytes = 256 << 10;
constexpr std::uint64_t most_passes = 16;
constexpr std::string_view form = "must be an argon2id hash, such as $argon2id$v=19$m=19456,t=2,p=1$salt$hash";

bool is_ready() {
  static const bool ready = sodium_init() >= 0;
  return ready;
}

// "m=19456": the number behind the name, or nullopt.
std::optional<std::uint64_t> cost(std::string_view parameters, std::string_view name) {
  const std::size_t place = parameters.find(name);
  if (place == std::string_view::npos) return std::nullopt;
  const std::string_view number = parameters.substr(place + name.size());
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end == number.data()) return std::nullopt;
  return value;
}

}  // namespace

base::Result<std::string> hash_password(std::string_view password) {
  if (password.size() < shortest_password || password.size() > longest_password)
    return base::invalid("a password must have " + std::to_string(shortest_password) + " to " +
                         std::to_string(longest_password) + " bytes");
  char text[crypto_pwhash_STRBYTES];
  if (!is_ready() || crypto_pwhash_str_alg(text, password.data(), password.size(), passes, password_memory,
                                           crypto_pwhash_ALG_ARGON2ID13) != 0)
    return base::fail(base::ErrorCode::exhausted, "there is not enough memory to hash a password");
  return std::string(text);
}

base::Result<void> check_password_hash(std::string_view text) {
  constexpr std::string_view begin = "$argon2id$v=19$";
  if (!text.starts_with(begin) || text.size() >= crypto_pwhash_STRBYTES) return base::invalid(std::string(form));
  const std::string_view rest = text.substr(begin.size());
  const std::size_t end = rest.find('$');
  if (end == std::string_view::npos) return base::invalid(std::string(form));
  const std::string_view parameters = rest.substr(0, end);
  const auto memory = cost(parameters, "m=");
  const auto time = cost(parameters, ",t=");
  if (!memory || !time || !cost(parameters, ",p=")) return base::invalid(std::string(form));
  if (*memory > most_kibibytes) return base::invalid("must not need more than 256 MB (m=262144)");
  if (*time > most_passes) return base::invalid("must not need more than 16 passes (t=16)");
  // Whether it can be read as a whole, salt and hash included.
  const std::string whole(text);
  if (!is_ready() || crypto_pwhash_str_needs_rehash(whole.c_str(), passes, password_memory) < 0)
    return base::invalid(std::string(form));
  return {};
}

bool is_password(std::string_view password, const std::string& hash) {
  if (password.size() > longest_password || !is_ready()) return false;
  return crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
}

void compare_with_none(std::string_view password) {
  static const std::string none = hash_password("a password that none has").value_or("");
  static_cast<void>(is_password(password, none));
}

}  // namespace postino::access
