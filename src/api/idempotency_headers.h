// The headers by which a caller says that equal requests are one, and what is answered to those that are.
#pragma once

#include <optional>
#include <string>

#include "api/call.h"
#include "base/clock.h"

namespace postino::api {

struct IdempotencyHeaders {
  std::string key;                         // empty: none
  std::optional<base::Milliseconds> life;  // absent: the configured one
};

// Idempotency-Key, plain or as a quoted string of RFC 8941, and Idempotency-Expiry-Seconds. nullopt when there is none.
base::Result<std::optional<IdempotencyHeaders>, Problem> read_idempotency_headers(const net::Request& request);
// The same for requests that may have the key elsewhere, so that each header may come without the other.
base::Result<IdempotencyHeaders, Problem> read_loose_idempotency_headers(const net::Request& request);

// The key with whose it is: the tenant's or, of callers without one, the API key's.
std::string owned_key(const Caller& caller, const std::string& key);

tl::unexpected<Problem> refuse_key_in_progress();
tl::unexpected<Problem> refuse_key_reused();
// Says that it was answered before.
Reply replayed(Reply reply);

}  // namespace postino::api
