// Who is known: API keys, and users with passwords. Users are settings, and keys are settings or in the store.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/key_ring.h"
#include "access/quota_meter.h"
#include "api/protocol/role.h"
#include "base/result.h"

namespace postino::api {

// Bytes.
struct CredentialLimits {
  static constexpr std::size_t name = 64;
  static constexpr std::size_t least_secret = 16;  // of an API key
  static constexpr std::size_t secret = 512;
};

struct Caller {
  std::string name;  // of the key or the user; empty where there are neither
  Role role = Role::anyone;
  std::string tenant;               // whose e-mails the caller sees; empty: everybody's
  std::string customer;             // whose tickets alone the caller sees; empty: those of all customers
  bool is_user = false;             // not an API key
  access::QuotaMeters quotas = {};  // of the key and of the tenant
};

struct ApiKey {
  Caller caller;
  std::string digest;   // SHA-256 of the secret, which is not kept; of a key in the store access::hash_of_secret()
  std::string id = {};  // of a key in the store
  std::optional<base::TimePoint> expires_at = {};
  std::shared_ptr<access::KeyUse> use = nullptr;
};

struct User {
  Caller caller;
  std::string password_hash;  // argon2id
};

// "NAME:ROLE:SECRET", where "@TENANT" and "/CUSTOMER" may follow the role. Fails with the rule that is broken, and
// never with the secret.
base::Result<ApiKey> parse_api_key(std::string_view text);
// The same with an argon2id hash in the place of the secret.
base::Result<User> parse_user(std::string_view text);

// nullopt when there is no role of this name.
std::optional<Role> parse_role(std::string_view text);

// The API keys of the store that are not disabled, in the order of their ids, with the quotas of their holders.
std::vector<ApiKey> api_keys_of(const access::KnownKeys& known);

// "NAME:ROLE@TENANT/CUSTOMER": what settings say before the secret.
std::string credential_text(const Caller& caller);

// What a session has of the key or the password that it was begun with: it ends when the settings have another one.
std::string credential_mark(const ApiKey& key);
std::string credential_mark(const User& user);

}  // namespace postino::api
