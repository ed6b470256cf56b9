// Temporary access keys of DynamoDB's API, as AWS's token service gives them out: made from a key of the store, with a
// shorter life and perhaps fewer rights. Pure code.
//
// Nothing of them is stored: the session token that belongs to one has all of it, sealed, so that every server of the
// store can open it. A temporary key counts as long as the key that it was made from does.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "sealing/sealer.h"

namespace postino::access {

struct TemporaryKey {
  std::string id;
  std::string secret;
  std::string made_from;  // the id of a key in the store
  base::TimePoint expires_at{};
  std::string policy;  // what it may do of what that key may, in IAM's JSON; empty: all of it

  friend bool operator==(const TemporaryKey&, const TemporaryKey&) = default;
};

struct TemporaryKeyLimits {
  static constexpr base::Milliseconds shortest_life = std::chrono::minutes(15);
  static constexpr base::Milliseconds longest_life = std::chrono::hours(36);
  static constexpr base::Milliseconds usual_life = std::chrono::hours(1);
  static constexpr std::size_t policy = 2'048;  // bytes; the token travels in a header
  static constexpr std::size_t token = 8'192;
};

TemporaryKey make_temporary_key(std::string made_from, base::TimePoint expires_at, std::string policy,
                                base::Random& random);

std::string session_token(const TemporaryKey& key, const sealing::Sealer& sealer);
// corrupt when it is none, or not one of this store.
base::Result<TemporaryKey> open_session_token(std::string_view token, const sealing::Sealer& sealer);

}  // namespace postino::access
