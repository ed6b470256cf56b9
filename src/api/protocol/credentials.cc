#include "api/protocol/credentials.h"

#include <algorithm>
#include <optional>

#include "access/password.h"
#include "base/hash.h"

namespace postino::api {

namespace {

bool is_name(std::string_view text) {
  const auto allowed = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           each == '_' || each == '.' || each == '-';
  };
  return !text.empty() && text.size() <= CredentialLimits::name && std::ranges::all_of(text, allowed);
}

// It travels in a header.
bool is_secret(std::string_view text) {
  return text.size() >= CredentialLimits::least_secret && text.size() <= CredentialLimits::secret &&
         std::ranges::all_of(text, [](char each) { return each > ' ' && each < 0x7F; });
}

// Takes what stands before the separator from the front; nullopt when there is none.
std::optional<std::string_view> take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end + 1);
  return taken;
}

// A digest of what is a digest or a hash already: a reader of the table of sessions learns neither.
std::string mark_of(std::string_view kind, const std::string& secret) {
  return base::to_hex(base::sha256(std::string(kind) + ":" + secret)).substr(0, 32);
}

// "ROLE", "ROLE@TENANT", "ROLE/CUSTOMER" or "ROLE@TENANT/CUSTOMER".
base::Result<void> parse_role_and_scope(std::string_view text, const std::string& whose, Caller& caller) {
  const std::string names = " must have 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'";
  if (const auto before = take_until(text, '/')) {
    if (!is_name(text)) return base::invalid("the customer of " + whose + names);
    caller.customer = text;
    text = *before;
  }
  if (const auto role_alone = take_until(text, '@')) {
    if (!is_name(text)) return base::invalid("the tenant of " + whose + names);
    caller.tenant = text;
    text = *role_alone;
  }
  const auto role = parse_role(text);
  if (!role)
    return base::invalid("the role of " + whose +
                         " must be customer, reader, sender, drafter, approver, auditor, agent or operator");
  caller.role = *role;
  if (caller.role == Role::customers && caller.customer.empty())
    return base::invalid("the role customer of " + whose + " must name the customer, as in customer/C-1001");
  return {};
}

// Takes "NAME:ROLE@TENANT/CUSTOMER:" from the front. `kind` is what errors call it: "API key".
base::Result<Caller> take_caller(std::string_view& text, const std::string& kind, const std::string& form) {
  const auto name = take_until(text, ':');
  const auto role = name ? take_until(text, ':') : std::nullopt;
  if (!role) return base::invalid(form);
  Caller caller;
  if (!is_name(*name)) return base::invalid("the name must have 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'");
  caller.name = *name;
  TRY_VOID(parse_role_and_scope(*role, kind + " " + caller.name, caller));
  return caller;
}

}  // namespace

std::optional<Role> parse_role(std::string_view text) {
  for (const Role role : all_roles)
    if (text == name_of(role)) return role;
  return std::nullopt;
}

std::vector<ApiKey> api_keys_of(const access::KnownKeys& known) {
  std::vector<ApiKey> keys;
  for (const access::KnownKeys::Known& each : known.keys) {
    const access::KeyRights& rights = each.key.rights;
    const auto role = parse_role(rights.role);
    if (rights.kind != access::KeyKind::api || each.key.is_disabled || !role) continue;
    ApiKey key;
    key.caller = {rights.name, *role, rights.tenant, rights.customer, false};
    if (each.meter) key.caller.quotas.push_back(each.meter);
    key.digest = each.key.proof;
    key.id = each.key.id;
    key.expires_at = each.key.expires_at;
    key.use = each.use;
    keys.push_back(std::move(key));
  }
  return keys;
}

base::Result<ApiKey> parse_api_key(std::string_view text) {
  ApiKey key;
  TRY(key.caller,
      take_caller(text, "API key", "an API key must be NAME:ROLE:SECRET or NAME:ROLE@TENANT/CUSTOMER:SECRET"));
  if (!is_secret(text))
    return base::invalid("the secret of API key " + key.caller.name +
                         " must have 16 to 512 printable ASCII characters, without spaces");
  key.digest = base::sha256(text);
  return key;
}

base::Result<User> parse_user(std::string_view text) {
  User user;
  TRY(user.caller, take_caller(text, "user", "a user must be NAME:ROLE:HASH or NAME:ROLE@TENANT/CUSTOMER:HASH"));
  user.caller.is_user = true;
  if (const auto checked = access::check_password_hash(text); !checked)
    return base::invalid("the password of user " + user.caller.name + " " + checked.error().message +
                         "; 'postino password' makes one");
  user.password_hash = text;
  return user;
}

std::string credential_text(const Caller& caller) {
  std::string text = caller.name + ":" + std::string(name_of(caller.role));
  if (!caller.tenant.empty()) text += "@" + caller.tenant;
  if (!caller.customer.empty()) text += "/" + caller.customer;
  return text;
}

std::string credential_mark(const ApiKey& key) { return mark_of("key", key.digest); }
std::string credential_mark(const User& user) { return mark_of("user", user.password_hash); }

}  // namespace postino::api
