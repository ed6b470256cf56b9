#include "access/stored_key.h"

#include <algorithm>

#include "base/base64.h"
#include "base/hash.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "item/fields.h"

namespace postino::access {

namespace {

constexpr std::string_view api_id_begin = "pk_";
constexpr std::string_view access_id_begin = "PSTN";
constexpr std::size_t id_random_digits = 16;
constexpr std::size_t api_id_size = api_id_begin.size() + id_random_digits;
constexpr std::size_t secret_bytes = 32;
constexpr std::string_view disabled_state = "disabled";
constexpr std::string_view active_state = "active";
// A key that has expired is seen for so long, and then removed by the store.
constexpr base::Milliseconds seen_after_expiry = std::chrono::days(90);

void add_sealed(std::string& text, std::string_view value) {
  text.append(std::to_string(value.size())).append(":").append(value).append(",");
}
void add_sealed(std::string& text, std::int64_t value) { add_sealed(text, std::to_string(value)); }

void set_given(item::Item& item, std::string_view name, const std::string& text) {
  if (!text.empty()) item.set(std::string(name), text);
}

base::TimePoint read_key_time(item::Fields& fields, std::string_view name) {
  const auto time = base::parse_timestamp(fields.text(name));
  if (!time) fields.fault(name, "must be a time");
  return time ? *time : base::TimePoint();
}

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

KeyRights read_rights(item::Fields& fields) {
  KeyRights rights;
  const auto kind = parse_key_kind(fields.text("kind"));
  if (!kind) fields.fault("kind", "must be api_key or access_key");
  rights.kind = kind.value_or(KeyKind::api);
  rights.name = fields.text("name");
  rights.role = fields.text("role");
  rights.tenant = fields.text("tenant");
  rights.customer = fields.text("customer");
  rights.policy = fields.text("policy");
  rights.quota.requests_per_second = fields.count("requests_per_second");
  rights.quota.emails_per_day = fields.count("emails_per_day");
  return rights;
}

}  // namespace

std::string_view name_of(KeyKind kind) { return kind == KeyKind::api ? "api_key" : "access_key"; }

std::optional<KeyKind> parse_key_kind(std::string_view text) {
  for (const KeyKind kind : {KeyKind::api, KeyKind::access})
    if (text == name_of(kind)) return kind;
  return std::nullopt;
}

base::Result<void> check_key_name(std::string_view what, std::string_view text) {
  const auto allowed = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           each == '_' || each == '.' || each == '-';
  };
  if (!text.empty() && text.size() <= KeyLimits::name && std::ranges::all_of(text, allowed)) return {};
  return base::invalid(std::string(what) + " must have 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'");
}

// That of an access key has letters and digits alone, as those of AWS do.
std::string make_key_id(KeyKind kind, base::Random& random) {
  const std::string digits = base::to_hex(sealing::random_bytes(random, id_random_digits / 2));
  if (kind == KeyKind::api) return std::string(api_id_begin) + digits;
  std::string id(access_id_begin);
  for (const char digit : digits) id += digit >= 'a' ? static_cast<char>(digit - 'a' + 'A') : digit;
  return id;
}

std::string make_key_secret(const std::string& id, KeyKind kind, base::Random& random) {
  const std::string secret = base::to_hex(sealing::random_bytes(random, secret_bytes));
  return kind == KeyKind::api ? id + "_" + secret : secret;
}

std::optional<std::string> id_in_secret(std::string_view secret) {
  if (secret.size() != api_id_size + 1 + 2 * secret_bytes || !secret.starts_with(api_id_begin) ||
      secret[api_id_size] != '_')
    return std::nullopt;
  if (!is_lower_hex(secret.substr(api_id_begin.size(), id_random_digits))) return std::nullopt;
  return std::string(secret.substr(0, api_id_size));
}

std::string hash_of_secret(std::string_view id, std::string_view secret) { return base::hmac_sha256(id, secret); }

std::string sealed_rights(const StoredKey& key) {
  std::string text = "postino key 1\n";
  const KeyRights& rights = key.rights;
  for (const std::string_view value :
       {std::string_view(key.id), name_of(rights.kind), std::string_view(rights.name), std::string_view(rights.role),
        std::string_view(rights.tenant), std::string_view(rights.customer), std::string_view(rights.policy)})
    add_sealed(text, value);
  add_sealed(text, rights.quota.requests_per_second);
  add_sealed(text, rights.quota.emails_per_day);
  add_sealed(text, base::epoch_milliseconds(key.created_at));
  add_sealed(text, key.expires_at ? std::to_string(base::epoch_milliseconds(*key.expires_at)) : "");
  add_sealed(text, key.is_disabled ? disabled_state : active_state);
  add_sealed(text, key.replaced_by);
  add_sealed(text, key.revision);
  return text;
}

item::Item item_of(const StoredKey& key, const sealing::Sealer& sealer) {
  const KeyRights& rights = key.rights;
  item::Item item{{"PK", std::string(keys_partition)},
                  {"SK", key.id},
                  {"entity_type", "key"},
                  {"kind", std::string(name_of(rights.kind))},
                  {"name", rights.name},
                  {"created_at", base::format_timestamp(key.created_at)},
                  {"state", std::string(key.is_disabled ? disabled_state : active_state)},
                  {"revision", key.revision},
                  {"sealed", base::to_base64(sealer.seal(key.proof, sealed_rights(key)))}};
  set_given(item, "role", rights.role);
  set_given(item, "tenant", rights.tenant);
  set_given(item, "customer", rights.customer);
  set_given(item, "policy", rights.policy);
  set_given(item, "created_by", key.created_by);
  set_given(item, "replaced_by", key.replaced_by);
  if (rights.quota.requests_per_second > 0) item.set("requests_per_second", rights.quota.requests_per_second);
  if (rights.quota.emails_per_day > 0) item.set("emails_per_day", rights.quota.emails_per_day);
  if (key.last_used_at) item.set("last_used_at", base::format_timestamp(*key.last_used_at));
  if (key.expires_at) {
    item.set("expires_at", base::format_timestamp(*key.expires_at));
    item.set("ttl", base::epoch_seconds(*key.expires_at + seen_after_expiry));
  }
  return item;
}

base::Result<StoredKey> read_stored_key(const item::Item& item, const sealing::Sealer* sealer) {
  item::Fields fields(item);
  StoredKey key;
  key.id = fields.text("SK");
  key.rights = read_rights(fields);
  key.created_at = read_key_time(fields, "created_at");
  key.created_by = fields.text("created_by");
  key.replaced_by = fields.text("replaced_by");
  if (fields.has("expires_at")) key.expires_at = read_key_time(fields, "expires_at");
  if (fields.has("last_used_at")) key.last_used_at = read_key_time(fields, "last_used_at");
  const std::string state = fields.text("state");
  if (state != active_state && state != disabled_state) fields.fault("state", "must be active or disabled");
  key.is_disabled = state == disabled_state;
  key.revision = fields.count("revision");
  const std::string sealed = fields.text("sealed");
  TRY_VOID(fields.check("key " + key.id));
  if (sealer == nullptr) return base::fail(base::ErrorCode::not_found, "there is no sealing key");
  const auto bytes = base::from_base64(sealed);
  if (!bytes) return base::fail(base::ErrorCode::corrupt, "what is sealed is not base64");
  TRY(key.proof, sealer->open(*bytes, sealed_rights(key)));
  return key;
}

}  // namespace postino::access
