// The headers by which a caller says that equal requests are one, and what is answered to those that are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/protocol/call.h"
#include "base/clock.h"

namespace postino::api {

struct IdempotencyHeaders {
  std::string key;                         // empty: none
  std::optional<base::Milliseconds> life;  // absent: the configured one
};

// Idempotency-Key, plain or as a quoted string of RFC 8941, and Idempotency-Expiry-Seconds. nullopt when there is none.
base::Result<std::optional<IdempotencyHeaders>, Problem> read_idempotency_headers(const http::Request& request);
// The same for requests that may have the key elsewhere, so that each header may come without the other.
base::Result<IdempotencyHeaders, Problem> read_loose_idempotency_headers(const http::Request& request);

// What 409 says of a request with a key.
inline constexpr std::string_view key_conflict =
    "A request with the same idempotency key is in progress, or the record of the key cannot be read (code "
    "UNREADABLE_IDEMPOTENCY_RECORD).";

// The key with whose it is: the tenant's or, of callers without one, the API key's; and of callers that are bound to a
// customer that customer's.
std::string owned_key(const Caller& caller, const std::string& key);

// Says that it was answered before.
Reply replayed(Reply reply);

}  // namespace postino::api
