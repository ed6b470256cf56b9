// The headers by which a caller says that equal requests are one.
#pragma once

#include <optional>
#include <string>

#include "api/problem.h"
#include "base/clock.h"
#include "net/http.h"

namespace postino::api {

struct IdempotencyHeaders {
  std::string key;
  std::optional<base::Milliseconds> life;  // absent: the configured one
};

// Idempotency-Key, plain or as a quoted string of RFC 8941, and Idempotency-Expiry-Seconds. nullopt when there is none.
base::Result<std::optional<IdempotencyHeaders>, Problem> read_idempotency_headers(const net::Request& request);

}  // namespace postino::api
