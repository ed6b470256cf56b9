// A key that is kept in the store: an API key of the REST API, or an access key of DynamoDB's API. Pure code.
//
// The secret of an access key is sealed, because signatures cannot be checked without it. Of the secret of an API key,
// a keyed hash is sealed. It is a fast one: the secrets are 256 random bits, which cannot be guessed however fast one
// can try, and a slow hash would cost each request what it is meant to cost those who guess passwords.
//
// What a key may do is bound to its secret by the seal (sealing/sealer.h): in an item whose role, tenant, policy, state
// or expiry was changed by another program, or whose secret is from another item, nothing opens. See docs/access.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "sealing/sealer.h"

namespace postino::access {

enum class KeyKind : std::uint8_t {
  api,    // of the REST API
  access  // of DynamoDB's API
};
std::string_view name_of(KeyKind kind);  // "api_key", "access_key"
std::optional<KeyKind> parse_key_kind(std::string_view text);

// What may be used with a key, or by a tenant. 0: as much as there is.
struct Quota {
  std::int64_t requests_per_second = 0;
  std::int64_t emails_per_day = 0;

  friend bool operator==(const Quota&, const Quota&) = default;
};

// What is given to a key when it is made.
struct KeyRights {
  KeyKind kind = KeyKind::api;
  std::string name;      // of the holder; a key that replaces another has the same
  std::string role;      // of an API key
  std::string tenant;    // empty: none
  std::string customer;  // of an API key; empty: none
  std::string policy;    // of an access key, in IAM's JSON; empty: it may do everything
  Quota quota;

  friend bool operator==(const KeyRights&, const KeyRights&) = default;
};

struct StoredKey {
  std::string id;
  KeyRights rights;
  base::TimePoint created_at{};
  std::string created_by;
  std::optional<base::TimePoint> expires_at;
  bool is_disabled = false;
  std::string replaced_by;                      // the id of the key that was made in its place
  std::optional<base::TimePoint> last_used_at;  // as it was last written down
  std::int64_t revision = 1;                    // changes with everything above but the last use
  std::string proof;                            // of an access key the secret, of an API key the hash of it

  bool has_expired(base::TimePoint now) const { return expires_at && *expires_at <= now; }
  bool counts(base::TimePoint now) const { return !is_disabled && !has_expired(now); }
};

struct KeyLimits {
  static constexpr std::size_t name = 64;
  static constexpr std::size_t keys = 2'000;        // in a store
  static constexpr std::size_t active_of_name = 2;  // so that a secret can be replaced
  static constexpr std::size_t policy = 16'384;     // bytes, with blanks
  static constexpr std::int64_t requests_per_second = 1'000'000;
  static constexpr std::int64_t emails_per_day = 1'000'000'000;
};

// The rule that a name, a tenant or a customer breaks, if it breaks one.
base::Result<void> check_key_name(std::string_view what, std::string_view text);

// Secrets and ids, which tell what they are.
std::string make_key_id(KeyKind kind, base::Random& random);
// What the holder of a key gets: for an API key all that a request has to show, for an access key what it is signed
// with.
std::string make_key_secret(const std::string& id, KeyKind kind, base::Random& random);
// The id in the secret of an API key that is in the store; nullopt when the form is another.
std::optional<std::string> id_in_secret(std::string_view secret);
// 32 bytes.
std::string hash_of_secret(std::string_view id, std::string_view secret);

inline constexpr std::string_view keys_partition = "KEYS";

item::Item item_of(const StoredKey& key, const sealing::Sealer& sealer);
// What the seal is about, as docs/access.md says it.
std::string sealed_rights(const StoredKey& key);
// As Sealer::open() fails, or corrupt when it has not the form of a key. `sealer` may be null: then nothing opens.
base::Result<StoredKey> read_stored_key(const item::Item& item, const sealing::Sealer* sealer);

}  // namespace postino::access
