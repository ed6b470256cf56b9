#include "access/temporary_key.h"

#include <charconv>
#include <optional>

#include "access/stored_key.h"
#include "base/base64.h"

namespace postino::access {

namespace {

constexpr std::string_view token_purpose = "postino session token 1";
constexpr std::string_view temporary_id_begin = "PSTS";

void add_part(std::string& text, std::string_view value) {
  text.append(std::to_string(value.size())).append(":").append(value);
}

// Takes a part from the front.
std::optional<std::string> take_part(std::string_view& text) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || digits == text.size() || text[digits] != ':') return std::nullopt;
  text.remove_prefix(digits + 1);
  if (size > text.size()) return std::nullopt;
  std::string part(text.substr(0, size));
  text.remove_prefix(size);
  return part;
}

std::optional<std::int64_t> milliseconds_of(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

tl::unexpected<base::Error> no_token() {
  return base::fail(base::ErrorCode::corrupt, "it is no session token of this store");
}

}  // namespace

TemporaryKey make_temporary_key(std::string made_from, base::TimePoint expires_at, std::string policy,
                                base::Random& random) {
  TemporaryKey key;
  key.id = make_key_id(KeyKind::access, random).replace(0, temporary_id_begin.size(), temporary_id_begin);
  key.secret = make_key_secret(key.id, KeyKind::access, random);
  key.made_from = std::move(made_from);
  key.expires_at = expires_at;
  key.policy = std::move(policy);
  return key;
}

std::string session_token(const TemporaryKey& key, const sealing::Sealer& sealer) {
  std::string text;
  for (const std::string_view part : {std::string_view(key.id), std::string_view(key.secret),
                                      std::string_view(key.made_from), std::string_view(key.policy)})
    add_part(text, part);
  add_part(text, std::to_string(base::epoch_milliseconds(key.expires_at)));
  return base::to_base64(sealer.seal(text, token_purpose));
}

base::Result<TemporaryKey> open_session_token(std::string_view token, const sealing::Sealer& sealer) {
  if (token.size() > TemporaryKeyLimits::token) return no_token();
  const auto sealed = base::from_base64(token);
  if (!sealed) return no_token();
  const auto text = sealer.open(*sealed, token_purpose);
  if (!text) return no_token();
  std::string_view rest = *text;
  TemporaryKey key;
  for (std::string* const part : {&key.id, &key.secret, &key.made_from, &key.policy}) {
    auto taken = take_part(rest);
    if (!taken) return no_token();
    *part = *std::move(taken);
  }
  const auto end = take_part(rest);
  const auto milliseconds = end ? milliseconds_of(*end) : std::nullopt;
  if (!milliseconds || !rest.empty()) return no_token();
  key.expires_at = base::from_epoch_milliseconds(*milliseconds);
  return key;
}

}  // namespace postino::access
