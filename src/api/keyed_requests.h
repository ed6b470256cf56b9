// POSTs that can be sent again: with an Idempotency-Key a request is executed once, and a client that repeats it gets
// the answer of the first time.
#pragma once

#include <functional>

#include "api/protocol/route.h"

namespace postino::api {

// Does the API see to the key of this route? Routes that have more to do with a key do so themselves.
bool takes_key(const Route& route);

// Adds to the description of such a route what the API does.
void describe_key(Route& route);

// Answers the call, by way of `handle` if need be. With a key that was used before it answers what was answered then,
// made again from its record where a route does so (Route::again), or why it cannot. Only success is kept: a request
// that was refused has changed nothing, and its key may be used again.
Outcome handle_once_per_key(const Route& route, Call& call, const std::function<Outcome()>& handle);

}  // namespace postino::api
